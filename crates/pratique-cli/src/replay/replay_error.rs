//! Why `pratique replay` ends.

use pratique::NotEvaluated;

/// Why `pratique replay` ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    /// A log has no entry.
    #[error("{logs}: there is no audit event in it")]
    NothingToReplay { logs: String },
    /// There are webhooks, which the command never calls.
    #[error("{0}: this command calls none: leave their configurations out")]
    NoWebhooks(NotEvaluated),
}
