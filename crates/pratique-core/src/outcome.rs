//! The outcome of validating admission.

use std::collections::BTreeMap;

use pratique_expression::UndecidedDecision;
use pratique_types::Status;

use crate::cause::DenialCause;

/// The outcome of the validating policies or webhooks for a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidationOutcome {
    /// Why the request is refused; `None` where it is allowed.
    pub status: Option<Box<Status>>,
    /// The cause of a refusal; `None` where the request is allowed.
    pub cause: Option<DenialCause>,
    /// The policies or webhooks that depend on missing input, in order. Where the request is refused, they would not
    /// change that.
    pub undecided: Vec<UndecidedDecision>,
    /// The warnings for the user: in order, those of webhooks in the order of arrival, repetitions included.
    pub warnings: Vec<String>,
    /// The annotations for the audit log.
    pub audit_annotations: BTreeMap<String, String>,
}

impl ValidationOutcome {
    /// Whether the request is allowed.
    pub fn allowed(&self) -> bool {
        self.status.is_none() && self.undecided.is_empty()
    }
}
