//! Why `pratique review` ends.

/// Why `pratique review` ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReviewError {
    /// Standard input is compared with a revision.
    #[error("<stdin>: it has no revision: --since needs files or directories")]
    NoRevisionOfStdin,
    /// There is no object to review.
    #[error("{inputs}: there is no object to review")]
    NothingToReview { inputs: String },
}
