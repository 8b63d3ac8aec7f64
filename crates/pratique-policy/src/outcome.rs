//! What comes of judging a request.

use std::collections::BTreeMap;

use pratique_types::Status;

/// What comes of judging a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The policies came to a verdict.
    Done(Verdict),
    /// An authorization check has no answer yet: ask again when it has.
    Pending,
    /// The caller interrupted the evaluation.
    Interrupted,
}

/// The verdict on a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Why the request is refused; `None` where it is allowed.
    pub status: Option<Status>,
    /// What to tell the user, in order, repetitions included.
    pub warnings: Vec<String>,
    /// What to keep in the audit log.
    pub audit_annotations: BTreeMap<String, String>,
}

impl Verdict {
    /// Whether the request is allowed.
    pub fn allowed(&self) -> bool {
        self.status.is_none()
    }
}

/// Why judging ended before a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Abort {
    Pending,
    Interrupted,
}
