//! Why outputs cannot be told apart.

/// Why outputs cannot be told apart.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutputsError {
    /// Two are written to one file, or printed.
    #[error("--output: two outputs go to the same place: all but one need a file, as in sarif=out.sarif")]
    SamePlace,
    /// Two have one format.
    #[error("--output: a format is named twice")]
    RepeatedFormat,
}
