//! Why what is accepted is not known.

/// Why what is accepted is not known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AcceptanceError {
    /// A file has no baseline of the command.
    #[error("{path}: it is no baseline that can be used: {why}")]
    NoBaseline { path: String, why: String },
    /// A part of the inputs has a part of the findings.
    #[error(
        "--baseline and --write-baseline are about all inputs: they go with neither --shard nor --checkpoint"
    )]
    NotWhole,
    /// A file of exceptions is invalid.
    #[error("{path}: its exceptions cannot be read")]
    NoExceptions { path: String },
}
