//! What comes of judging a request.

use std::collections::BTreeMap;

use pratique_expression::Undecided;
use pratique_types::Status;

use crate::cause::DenialCause;

/// Why judging ended before a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfinished {
    /// An authorization check has no answer yet, or params are still to be looked up: ask again when they are there.
    #[error("an authorization check is pending")]
    Pending,
    /// The caller interrupted the evaluation.
    #[error("interrupted")]
    Interrupted,
    /// Expressions hold more memory than the request may have.
    #[error("evaluating policies takes more memory than a request may have")]
    MemoryLimit,
    /// There is no memory left of what requests share.
    #[error("no memory is left for evaluating policies")]
    MemoryBudget,
}

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
