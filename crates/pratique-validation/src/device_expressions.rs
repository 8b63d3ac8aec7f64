//! What compiles the expressions of claims to devices, which this crate does not.

use std::fmt::Debug;

/// Compiles the expressions with which claims and classes select devices.
pub trait DeviceExpressions: Debug + Sync {
    /// What an expression costs at most, where it is valid as one of a new object; those that derive an attribute have another
    /// result.
    ///
    /// # Errors
    /// The expression does not compile, or has a wrong result.
    fn compile(&self, expression: &str, is_derived: bool) -> Result<u64, ExpressionError>;
}

/// Why an expression is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// There is none.
    #[error("{0}")]
    Required(String),
    /// It does not compile, or has a wrong result.
    #[error("{0}")]
    Invalid(String),
}
