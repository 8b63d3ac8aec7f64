//! Why an expression is refused.

use pratique_cel::CompileError;

/// Why an expression is refused, with an API server's message.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ExpressionError {
    /// Faults of syntax and types, with the source.
    #[error("compilation failed: {0}")]
    Compile(CompileError),
    /// The type of its result is none that its use takes.
    #[error("must evaluate to {wanted} but got {got}")]
    Type {
        /// The types that its use takes: `bool`, `one of [string null_type]`.
        wanted: String,
        /// The type of its result.
        got: String,
    },
    /// A fault found while planning; an API server calls this one internal.
    #[error("{0}")]
    Plan(CompileError),
}
