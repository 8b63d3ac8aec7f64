//! Why `pratique playground` ends.

/// Why `pratique playground` ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlaygroundError {
    /// The program was built without a playground.
    #[cfg(not(feature = "playground"))]
    #[error(
        "this program has no playground inside: build one with `cargo xtask playground`, and name its directory with --dir"
    )]
    NoPlayground,
    /// A directory is not that of a playground.
    #[error("{path}: there is no playground")]
    NotPlayground { path: String },
}
