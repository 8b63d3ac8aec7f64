//! Tries a mutating policy over objects, as a server runs it: what its mutations fail with, and what they make of an object.
//!
//! What its expressions fail with is not told here: an [`ObservedPolicy`](crate::ObservedPolicy) tells that, with the place.

mod comparison;
mod server;
mod server_state;
mod storage;
#[cfg(test)]
mod valid_samples;

use std::cell::Cell;
use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1 as api;
use pratique_cel::value::Evaluation;
use pratique_exclusion::Origin;
use pratique_expression::Cache;
use pratique_json::Value;
use pratique_objects::{ObjectCodec, changed_paths};
use pratique_policy::{ExpressionId, MutatedRequest, PolicyTrace, StepResult};
use pratique_schema::FeatureGates;
use pratique_types::builtin::ServedResource;
use pratique_types::{AdmissionRequest, ObjectForm, Operation};

use crate::complete::TIME;
use crate::custom::{CustomKind, CustomKinds};
use crate::policy::Policy;
use crate::request::build_request;
use crate::runner::PolicyRunner;

pub use comparison::{describe_difference, find_filled_lists, lost_items};
pub use server::{SampleServer, ServerFinding};

/// A mutating policy that is tried over requests, whatever its rules, selectors and bindings.
#[derive(Debug)]
pub struct MutationTrial {
    runner: PolicyRunner,
    objects: ObjectCodec,
    custom: Arc<CustomKinds>,
}

/// What the mutations of a policy did with a request.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialOutcome {
    /// None ran, or an expression failed.
    Unused,
    /// They left the object as it was.
    Unchanged,
    /// They changed a field, the first of which is this one, and the server's defaults set all of them back.
    Overruled {
        /// The field.
        field: String,
    },
    /// They changed the object to this one.
    Changed(Value<'static>),
    /// One failed with the server's error.
    Failed {
        /// Its index.
        mutation: usize,
        /// The server's text.
        text: String,
    },
}

impl MutationTrial {
    /// Compiles a policy for a server of these gates. Its params are generated from what its expressions read of them.
    pub fn new(gates: FeatureGates, policy: &api::MutatingAdmissionPolicy) -> Self {
        const SEED: u64 = 1;
        let policy = Policy::Mutating(policy);
        let params = policy.reads().params;
        MutationTrial {
            runner: PolicyRunner::new(
                policy,
                Origin::Static,
                Some((&params, SEED)),
                &Cache::new().of_release(gates.release()),
            ),
            objects: ObjectCodec::with_placeholder(TIME).with_gates(gates),
            custom: Arc::default(),
        }
    }

    /// With kinds of custom resources, whose objects it can be tried over.
    #[must_use]
    pub fn with_custom_kinds(self, custom: Arc<CustomKinds>) -> Self {
        MutationTrial {
            runner: self.runner.with_custom_kinds(Arc::clone(&custom)),
            custom,
            ..self
        }
    }

    /// A request for an operation on an object as a server has decoded it, which an update does not change.
    pub fn request(
        &self,
        served: &ServedResource,
        operation: Operation,
        object: Value<'static>,
    ) -> AdmissionRequest<'static> {
        let old = if operation == Operation::Update {
            object.clone()
        } else {
            Value::Null
        };
        let form = if self.runner.release().schema().kind(&served.kind).is_some() {
            ObjectForm::Settled
        } else {
            ObjectForm::Unstructured
        };
        AdmissionRequest {
            form,
            ..build_request(served, operation, object, old)
        }
    }

    /// Runs the mutations, one after the other, as for one request.
    pub fn mutate(&self, request: &AdmissionRequest<'_>, allowed: bool) -> TrialOutcome {
        let evaluations = EvaluationTrace::default();
        let Some(mutated) = self.runner.mutate(request, allowed, &evaluations) else {
            return TrialOutcome::Unused;
        };
        if evaluations.failed.get() {
            return TrialOutcome::Unused;
        }
        match outcome_of(mutated) {
            // Such as one that does not compile.
            TrialOutcome::Failed { .. } if evaluations.mutations.get() == 0 => TrialOutcome::Unused,
            TrialOutcome::Changed(mut object) => {
                let field = changed_paths(&request.object, &object).into_iter().next();
                // A server defaults what a policy leaves; what it cannot convert stays as it is.
                match self.custom.find(&request.kind).and_then(CustomKind::version) {
                    Some(version) => drop(version.default(&mut object)),
                    None => drop(self.objects.default(&request.kind, &mut object)),
                }
                match field {
                    Some(field) if object == request.object => TrialOutcome::Overruled { field },
                    _ => TrialOutcome::Changed(object),
                }
            }
            outcome => outcome,
        }
    }
}

