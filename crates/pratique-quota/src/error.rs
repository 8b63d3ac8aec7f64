//! Errors besides rejections.

use pratique_gotext::quantity::{OutOfRange, ParseError};

/// Why an object cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
