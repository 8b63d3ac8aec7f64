//! Why a policy denies a request.

pub(crate) use pratique_core::DenialCause;

use crate::observer::ErrorType;

impl From<ErrorType> for DenialCause {
    fn from(error: ErrorType) -> Self {
        match error {
            ErrorType::None => DenialCause::Rule,
            ErrorType::Compile | ErrorType::Invalid | ErrorType::OutOfBudget => DenialCause::Failure,
        }
    }
}
