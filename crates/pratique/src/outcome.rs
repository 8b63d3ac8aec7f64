//! What comes of a request.

use std::collections::BTreeMap;

use pratique_json::{Value, base64};
use pratique_merge::json_patch::{Operation, diff};
use pratique_policy::{Mutated, Step, Verdict};
use pratique_types::{AdmissionRequest, AdmissionResponse, Status};

/// What comes of a request: whether it is let in, and as what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Why the request is refused; `None` where it is allowed.
    pub status: Option<Box<Status>>,
    /// The object as it goes on; `None` where nothing changed it, and where the request is refused.
    pub object: Option<Value<'static>>,
    /// What mutating policies did, in order.
    pub mutations: Vec<Step>,
    /// What to tell the user, in order, repetitions included.
    pub warnings: Vec<String>,
    /// What to keep in the audit log.
    pub audit_annotations: BTreeMap<String, String>,
    /// What to keep in the audit log besides, where it holds requests, that is from level `Request` up: the patches of
    /// webhooks.
    pub patch_annotations: BTreeMap<String, String>,
}

impl Outcome {
    pub(crate) fn new(mutated: Mutated, verdict: Verdict) -> Self {
        let status = mutated.status.or(verdict.status);
        Outcome {
            object: mutated.object.filter(|_| status.is_none()),
            status,
            mutations: mutated.steps,
            warnings: verdict.warnings,
            audit_annotations: verdict.audit_annotations,
            patch_annotations: BTreeMap::new(),
        }
    }

    /// Whether the request is allowed.
    pub fn allowed(&self) -> bool {
        self.status.is_none()
    }

    /// What policies changed, as a JSON Patch of the object as it came: with what an API server makes of objects
    /// that do not have the form of their kind. Empty where nothing changed.
    pub fn patch<'o>(&'o self, request: &'o AdmissionRequest<'_>) -> Vec<Operation<'o>> {
        match &self.object {
            Some(object) => diff(&request.object, object),
            None => Vec::new(),
        }
    }

    /// The answer of an admission webhook that judges so.
    pub fn into_response(self, request: &AdmissionRequest<'_>) -> AdmissionResponse {
        let patch: Vec<Value<'_>> = self.patch(request).into_iter().map(Value::from).collect();
        let patch = (!patch.is_empty()).then(|| base64::encode(Value::Array(patch).to_string().as_bytes()));
        AdmissionResponse {
            patch_type: patch.as_ref().map(|_| "JSONPatch".to_owned()),
            patch,
            uid: request.uid.clone(),
            allowed: self.allowed(),
            result: self.status.map(|status| *status),
            warnings: self.warnings,
            audit_annotations: self.audit_annotations,
        }
    }
}
