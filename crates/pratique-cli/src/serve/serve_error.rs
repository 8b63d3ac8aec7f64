//! Why `pratique serve` ends.

/// Why `pratique serve` ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    /// A file of a directory of policies cannot be read any more.
    #[error("{path}: it is neither YAML nor JSON of objects")]
    NoObjects { path: String },
    /// A plugin that counts requests would count those of everyone.
    #[error(
        "{plugin} counts requests, and without --client-ca-file everyone who reaches the port can send some, until those of \
         others are refused: name the authority of the API servers' certificates with --client-ca-file, or say that \
         everyone may, with --count-anonymous-reviews"
    )]
    AnonymousReviews { plugin: &'static str },
    /// The server does not start.
    #[error("{0}")]
    Serve(String),
}
