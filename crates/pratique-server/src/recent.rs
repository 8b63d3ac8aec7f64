//! The last decisions, for the status page.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use pratique_json::base64;
use pratique_types::{AdmissionRequest, AdmissionResponse};
use serde::Deserialize;

use crate::handler::ReviewResult;

/// The maximum number of decisions: many more than are shown at a time, for filters.
const MAX_DECISIONS: usize = 1000;
/// The maximum length of a text, in characters.
const MAX_TEXT: usize = 400;
/// The maximum number of warnings of a decision.
const MAX_WARNINGS: usize = 10;
/// The maximum size of a patch, in bytes.
const MAX_PATCH: usize = 4 << 10;
/// The text before the name of a policy or webhook in messages, and the quote after it.
const NAME_PREFIXES: [(&str, char); 5] = [
    ("Policy '", '\''),
    ("policy '", '\''),
    ("policy \"", '"'),
    ("webhook \"", '"'),
    // In the annotation of failed validations.
    ("\"policy\":\"", '"'),
];
/// The suffix of annotation keys whose first part is not the name of a policy.
const NO_POLICY: &str = ".admission.k8s.io";

/// The last decisions.
#[derive(Debug, Default)]
pub(crate) struct RecentDecisions(Mutex<VecDeque<RecentDecision>>);

/// A decision.
#[derive(Clone, Debug)]
pub(crate) struct RecentDecision {
    pub(crate) at: SystemTime,
    pub(crate) path: &'static str,
    pub(crate) operation: &'static str,
    pub(crate) resource: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) user: String,
    pub(crate) allowed: bool,
    pub(crate) changed: bool,
    /// The message of a denial.
    pub(crate) message: String,
    pub(crate) warnings: Vec<String>,
    /// The sorted names of policies and webhooks in the response.
    pub(crate) policies: Vec<String>,
    pub(crate) elapsed: Duration,
    /// The encoded patch of the response, if it is short.
    patch: Option<String>,
}

/// The kind of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecisionKind {
    /// The request was denied.
    Denied,
    /// The request was allowed with warnings.
    Warned,
    /// The request was allowed, and its object changed.
    Changed,
    /// The request was allowed.
    Allowed,
}

impl DecisionKind {
    pub(crate) const ALL: [DecisionKind; 4] = [
        DecisionKind::Denied,
        DecisionKind::Warned,
        DecisionKind::Changed,
        DecisionKind::Allowed,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            DecisionKind::Denied => "denied",
            DecisionKind::Warned => "warned",
            DecisionKind::Changed => "changed",
            DecisionKind::Allowed => "allowed",
        }
    }
}

impl RecentDecision {
    /// Whether the decision is of this kind. A change with warnings is of both kinds.
    pub(crate) fn is(&self, answered: DecisionKind) -> bool {
        let warned = !self.warnings.is_empty();
        match answered {
            DecisionKind::Denied => !self.allowed,
            DecisionKind::Warned => self.allowed && warned,
            DecisionKind::Changed => self.allowed && self.changed,
            DecisionKind::Allowed => self.allowed && !warned && !self.changed,
        }
    }

    /// The operations and paths of the patch, which is decoded only for display.
    pub(crate) fn changes(&self) -> String {
        #[derive(Deserialize)]
        struct PatchOperation {
            op: String,
            path: String,
        }
        let patch = self.patch.as_ref().and_then(|patch| base64::decode(patch).ok());
        let operations = patch.and_then(|patch| serde_json::from_slice::<Vec<PatchOperation>>(&patch).ok());
        let operations = operations.unwrap_or_default().into_iter();
        let operations = operations.map(|operation| format!("{} {}", operation.op, operation.path));
        truncated(&operations.collect::<Vec<_>>().join(", "))
    }
}

impl RecentDecisions {
    pub(crate) fn add(
        &self,
        path: &'static str,
        request: &AdmissionRequest<'_>,
        ReviewResult { response, mutated_by }: &ReviewResult,
        (at, elapsed): (SystemTime, Duration),
    ) {
        let decision = RecentDecision {
            at,
            path,
            operation: request.operation.as_str(),
            resource: truncated(&resource(request)),
            namespace: truncated(&request.namespace),
            name: truncated(&request.name),
            user: truncated(&request.user_info.username),
            allowed: response.allowed,
            changed: response.patch.is_some(),
            policies: policies(response, mutated_by),
            message: response
                .result
                .as_ref()
                .map(|status| truncated(&status.message))
                .unwrap_or_default(),
            warnings: response
                .warnings
                .iter()
                .take(MAX_WARNINGS)
                .map(|warning| truncated(warning))
                .collect(),
            elapsed,
            patch: response
                .patch
                .as_ref()
                .filter(|patch| patch.len() <= MAX_PATCH)
                .cloned(),
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.truncate(MAX_DECISIONS - 1);
        all.push_front(decision);
    }

    /// All decisions, newest first.
    pub(crate) fn to_vec(&self) -> Vec<RecentDecision> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .cloned()
            .collect()
    }
}

fn resource(request: &AdmissionRequest<'_>) -> String {
    let mut text = request.resource.resource.clone();
    for (mark, part) in [(".", &request.resource.group), ("/", &request.sub_resource)] {
        if !part.is_empty() {
            text.push_str(mark);
            text.push_str(part);
        }
    }
    text
}

/// The sorted names of policies and webhooks in a response, and of those that mutated the object.
fn policies(response: &AdmissionResponse, mutated_by: &[String]) -> Vec<String> {
    let mut policy_names: BTreeSet<&str> = mutated_by.iter().map(String::as_str).collect();
    let message = response.result.iter().map(|status| status.message.as_str());
    let texts = message.chain(response.warnings.iter().take(MAX_WARNINGS).map(String::as_str));
    texts.for_each(|text| names_in(text, &mut policy_names));
    for (key, value) in &response.audit_annotations {
        match key.split_once('/') {
            Some((group, _)) if group.ends_with(NO_POLICY) => names_in(value, &mut policy_names),
            Some((policy, _)) => drop(policy_names.insert(policy)),
            None => {}
        }
    }
    policy_names.into_iter().map(truncated).collect()
}

/// Finds names of policies and webhooks in a message.
fn names_in<'t>(text: &'t str, policy_names: &mut BTreeSet<&'t str>) {
    for (prefix, end) in NAME_PREFIXES {
        let names = text.split(prefix).skip(1).take(MAX_WARNINGS);
        policy_names.extend(names.filter_map(|rest| Some(rest.split_once(end)?.0)));
    }
}

fn truncated(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_messages() {
        let check = |text: &str, expected: &[&str]| {
            let mut found = BTreeSet::new();
            names_in(text, &mut found);
            assert_eq!(found.into_iter().collect::<Vec<_>>(), expected, "{text}");
        };
        check(
            "pods \"web\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
            &["p"],
        );
        check("policy \"m\" denied request: no", &["m"]);
        check("policy 'm' with binding 'b' denied request: no", &["m"]);
        check(
            "admission webhook \"h.example.com\" denied the request: no",
            &["h.example.com"],
        );
        check(
            "Validation failed for ValidatingAdmissionPolicy 'w' with binding 'b': old",
            &["w"],
        );
        check(r#"[{"message":"no","policy":"a","binding":"b"}]"#, &["a"]);
        check("no policy at all", &[]);
        check("policy 'unended", &[]);
    }
}
