//! Results by namespace, as the objects that dashboards read: `PolicyReport` and those of OpenReports.

mod api;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::tally::bounded_to;
use crate::{Action, Decision, Evaluation, Finding};
pub use api::ReportApi;
use api::{ObjectReference, PolicyOutcome, ReportList, ReportObject, ReportResult, ResultSummary};

/// The maximum length of a message, in bytes.
const MAX_MESSAGE: usize = 1024;
/// The maximum length of a name, in bytes.
const MAX_NAME: usize = 512;
/// The policy of results about what could not be read or evaluated.
const NOT_EVALUATED: &str = "pratique-not-evaluated";
/// The policy of results of no policy: the server itself refuses an object.
const NO_POLICY: &str = "pratique-api-server";

/// How much the objects of a scan hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamespaceLimits {
    /// Namespaces that have an object of their own.
    pub namespaces: usize,
    /// Results of one object.
    pub results: usize,
    /// Bytes of the results of one object, as JSON: an API server stores no more than 1.5 MiB.
    pub bytes: usize,
    /// Bytes of the results of all objects.
    pub total_bytes: usize,
}

impl Default for NamespaceLimits {
    /// 5,000 namespaces with 1,000 results in 1 MiB each, 32 MiB together.
    fn default() -> Self {
        NamespaceLimits {
            namespaces: 5_000,
            results: 1_000,
            bytes: 1 << 20,
            total_bytes: 32 << 20,
        }
    }
}

/// Results of evaluations by namespace, in bounded memory: results that do not fit are counted.
#[derive(Clone, Debug)]
pub struct NamespaceReports {
    limits: NamespaceLimits,
    /// The release of Kubernetes that decided; empty if nobody said it.
    release: String,
    bytes: usize,
    /// By namespace; what has none is under the empty name.
    namespaces: BTreeMap<String, NamespaceEntry>,
    unlisted: ResultSummary,
}

/// The results of a namespace.
#[derive(Clone, Debug, Default)]
struct NamespaceEntry {
    summary: ResultSummary,
    results: Vec<ReportResult>,
    bytes: usize,
    omitted: u64,
}

impl NamespaceReports {
    /// No results yet.
    pub fn new(limits: NamespaceLimits) -> Self {
        NamespaceReports {
            limits,
            release: String::new(),
            bytes: 0,
            namespaces: BTreeMap::new(),
            unlisted: ResultSummary::default(),
        }
    }

    /// Counts an evaluation: each of its findings is a result. An object without one passes, and is skipped where no
    /// policy matched it.
    pub fn count(&mut self, evaluation: &Evaluation<'_>) {
        // A namespace is an object of the cluster, although its requests name it as their namespace.
        let is_namespace = (evaluation.api_version, evaluation.kind) == ("v1", "Namespace");
        let namespace = if is_namespace { "" } else { evaluation.namespace };
        if evaluation.findings.is_empty() && evaluation.decision == Decision::Allowed {
            let outcome = if evaluation.is_unmatched {
                PolicyOutcome::Skip
            } else {
                PolicyOutcome::Pass
            };
            return self.add(namespace, outcome, || None);
        }
        // A decision that no finding explains is a result by itself.
        let unexplained = unexplained(evaluation.decision);
        let findings = match evaluation.findings.as_slice() {
            [] => std::slice::from_ref(&unexplained),
            findings => findings,
        };
        for finding in findings {
            let outcome = outcome(finding);
            self.add(namespace, outcome, || {
                Some(result(evaluation, finding, outcome, namespace))
            });
        }
    }

    /// Counts something that could not be read or evaluated.
    pub fn count_problem(&mut self, place: &str, message: &str) {
        self.add_of_no_object(NOT_EVALUATED, PolicyOutcome::Error, place, message);
    }

    /// Counts a finding about no object, such as an exception that holds no more. The rule is its policy.
    pub fn count_finding(&mut self, rule: &str, place: &str, message: &str) {
        self.add_of_no_object(rule, PolicyOutcome::Fail, place, message);
    }

    fn add_of_no_object(&mut self, policy: &str, outcome: PolicyOutcome, place: &str, message: &str) {
        self.add("", outcome, || {
            Some(ReportResult {
                source: api::SOURCE,
                policy: policy.to_owned(),
                rule: None,
                result: outcome,
                scored: true,
                message: bounded_to(&format!("{place}: {message}"), MAX_MESSAGE),
                resources: Vec::new(),
                properties: BTreeMap::new(),
            })
        });
    }

