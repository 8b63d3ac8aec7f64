//! The result of admission.

use std::collections::BTreeMap;
use std::sync::Arc;

use pratique_json::{Value, base64};
use pratique_manifest::ManifestPlugin;
use pratique_merge::json_patch::{Operation, diff};
use pratique_plugin::{ChangedQuota, CreatedObject};
use pratique_policy::{
    DenialCause, HeldMemory, MissingDependency, MutatedRequest, MutationStep, UndecidedDecision,
    ValidationOutcome, same,
};
use pratique_types::{AdmissionRequest, AdmissionResponse, Reason, Status, warnings};

use crate::observer::VALIDATION;

/// The decision on a request, as a server answers it. Tools that evaluate many requests, and count or accept what they find, have
/// a `Decision` of the crate `pratique-report`, which the engine knows nothing of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AdmissionDecision {
    /// The request is admitted.
    Allowed,
    /// The request is rejected.
    Denied,
    /// The decision depends on missing input; such a request is not admitted.
    Undecided,
}

/// The result of admission for a request: the decision, and the object as admitted.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// Why the request is refused; `None` where it is allowed or undecided.
    pub status: Option<Box<Status>>,
    /// The cause of the denial: a rule, or a failure. `None` if the request is not denied.
    pub cause: Option<DenialCause>,
    /// The plugin that refuses the request, `PodSecurity`, or the name of a step; `None` if it is not refused, or refused by
    /// something else.
    pub refused_by: Option<Box<str>>,
    /// The plugins, policies and webhooks whose decision depends on missing input, and the input that is missing. They
    /// do not affect a denial.
    pub undecided: Vec<UndecidedDecision>,
    /// The object as it goes on; `None` where nothing changed it, and where the request is not allowed.
    pub object: Option<Value<'static>>,
    /// The object as validating admission sees it, where an object model [prepared](crate::ObjectModel::prepare) it; `None`
    /// where that changed nothing, and where the request is not allowed.
    pub prepared: Option<Value<'static>>,
    /// The mutations of policies, in order.
    pub mutations: Vec<MutationStep>,
    /// Warnings for the user, in order, with repetitions.
    pub warnings: Vec<String>,
    /// Annotations for the audit log.
    pub audit_annotations: BTreeMap<String, String>,
    /// Further annotations for audit logs of level `Request` and above: the patches of webhooks.
    pub patch_annotations: BTreeMap<String, String>,
    /// The objects that plugins create.
    pub created: Vec<CreatedObject>,
    /// The quotas that plugins charge, also where the request is refused afterwards. A program that evaluates requests one
    /// after another applies both to the state that plugins see.
    pub booked: Vec<ChangedQuota>,
    /// The share of the request's memory that the results of webhooks take, released with the outcome.
    #[doc(hidden)]
    pub memory: OutcomeMemory,
}

/// Memory of a request that its outcome holds, released with the last copy. All values are equal.
#[derive(Clone, Debug, Default)]
pub struct OutcomeMemory(
    #[allow(dead_code, reason = "dropping it releases the memory")] Option<Arc<HeldMemory>>,
);

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
    /// Leaves out the object where it is written as it was before.
    pub(crate) fn compare_with(&mut self, old_object: &Value<'_>) {
        self.object.take_if(|object| same(object, old_object));
    }

    pub(crate) fn new(
        mutated: MutatedRequest,
        prepared: Option<Value<'static>>,
        validated: ValidationOutcome,
    ) -> Self {
        let refused_by = match (&mutated.status, &validated.status) {
            (Some(_), _) => Some(ManifestPlugin::MutatingAdmissionPolicy),
            (None, Some(_)) => Some(ManifestPlugin::ValidatingAdmissionPolicy),
            (None, None) => None,
        };
        let status = mutated.status.or(validated.status);
        let undecided: Vec<_> = mutated
            .undecided
            .into_iter()
            .map(|undecided| *undecided)
            .chain(validated.undecided)
            .collect();
        let cause = mutated.cause.or(validated.cause);
        let allowed = status.is_none() && undecided.is_empty();
        Outcome {
            object: mutated.object.filter(|_| allowed),
            prepared: prepared.filter(|_| allowed),
            status,
            refused_by: refused_by.map(|plugin| plugin.name().into()),
            undecided,
            cause,
            mutations: mutated.steps,
            warnings: validated.warnings,
            audit_annotations: validated.audit_annotations,
            patch_annotations: BTreeMap::new(),
            created: Vec::new(),
            booked: Vec::new(),
            memory: OutcomeMemory::default(),
        }
    }

    /// The outcome as one of a request that no plugin refuses.
    pub(crate) fn by_the_registry(self) -> Self {
        Outcome {
            refused_by: None,
            ..self
        }
    }

    /// The outcome of a request that is rejected before it is evaluated.
    pub fn refused(status: Status) -> Self {
        Outcome {
            status: Some(Box::new(status)),
            ..Outcome::default()
        }
    }

    /// The decision.
    pub fn decision(&self) -> AdmissionDecision {
        match (&self.status, self.undecided.as_slice()) {
            (Some(_), _) => AdmissionDecision::Denied,
            (None, []) => AdmissionDecision::Allowed,
            (None, _) => AdmissionDecision::Undecided,
        }
    }

    /// Whether the request is allowed; undecided requests are not.
    pub fn allowed(&self) -> bool {
        self.decision() == AdmissionDecision::Allowed
    }

    /// The changes as a JSON Patch of the received object, including those that the form of its kind requires. Empty if
    /// nothing changed.
    pub fn patch<'o>(&'o self, request: &'o AdmissionRequest<'_>) -> Vec<Operation<'o>> {
        match &self.object {
            Some(object) => diff(&request.object, object),
            None => Vec::new(),
        }
    }

    /// The AdmissionReview response for this outcome. A response is either yes or no, so an undecided request is rejected,
    /// with a status that gives the reason. Warnings are those that an API server passes on, each once.
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

    /// The status of the response.
    fn answered_status(&self) -> Option<Status> {
        match self.decision() {
            AdmissionDecision::Allowed => None,
            AdmissionDecision::Denied => self.status.as_deref().cloned(),
            AdmissionDecision::Undecided => {
                let each: Vec<String> = self.undecided.iter().map(UndecidedDecision::to_string).collect();
                Some(Status::failure(Reason::InternalError, each.join("; ")))
            }
        }
    }
}

/// A patch as JSON, written one operation at a time because it may be large.
fn written(patch: Vec<Operation<'_>>) -> Vec<u8> {
    let mut text = Vec::new();
    for operation in patch {
        text.push(if text.is_empty() { b'[' } else { b',' });
        pratique_json::write(&Value::from(operation), &mut text);
    }
    text.push(b']');
    text
}

/// What is missing to know whether a server takes an object to be valid.
pub(crate) fn undecided_validation(missing: Option<Box<MissingDependency>>) -> Option<UndecidedDecision> {
    missing.map(|missing| UndecidedDecision {
        plugin: VALIDATION.into(),
        name: String::new(),
        binding: None,
        missing: *missing,
    })
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
