//! Errors besides rejections.

use pratique_gotext::quantity::{OutOfRange, ParseError};
use pratique_plugin::Rejection;

/// Why an object cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuotaError {
    /// An amount is no quantity.
    #[error(transparent)]
    Quantity(#[from] ParseError),
    /// An amount has too many digits.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// A selector of a scope cannot be read.
    #[error("failed to parse and convert selector: {0}")]
    Selector(String),
}

impl From<QuotaError> for Rejection {
    /// The reference answers with an error that is no status.
    fn from(error: QuotaError) -> Self {
        Rejection::error(error.to_string())
    }
}
