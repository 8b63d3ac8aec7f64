//! Why an expression is refused.

use pratique_cel::CompileError;

/// Why an expression is refused, with an API server's message.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ExpressionError {
    /// Faults of syntax and types, with the source.
    #[error("compilation failed: {0}")]
    Compile(CompileError),
    /// It yields what its use does not take.
    #[error("must evaluate to {wanted} but got {got}")]
    Type {
        /// What is wanted: `bool`, `one of [string null_type]`.
        wanted: String,
        /// The type that it has.
        got: String,
    },
    /// A fault found while planning; an API server calls this one internal.
    #[error("{0}")]
    Plan(CompileError),
}
