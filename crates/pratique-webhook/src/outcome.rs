//! The outcome of mutating webhooks, and what ends calls early.

use std::collections::BTreeMap;

use pratique_core::{DenialCause, UndecidedDecision};
pub(crate) use pratique_core::{UnfinishedEvaluation, ValidationOutcome};
use pratique_json::Value;
use pratique_types::Status;

/// Why no more webhooks are called.
#[derive(Debug)]
pub(crate) enum DispatchEnd {
    /// The evaluation of match conditions was not finished.
    Unfinished(UnfinishedEvaluation),
    /// The request is refused.
    Refused(Box<Status>, DenialCause),
    /// Whether a webhook is called depends on missing input.
    Undecided(Box<UndecidedDecision>),
}

/// The outcome of mutating webhooks for a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MutatedRequest {
    /// The changed object; `None` where it did not change, and where the request is refused.
    pub object: Option<Value<'static>>,
    /// Why the request is refused; `None` where it may continue.
    pub status: Option<Box<Status>>,
    /// The cause of a refusal; `None` where the request may continue.
    pub cause: Option<DenialCause>,
    /// The webhook whose match depends on missing input: no webhook after it is called.
    pub undecided: Option<Box<UndecidedDecision>>,
    /// The warnings for the user, in order, repetitions included.
    pub warnings: Vec<String>,
    /// What is recorded in the audit log.
    pub audit_annotations: BTreeMap<String, String>,
    /// The annotations for the audit log where it records requests, that is from level `Request` up: patches.
    pub patch_annotations: BTreeMap<String, String>,
}

impl MutatedRequest {
    /// Whether the request may continue.
    pub fn allowed(&self) -> bool {
        self.status.is_none() && self.undecided.is_none()
    }
}

impl From<UnfinishedEvaluation> for DispatchEnd {
    fn from(unfinished: UnfinishedEvaluation) -> Self {
        DispatchEnd::Unfinished(unfinished)
    }
}

/// A failure of the server.
impl From<Status> for DispatchEnd {
    fn from(status: Status) -> Self {
        DispatchEnd::Refused(Box::new(status), DenialCause::Failure)
    }
}
