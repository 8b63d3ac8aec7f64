//! The report of a review, in one form for programs that get it as data.

use std::collections::BTreeMap;

use pratique::api_objects::Defaults;
use pratique_explain::Explanation;
use pratique_json::Value;
use pratique_manifest::ManifestFile;
use pratique_policy::{MutationStep, StepResult};
use pratique_report::Decision;
use pratique_state::yaml;
use pratique_types::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Operation, Status, warnings};
use serde::Serialize;

use crate::decisions::PolicyDecision;
use crate::input::ReviewInput;
use crate::object_diff::{DiffLine, diff_objects};
use crate::plain_finding::{PlainFinding, locate_findings};
use crate::review_decision::read_decision;
use crate::reviewer::Review;

/// A decision, and how it came about.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewReport {
    /// `allowed`, `denied`, `error` or `undecided`.
    pub decision: Decision,
    /// The status of a request that is not allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Box<Status>>,
    /// What to do, where a policy has failed, or no server serves the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The fields for which the server's own validation refuses the object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<PlainFinding>,
    /// The fields that the server drops without a word, as their features are off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<PlainFinding>,
    /// The inputs that are missing for a decision.
    pub undecided: Vec<String>,
    /// The warnings that an API server passes on to the user, each once.
    pub warnings: Vec<String>,
    /// The annotations of its audit event.
    pub audit_annotations: BTreeMap<String, String>,
    /// The decision of each policy, with a binding.
    pub decisions: Vec<PolicyDecision>,
    /// The fields that a server sets in the object.
    pub defaults: Vec<Defaults>,
    /// The mutations, in order.
    pub mutations: Vec<MutationReport>,
    /// The object as policies left it; absent where they did not change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<Value<'static>>,
    /// The same as YAML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yaml: Option<String>,
    /// The changes by policies, as lines.
    pub diff: Vec<DiffLine>,
    /// The changes by policies, as a JSON Patch.
    pub patch: Vec<Value<'static>>,
    /// Every expression, with the values in it.
    pub explanation: Explanation,
    /// A summary of the request.
    pub request: RequestSummary,
    /// The decisions on the Pods that a controller makes of a workload.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pods: Vec<PodReport>,
}

/// The decision on a Pod.
#[derive(Clone, Debug, Serialize)]
pub struct PodReport {
    /// Its name, or the start of the name that a server generates.
    pub name: String,
    /// The decision.
    #[serde(flatten)]
    pub report: ReviewReport,
}

/// What became of a mutation.
#[derive(Clone, Debug, Serialize)]
pub struct MutationReport {
    policy: String,
    binding: String,
    /// `NAMESPACE/NAME`
    param: Option<String>,
    mutation: usize,
    reinvoked: bool,
    result: &'static str,
    message: Option<String>,
}

/// A summary of a request.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestSummary {
    operation: Operation,
    resource: GroupVersionResource,
    kind: GroupVersionKind,
    sub_resource: String,
    namespace: String,
    name: String,
    user: String,
    groups: Vec<String>,
}

impl ReviewReport {
    /// The report of the review of a request.
    pub fn new(review: Review, input: &ReviewInput<'_>) -> Self {
        let help = review.help(input).map(str::to_owned);
        let request = &input.request;
        let Review {
            outcome,
            decisions,
            defaults,
            explanation,
            causes,
            dropped,
            ..
        } = review;
        let new_object = outcome.object.as_ref();
        let lines = new_object.map(|new_object| diff_objects(&request.object, new_object));
        let patch = outcome.patch(request).into_iter().map(Value::from);
        let warnings = warnings::passed_on(outcome.warnings.iter().map(String::as_str));
        ReviewReport {
            decision: read_decision(&outcome),
            help,
            causes: causes.iter().map(PlainFinding::from).collect(),
            dropped: dropped.iter().map(PlainFinding::from).collect(),
            undecided: outcome.undecided.iter().map(ToString::to_string).collect(),
            decisions,
            defaults,
            mutations: outcome.mutations.iter().map(MutationReport::from).collect(),
            yaml: new_object.map(|object| yaml::block(object, 0)),
            diff: lines.unwrap_or_default(),
            patch: patch.map(Value::into_owned).collect(),
            explanation: explanation.unwrap_or_default().drawn(),
            request: RequestSummary::from(request),
            warnings: warnings.into_iter().map(str::to_owned).collect(),
            status: outcome.status,
            audit_annotations: outcome.audit_annotations,
            object: outcome.object,
            pods: Vec::new(),
        }
    }

    /// Finds the fields that it is about in the text of the object.
    pub fn locate_fields(&mut self, file: &ManifestFile) {
        locate_findings(self.causes.iter_mut().chain(&mut self.dropped), file);
    }
}

impl From<&MutationStep> for MutationReport {
    fn from(step: &MutationStep) -> Self {
        let (result, message) = match &step.result {
            StepResult::Changed => ("changed", None),
            StepResult::Unchanged => ("unchanged", None),
            StepResult::Failed(message) => ("failed", Some(message.clone())),
        };
        let param = step.param.as_ref();
        MutationReport {
            policy: step.policy.clone(),
            binding: step.binding.clone(),
            param: param.map(|(namespace, name)| format!("{namespace}/{name}")),
            mutation: step.mutation,
            reinvoked: step.reinvoked,
            result,
            message,
        }
    }
}

impl From<&AdmissionRequest<'_>> for RequestSummary {
    fn from(request: &AdmissionRequest<'_>) -> Self {
        RequestSummary {
            operation: request.operation,
            resource: request.resource.clone(),
            kind: request.kind.clone(),
            sub_resource: request.sub_resource.clone(),
            namespace: request.namespace.clone(),
            name: request.name.clone(),
            user: request.user_info.username.clone(),
            groups: request.user_info.groups.clone(),
        }
    }
}
