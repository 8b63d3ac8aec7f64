//! What comes of judging a request.

use std::collections::BTreeMap;

use pratique_core::Undecided;
pub(crate) use pratique_core::Unfinished;
use pratique_types::Status;

use crate::cause::DenialCause;

/// The verdict on a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Why the request is refused; `None` where it is allowed.
    pub status: Option<Box<Status>>,
    /// The policies whose decision depends on what was not given, in order. Where the request is refused, they would not
    /// change that.
    pub undecided: Vec<Undecided>,
    /// What led to that; `None` where it is allowed.
    pub cause: Option<DenialCause>,
    /// What to tell the user, in order, repetitions included.
    pub warnings: Vec<String>,
    /// What to keep in the audit log.
    pub audit_annotations: BTreeMap<String, String>,
}

impl Verdict {
    /// Whether the request is allowed.
    pub fn allowed(&self) -> bool {
        self.status.is_none() && self.undecided.is_empty()
    }
}
