//! The report of a decision.

use std::collections::BTreeMap;

use pratique::api_objects::Defaults;
use pratique::policy::StepResult;
use pratique_explain::Explanation;
use pratique_review::{DiffLine, PolicyDecision, Review, ReviewInput, diff_objects, read_decision};
use pratique_state::yaml;
use pratique_types::{Status, warnings};
use serde::Serialize;
use serde_json::{Value, json};

use crate::findings::Finding;
use crate::invalid_fields;

/// A decision, and how it came about.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DecisionReport {
    /// `allowed`, `denied`, `error` or `undecided`.
    decision: &'static str,
    /// The status of a request that is not allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Box<Status>>,
    /// What to do, where a policy has failed, or no server serves the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    /// The fields for which the server's own validation refuses the object.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<Finding>,
    /// The fields that the server drops without a word, as their features are off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dropped: Vec<Finding>,
    /// The inputs that are missing for a decision.
    undecided: Vec<String>,
    /// The warnings that an API server passes on to the user, each once.
    warnings: Vec<String>,
    audit_annotations: BTreeMap<String, String>,
    /// The decision of each policy, with a binding.
    decisions: Vec<PolicyDecision>,
    /// The fields that a server sets in the object.
    defaults: Vec<Defaults>,
    /// The mutations, in order.
    mutations: Vec<Value>,
    /// The object as policies left it; absent where they did not change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<pratique_json::Value<'static>>,
    /// The same as YAML.
    #[serde(skip_serializing_if = "Option::is_none")]
    yaml: Option<String>,
    /// The changes by policies, as lines.
    diff: Vec<DiffLine>,
    /// The changes by policies, as a JSON Patch.
    patch: Vec<pratique_json::Value<'static>>,
    /// Every expression, with the values in it.
    explanation: Explanation,
    /// A summary of the request.
    request: Value,
    /// The decisions on the Pods that a controller makes of a workload.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pods: Vec<PodReport>,
}

/// The decision on a Pod.
#[derive(Debug, Serialize)]
struct PodReport {
    /// Its name, or the start of the name that a server generates.
    name: String,
    #[serde(flatten)]
    report: DecisionReport,
}

impl DecisionReport {
    /// Finds the fields for which the object is invalid in its text.
    pub(crate) fn locate_causes(&mut self, text: &str) {
        invalid_fields::locate(&mut self.causes, text);
        invalid_fields::locate(&mut self.dropped, text);
    }

    /// The report of a review.
    pub(crate) fn new(review: Review, input: &ReviewInput<'_>) -> Self {
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
        let decision = read_decision(&outcome).as_str();
        let old_object = &request.object;
        let new_object = outcome.object.as_ref();
        let lines = new_object.map(|new_object| diff_objects(old_object, new_object));
        let patch = outcome.patch(request).into_iter().map(pratique_json::Value::from);
        let patch: Vec<_> = patch.map(pratique_json::Value::into_owned).collect();
        let mutations = outcome.mutations.iter().map(|step| {
            let (result, message) = match &step.result {
                StepResult::Changed => ("changed", None),
                StepResult::Unchanged => ("unchanged", None),
                StepResult::Failed(message) => ("failed", Some(message)),
            };
            let param = step
                .param
                .as_ref()
                .map(|(namespace, name)| format!("{namespace}/{name}"));
            json!({"policy": step.policy, "binding": step.binding, "param": param, "mutation": step.mutation,
                "reinvoked": step.reinvoked, "result": result, "message": message})
        });
        DecisionReport {
            decision,
            help,
            causes: causes.iter().map(invalid_fields::make_finding).collect(),
            dropped: dropped.iter().map(invalid_fields::make_drop_finding).collect(),
            undecided: outcome.undecided.iter().map(ToString::to_string).collect(),
            decisions,
            defaults,
            mutations: mutations.collect(),
            yaml: outcome.object.as_ref().map(|object| yaml::block(object, 0)),
            diff: lines.unwrap_or_default(),
            patch,
            explanation: explanation.unwrap_or_default().drawn(),
            request: json!({"operation": request.operation, "resource": request.resource, "kind": request.kind,
                "subResource": request.sub_resource, "namespace": request.namespace, "name": request.name,
                "user": request.user_info.username, "groups": request.user_info.groups}),
            status: outcome.status,
            warnings: passed_on(&outcome.warnings),
            audit_annotations: outcome.audit_annotations,
            object: outcome.object,
            pods: Vec::new(),
        }
    }

    /// The object as policies left it; `None` where they did not change it.
    pub(crate) fn object(&self) -> Option<&pratique_json::Value<'static>> {
        self.object.as_ref()
    }

    /// Adds the decision on a Pod of the workload.
    pub(crate) fn add_pod(&mut self, name: String, report: DecisionReport) {
        self.pods.push(PodReport { name, report });
    }
}

fn passed_on(warnings: &[String]) -> Vec<String> {
    let passed_on = warnings::passed_on(warnings.iter().map(String::as_str));
    passed_on.into_iter().map(str::to_owned).collect()
}