fn outcome_of(mutated: MutatedRequest) -> TrialOutcome {
    let failed = mutated.steps.iter().find_map(|step| match &step.result {
        StepResult::Failed(text) => Some((step.mutation, text.clone())),
        StepResult::Changed | StepResult::Unchanged => None,
    });
    // An error of the server ends the run without a step.
    let ended = mutated.status.as_ref().map(|status| {
        let next = mutated.steps.last().map_or(0, |step| step.mutation + 1);
        (next, status.message.clone())
    });
    match (failed.or(ended), mutated.object) {
        (Some((mutation, text)), _) => TrialOutcome::Failed { mutation, text },
        (None, Some(object)) => TrialOutcome::Changed(object),
        (None, None) if mutated.steps.is_empty() => TrialOutcome::Unused,
        (None, None) => TrialOutcome::Unchanged,
    }
}

/// What was evaluated.
#[derive(Default)]
struct EvaluationTrace {
    /// Whether an expression failed.
    failed: Cell<bool>,
    /// How many mutations began.
    mutations: Cell<usize>,
}

impl PolicyTrace for EvaluationTrace {
    fn begin(&self, id: ExpressionId<&str>, _: &str) {
        let is_mutation = matches!(id, ExpressionId::Mutation(_));
        self.mutations
            .set(self.mutations.get() + usize::from(is_mutation));
    }

    fn end(&self, result: &Evaluation<'_>, _: u64) {
        self.failed.set(self.failed.get() || result.is_err());
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use pratique_schema::Release;

    use super::*;

    /// A policy with a JSON patch.
    pub(crate) fn patching(expression: &str) -> MutationTrial {
        let policy = json!({"metadata": {"name": "p"}, "spec": {
            "failurePolicy": "Fail", "reinvocationPolicy": "Never",
            "matchConstraints": {"resourceRules": []},
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}],
        }});
        MutationTrial::new(FeatureGates::default(), &serde_json::from_value(policy).unwrap())
    }

    /// The request to create a Pod.
    pub(crate) fn creation(pod: &str) -> AdmissionRequest<'static> {
        let object = pratique_json::parse(pod.as_bytes()).unwrap().into_owned();
        build_request(
            Release::latest().resources().named("pods").unwrap(),
            Operation::Create,
            object,
            Value::Null,
        )
    }

    const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default"},
        "spec":{"containers":[{"name":"a","image":"i"}]}}"#;

    #[test]
    fn mutations_fail_with_the_text_of_the_server() {
        let outcome = |expression: &str| patching(expression).mutate(&creation(POD), true);
        let failed = |text: &str| TrialOutcome::Failed {
            mutation: 0,
            text: text.to_owned(),
        };
        assert_eq!(
            outcome("[JSONPatch{op: 'add', path: '/metadata/labels/a', value: 'b'}]"),
            failed(
                "JSON Patch: add operation does not apply: doc is missing path: \"/metadata/labels/a\": missing value"
            )
        );
        assert_eq!(
            outcome("[JSONPatch{op: 'add', path: '/spec/hostNetwrk', value: true}]"),
            failed("Internal error occurred: strict decoding error: unknown field \"spec.hostNetwrk\"")
        );
        assert_eq!(
            outcome("has(object.spec.x) ? [JSONPatch{op: 'remove', path: '/spec/x'}] : []"),
            TrialOutcome::Unchanged
        );
        // It does not compile.
        assert_eq!(outcome("[]"), TrialOutcome::Unused);
        // That is an error of the expression.
        assert_eq!(
            outcome("[JSONPatch{op: 'add', path: '/a', value: object.a}]"),
            TrialOutcome::Unused
        );
        assert!(matches!(
            outcome("[JSONPatch{op: 'add', path: '/spec/nodeName', value: 'n'}]"),
            TrialOutcome::Changed(_)
        ));
    }
}
