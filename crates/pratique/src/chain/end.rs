//! Why a request goes no further through the chain.

use pratique_policy::{DenialCause, UndecidedDecision, UnfinishedEvaluation};
use pratique_types::Status;

/// Why a request goes no further.
pub(crate) enum ChainEnd {
    Refused(Box<Status>, DenialCause),
    /// A part is undecided, and the parts after it depend on its result.
    Undecided(Box<UndecidedDecision>),
    Unfinished(UnfinishedEvaluation),
}

impl ChainEnd {
    /// A denial by a rule.
    pub(crate) fn by_rule(status: impl Into<Box<Status>>) -> Self {
        ChainEnd::Refused(status.into(), DenialCause::Rule)
    }
}

/// An error of the server.
impl From<Box<Status>> for ChainEnd {
    fn from(status: Box<Status>) -> Self {
        ChainEnd::Refused(status, DenialCause::Failure)
    }
}

/// An error of the server.
impl From<Status> for ChainEnd {
    fn from(status: Status) -> Self {
        ChainEnd::from(Box::new(status))
    }
}
