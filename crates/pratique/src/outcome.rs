//! What comes of a request.

use std::collections::BTreeMap;
use std::sync::Arc;

use pratique_json::{Value, base64};
use pratique_merge::json_patch::{Operation, diff};
use pratique_policy::{DenialCause, HeldMemory, Mutated, Step, Undecided, Verdict};
use pratique_types::{AdmissionRequest, AdmissionResponse, Reason, Status, warnings};

/// The decision on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AdmissionDecision {
    /// It is let in.
    Allowed,
    /// It is refused.
    Denied,
    /// It depends on what was not given. That is never as good as allowed.
    Undecided,
}

/// What comes of a request: whether it is let in, and as what.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// Why the request is refused; `None` where it is allowed or undecided.
    pub status: Option<Box<Status>>,
    /// What led to that: a rule that said no, or something that failed. `None` where it is not refused.
    pub cause: Option<DenialCause>,
    /// The policies and webhooks whose decision depends on what was not given, and what that is. Where the request is
    /// refused, they would not change that.
    pub undecided: Vec<Undecided>,
    /// The object as it goes on; `None` where nothing changed it, and where the request is not allowed.
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
    /// What of the above webhooks made, within the memory that the request may have.
    pub memory: OutcomeMemory,
}

/// Memory of a request that its outcome holds: given back with the last copy. All are equal.
#[derive(Clone, Debug, Default)]
pub struct OutcomeMemory(#[allow(dead_code, reason = "it is given back")] Option<Arc<HeldMemory>>);

impl PartialEq for OutcomeMemory {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl From<HeldMemory> for OutcomeMemory {
    fn from(memory: HeldMemory) -> Self {
        OutcomeMemory(Some(Arc::new(memory)))
    }
}

impl Outcome {
    pub(crate) fn new(mutated: Mutated, verdict: Verdict) -> Self {
        let status = mutated.status.or(verdict.status);
        let undecided: Vec<_> = mutated
            .undecided
            .into_iter()
            .map(|undecided| *undecided)
            .chain(verdict.undecided)
            .collect();
        let cause = mutated.cause.or(verdict.cause);
        Outcome {
            object: mutated
                .object
                .filter(|_| status.is_none() && undecided.is_empty()),
            status,
            undecided,
            cause,
            mutations: mutated.steps,
            warnings: verdict.warnings,
            audit_annotations: verdict.audit_annotations,
            patch_annotations: BTreeMap::new(),
            memory: OutcomeMemory::default(),
        }
    }

    /// The outcome of a request that is refused with a status before anything evaluated it.
    pub fn refused(status: Status) -> Self {
        Outcome {
            status: Some(Box::new(status)),
            ..Outcome::default()
        }
    }

    /// What was decided.
    pub fn decision(&self) -> AdmissionDecision {
        match (&self.status, self.undecided.as_slice()) {
            (Some(_), _) => AdmissionDecision::Denied,
            (None, []) => AdmissionDecision::Allowed,
            (None, _) => AdmissionDecision::Undecided,
        }
    }

    /// Whether the request is allowed. What is undecided is not.
    pub fn allowed(&self) -> bool {
        self.decision() == AdmissionDecision::Allowed
    }

    /// What policies changed, as a JSON Patch of the object as it came: with what an API server makes of objects
    /// that do not have the form of their kind. Empty where nothing changed.
    pub fn patch<'o>(&'o self, request: &'o AdmissionRequest<'_>) -> Vec<Operation<'o>> {
        match &self.object {
            Some(object) => diff(&request.object, object),
            None => Vec::new(),
        }
    }

    /// The answer of an admission webhook that judges so, which knows nothing between yes and no: a request that is
    /// undecided is refused, with a status that says why. Its warnings are those that an API server passes on, each once.
    pub fn into_response(self, request: &AdmissionRequest<'_>) -> AdmissionResponse {
        let patch = self.patch(request);
        let patch = (!patch.is_empty()).then(|| base64::encode(&written(patch)));
        let (allowed, result) = (self.allowed(), self.answered_status());
        AdmissionResponse {
            patch_type: patch.as_ref().map(|_| "JSONPatch".to_owned()),
            patch,
            uid: request.uid.clone(),
            allowed,
            result,
            warnings: warnings::passed_on(self.warnings.iter().map(String::as_str))
                .into_iter()
                .map(str::to_owned)
                .collect(),
            audit_annotations: self.audit_annotations,
        }
    }

    /// The status of an answer.
    fn answered_status(&self) -> Option<Status> {
        match self.decision() {
            AdmissionDecision::Allowed => None,
            AdmissionDecision::Denied => self.status.as_deref().cloned(),
            AdmissionDecision::Undecided => {
                let each: Vec<String> = self.undecided.iter().map(Undecided::to_string).collect();
                Some(Status::failure(Reason::InternalError, each.join("; ")))
            }
        }
    }
}

/// A patch as JSON. It may be large, so that it is not made a value as a whole.
fn written(patch: Vec<Operation<'_>>) -> Vec<u8> {
    let mut text = Vec::new();
    for operation in patch {
        text.push(if text.is_empty() { b'[' } else { b',' });
        pratique_json::write(&Value::from(operation), &mut text);
    }
    text.push(b']');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_warns_once() {
        let outcome = Outcome {
            warnings: ["beware", "of the dog", "beware", "two\nlines"]
                .map(str::to_owned)
                .into(),
            ..Outcome::default()
        };
        assert_eq!(outcome.warnings.len(), 4);
        let response = outcome.into_response(&AdmissionRequest::default());
        assert_eq!(response.warnings, ["beware", "of the dog"]);
    }
}
