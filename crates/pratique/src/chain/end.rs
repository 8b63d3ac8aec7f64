//! Why a request goes no further through the chain.

use pratique_policy::{DenialCause, Undecided, Unfinished};
use pratique_types::Status;

/// Why a request goes no further.
pub(crate) enum End {
    Refused(Box<Status>, DenialCause),
    /// A part is undecided, and the parts after it depend on its result.
    Undecided(Box<Undecided>),
    Unfinished(Unfinished),
}

impl End {
    /// A denial by a rule.
    pub(crate) fn by_rule(status: impl Into<Box<Status>>) -> Self {
        End::Refused(status.into(), DenialCause::Rule)
    }
}

/// An error of the server.
impl From<Box<Status>> for End {
    fn from(status: Box<Status>) -> Self {
        End::Refused(status, DenialCause::Failure)
    }
}

/// An error of the server.
impl From<Status> for End {
    fn from(status: Status) -> Self {
        End::from(Box::new(status))
    }
}