    fn add(
        &mut self,
        namespace: &str,
        outcome: PolicyOutcome,
        result: impl FnOnce() -> Option<ReportResult>,
    ) {
        if !self.namespaces.contains_key(namespace) {
            // The cluster has an object in any case.
            if self.namespaces.len() >= self.limits.namespaces && !namespace.is_empty() {
                return self.unlisted.count(outcome);
            }
            self.namespaces
                .insert(namespace.to_owned(), NamespaceEntry::default());
        }
        let Some(entry) = self.namespaces.get_mut(namespace) else {
            return;
        };
        entry.summary.count(outcome);
        let Some(result) = result() else { return };
        // Nothing in it can fail: it has texts only.
        let bytes = serde_json::to_vec(&result).map_or(0, |json| json.len());
        let fits = entry.results.len() < self.limits.results
            && entry.bytes + bytes <= self.limits.bytes
            && self.bytes + bytes <= self.limits.total_bytes;
        if fits {
            entry.bytes += bytes;
            self.bytes += bytes;
            entry.results.push(result);
        } else {
            entry.omitted += 1
        }
    }

    /// How many results are counted in summaries, and not listed.
    pub fn omitted(&self) -> u64 {
        self.namespaces.values().map(|entry| entry.omitted).sum()
    }

    /// How many results, and objects that pass or are skipped, are in no summary, as there are too many namespaces.
    pub fn unlisted(&self) -> u64 {
        self.unlisted.sum()
    }

    /// Says which release of Kubernetes decided, as `1.37`.
    pub fn set_release(&mut self, release: &str) {
        release.clone_into(&mut self.release);
    }

    /// The objects, each with its namespace; that of the cluster has the empty one.
    pub fn objects(&self, api: ReportApi) -> impl Iterator<Item = (&str, impl serde::Serialize)> {
        self.namespaces.iter().map(move |(namespace, entry)| {
            let object = ReportObject::new(api, namespace, entry.summary, &entry.results, entry.omitted);
            let object = object.of_release(&self.release);
            (namespace.as_str(), object)
        })
    }

    /// The objects, as a `List` for `kubectl apply`.
    pub fn list(&self, api: ReportApi) -> impl serde::Serialize {
        ReportList::new(self.objects(api).map(|(_, object)| object).collect())
    }
}

fn unexplained(decision: Decision) -> Finding<'static> {
    let (action, message) = match decision {
        Decision::Denied | Decision::Error => (Action::Deny, "it is denied"),
        Decision::Accepted => (Action::Accepted, "it is denied, which is accepted"),
        Decision::Allowed | Decision::Undecided | Decision::Failed => {
            (Action::Undecided, "it could not be decided")
        }
    };
    Finding {
        policy: "",
        binding: "",
        action,
        is_error: false,
        message,
    }
}

fn outcome(finding: &Finding<'_>) -> PolicyOutcome {
    match (finding.action, finding.is_error) {
        (Action::Accepted, _) => PolicyOutcome::Skip,
        (Action::Ignore | Action::Undecided, _) | (_, true) => PolicyOutcome::Error,
        (Action::Deny, false) => PolicyOutcome::Fail,
        (Action::Warn | Action::Audit, false) => PolicyOutcome::Warn,
    }
}

fn result(
    evaluation: &Evaluation<'_>,
    finding: &Finding<'_>,
    outcome: PolicyOutcome,
    namespace: &str,
) -> ReportResult {
    let bounded = |text: &str| bounded_to(text, MAX_NAME);
    let mut properties = BTreeMap::from([("action", finding.action.as_str().to_owned())]);
    for (name, text) in [
        ("operation", evaluation.operation),
        ("owner", evaluation.owner),
        ("place", evaluation.place),
    ] {
        if !text.is_empty() {
            properties.insert(name, bounded(text));
        }
    }
    ReportResult {
        source: api::SOURCE,
        policy: match finding.policy {
            "" if outcome == PolicyOutcome::Error => NOT_EVALUATED.to_owned(),
            "" => NO_POLICY.to_owned(),
            policy => bounded(policy),
        },
        rule: Some(bounded(finding.binding)).filter(|binding| !binding.is_empty()),
        result: outcome,
        scored: !matches!(outcome, PolicyOutcome::Warn | PolicyOutcome::Skip),
        message: bounded_to(finding.message, MAX_MESSAGE),
        resources: vec![ObjectReference {
            api_version: bounded(evaluation.api_version),
            kind: bounded(evaluation.kind),
            namespace: bounded(namespace),
            name: bounded(evaluation.name),
            uid: bounded(evaluation.uid),
        }],
        properties,
    }
}
