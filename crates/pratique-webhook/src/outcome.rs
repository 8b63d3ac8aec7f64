//! What comes of calling webhooks.

use std::collections::BTreeMap;

use pratique_expression::Undecided;
use pratique_json::Value;
use pratique_types::Status;

/// Why calling ended before an answer: a match condition was not evaluated to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// An authorization check was left open.
    #[error("an authorization check is pending")]
    Pending,
    /// The caller interrupted.
    #[error("interrupted")]
    Interrupted,
    /// It holds more memory than it may.
    #[error("evaluating match conditions takes more memory than a request may have")]
    MemoryLimit,
    /// There is no memory left of what requests share.
    #[error("no memory is left for evaluating match conditions")]
    MemoryBudget,
}

/// Why calling ends before the last webhook.
#[derive(Debug)]
pub(crate) enum End {
    Unanswered(Unanswered),
    Status(Box<Status>),
    /// Whether a webhook is called depends on what was not given.
    Undecided(Box<Undecided>),
}

/// What mutating webhooks made of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mutated {
    /// The object as it goes on; `None` where nothing changed it, and where the request is refused.
    pub object: Option<Value<'static>>,
    /// Why the request is refused; `None` where it may go on.
    pub status: Option<Box<Status>>,
    /// The webhook of which it depends on what was not given whether it is called: none after it is.
    pub undecided: Option<Box<Undecided>>,
    /// What to tell the user, in order, repetitions included.
    pub warnings: Vec<String>,
    /// What to keep in the audit log.
    pub audit_annotations: BTreeMap<String, String>,
    /// What to keep in the audit log where it holds requests, that is from level `Request` up: patches.
    pub patch_annotations: BTreeMap<String, String>,
}

/// What validating webhooks say of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Why the request is refused; `None` where it is allowed.
    pub status: Option<Box<Status>>,
    /// The webhooks of which it depends on what was not given whether they are called, in order.
    pub undecided: Vec<Undecided>,
    /// What to tell the user, in the order of arrival, repetitions included.
    pub warnings: Vec<String>,
    /// What to keep in the audit log.
    pub audit_annotations: BTreeMap<String, String>,
}

impl Mutated {
    /// Whether the request may go on.
    pub fn allowed(&self) -> bool {
        self.status.is_none() && self.undecided.is_none()
    }
}

impl Verdict {
    /// Whether the request is allowed.
    pub fn allowed(&self) -> bool {
        self.status.is_none() && self.undecided.is_empty()
    }
}

impl From<Unanswered> for End {
    fn from(unanswered: Unanswered) -> Self {
        End::Unanswered(unanswered)
    }
}

impl From<Status> for End {
    fn from(status: Status) -> Self {
        End::Status(Box::new(status))
    }
}
