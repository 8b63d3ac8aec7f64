//! What rules leave open.

/// What could not be judged of an object. Without errors, it is unknown whether a server accepts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenQuestion {
    /// Whether administrators may have access to devices: a label of the namespace says so, which is not known.
    #[error("the access of an administrator, which the namespace allows,")]
    AdminAccess,
    /// Whether an expression compiles: nothing was given that compiles it.
    #[error("the expression of a device")]
    DeviceExpression,
    /// Whether a signature is right: its algorithm is not known here.
    #[error("the signature of the request")]
    Signature,
}
