//! What led to a denial: a rule that said no, or something that failed.

use crate::observer::ErrorType;

/// What led to a denial.
///
/// The status tells the two apart by its text alone, and an API server answers both in the same way. Tests of policies
/// have to know: an expression that fails on every request denies every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DenialCause {
    /// A rule said no: a validation evaluated to false, a binding denies where its params do not exist, a webhook or
    /// a step of the caller denied, a name is reserved.
    Rule,
    /// Something failed, and failures deny: the evaluation of an expression, a mutation, the configuration of a policy
    /// or a binding, the call of a webhook, the server.
    Failure,
}

impl From<ErrorType> for DenialCause {
    fn from(error: ErrorType) -> Self {
        match error {
            ErrorType::None => DenialCause::Rule,
            ErrorType::Compile | ErrorType::Invalid | ErrorType::OutOfBudget => DenialCause::Failure,
        }
    }
}
