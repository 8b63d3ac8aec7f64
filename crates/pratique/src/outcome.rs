//! What comes of a request.

use std::collections::BTreeMap;

use pratique_json::Value;
use pratique_policy::{Mutated, Step, Verdict};
use pratique_types::{AdmissionRequest, AdmissionResponse, Status};

/// What comes of a request: whether it is let in, and as what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Why the request is refused; `None` where it is allowed.
    pub status: Option<Status>,
    /// The object as it goes on; `None` where nothing changed it, and where the request is refused.
    pub object: Option<Value<'static>>,
    /// What mutating policies did, in order.
    pub mutations: Vec<Step>,
    /// What to tell the user, in order, repetitions included.
    pub warnings: Vec<String>,
    /// What to keep in the audit log.
    pub audit_annotations: BTreeMap<String, String>,
}

impl Outcome {
    /// Mutating ended it.
    pub(crate) fn refused(mutated: Mutated) -> Self {
        Outcome::new(mutated, Verdict::default())
    }

    pub(crate) fn new(mutated: Mutated, verdict: Verdict) -> Self {
        let status = mutated.status.or(verdict.status);
        Outcome {
            object: mutated.object.filter(|_| status.is_none()),
            status,
            mutations: mutated.steps,
            warnings: verdict.warnings,
            audit_annotations: verdict.audit_annotations,
        }
    }

    /// Whether the request is allowed.
    pub fn allowed(&self) -> bool {
        self.status.is_none()
    }

    /// The answer of an admission webhook that judges so.
    pub fn into_response(self, request: &AdmissionRequest<'_>) -> AdmissionResponse {
        AdmissionResponse {
            uid: request.uid.clone(),
            allowed: self.allowed(),
            result: self.status,
            warnings: self.warnings,
            audit_annotations: self.audit_annotations,
            ..AdmissionResponse::default()
        }
    }
}
