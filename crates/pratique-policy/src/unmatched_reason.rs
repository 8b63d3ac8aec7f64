//! Why a policy or a binding is not evaluated although it may match.

use pratique_core::trace::MatchOutcome;
use pratique_core::{DenialCause, MatchFailure, MissingDependency};

/// Why a policy or a binding is not evaluated although it may match.
#[derive(Clone, Debug)]
pub(crate) enum UnmatchedReason {
    /// The configuration is in error.
    Error {
        /// An API server's message.
        message: String,
        /// The cause of a denial because of it.
        cause: DenialCause,
    },
    /// It depends on missing input.
    Undecided(Box<MissingDependency>),
    /// Its params are still to be looked up.
    Pending,
}

impl From<MatchFailure> for UnmatchedReason {
    fn from(failure: MatchFailure) -> Self {
        match failure {
            MatchFailure::Error(error) => UnmatchedReason::failed(error.to_string()),
            MatchFailure::Undecided(missing) => UnmatchedReason::Undecided(missing),
        }
    }
}

impl UnmatchedReason {
    /// A failure, with an API server's message.
    pub(crate) fn failed(message: String) -> Self {
        UnmatchedReason::Error {
            message,
            cause: DenialCause::Failure,
        }
    }

    /// The outcome that is reported to a trace.
    pub(crate) fn outcome(&self) -> MatchOutcome<'_> {
        match self {
            UnmatchedReason::Error { message, .. } => MatchOutcome::Error(message),
            UnmatchedReason::Undecided(missing) => MatchOutcome::Undecided(missing),
            UnmatchedReason::Pending => MatchOutcome::Error("params are still to be looked up"),
        }
    }
}
