//! The decision of policies on a replayed request.

use pratique_report::{Decision, Evaluation, Finding};
use serde::{Serialize, Serializer};

use crate::acceptance::accepted_finding::AcceptedFinding;
use crate::acceptance::{AcceptanceRules, AcceptedFindings};
use crate::evaluation::decision::{choose_graver, read_decision};
use crate::evaluation::findings::DecisionCauses;
use crate::evaluation::missing_input::JsonUndecided;
use crate::evaluation::pod_findings::{add_policies, add_undecided};
use crate::evaluation::record::DecisionRecord;
use crate::evaluation::result::ReviewResult;
use pratique_review::PolicyDecision;

/// The decision of policies on a replayed request.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReplayDecision {
    pub(crate) decision: Decision,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) policies: Vec<PolicyDecision>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) undecided: Vec<JsonUndecided>,
    /// What exceptions and a baseline accept, each with why.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "findings_alone")]
    pub(crate) accepted: Vec<(AcceptedFinding, String)>,
}

fn findings_alone<S: Serializer>(accepted: &[(AcceptedFinding, String)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(accepted.iter().map(|(finding, _)| finding))
}

impl ReplayDecision {
    pub(crate) fn new(result: &mut ReviewResult<'_>) -> Self {
        let outcome = &result.outcome;
        ReplayDecision {
            decision: read_decision(outcome),
            message: outcome.status.as_ref().map(|status| status.message.clone()),
            undecided: outcome.undecided.iter().map(JsonUndecided::from).collect(),
            policies: std::mem::take(&mut result.decisions),
            accepted: Vec::new(),
        }
    }

    /// The decision, with what is accepted of it, which is counted.
    pub(crate) fn of_accepting(
        result: &mut ReviewResult<'_>,
        acceptance: &AcceptanceRules,
        counted: &mut AcceptedFindings,
    ) -> Self {
        if acceptance.is_empty() {
            return ReplayDecision::new(result);
        }
        let mut record = DecisionRecord::new(result);
        acceptance.apply(&mut record, result.input.object());
        counted.count(&record, acceptance);
        let told = |finding: AcceptedFinding| {
            let told = finding.told();
            (finding, told)
        };
        ReplayDecision {
            decision: record.decision,
            message: record.message,
            policies: record.policies,
            undecided: record.undecided,
            accepted: record.accepted.into_iter().map(told).collect(),
        }
    }

    /// Adds the decision on a Pod that the object makes: what refuses the Pod refuses what the object is for.
    pub(crate) fn add_pod(&mut self, pod: ReplayDecision) {
        if pod.decision.denies() && !self.decision.denies() {
            self.message = pod.message;
        }
        self.decision = choose_graver(self.decision, pod.decision);
        add_policies(&mut self.policies, pod.policies);
        add_undecided(&mut self.undecided, pod.undecided);
        self.accepted.extend(pod.accepted);
    }

    /// A decision that no policy has a part in.
    pub(crate) fn without_policies(decision: Decision) -> Self {
        ReplayDecision {
            decision,
            message: None,
            policies: Vec::new(),
            undecided: Vec::new(),
            accepted: Vec::new(),
        }
    }

    /// The findings, as they are counted.
    pub(crate) fn findings(&self) -> Vec<Finding<'_>> {
        let causes = DecisionCauses {
            decision: self.decision,
            policies: &self.policies,
            refusal: self.message.as_deref().map(|message| ("", message)),
            // Requests that were made are replayed without them.
            warnings: &[],
            dropped: &[],
            accepted: &self.accepted,
        };
        let undecided = self.undecided.iter();
        causes.findings(undecided.map(|undecided| (undecided, undecided.message.as_str())))
    }
}

/// A decision on something, as it is counted.
pub(crate) fn evaluation<'a>(
    subject: &'a super::subject::RequestSubject,
    decided: &'a ReplayDecision,
    place: &'a str,
) -> Evaluation<'a> {
    Evaluation {
        decision: decided.decision,
        operation: subject.operation.as_str(),
        api_version: &subject.api_version,
        kind: &subject.kind,
        namespace: &subject.namespace,
        name: &subject.name,
        uid: &subject.uid,
        user: &subject.user,
        owner: &subject.owner,
        place,
        time: &subject.time,
        is_changed: false,
        is_unmatched: false,
        findings: decided.findings(),
    }
}
