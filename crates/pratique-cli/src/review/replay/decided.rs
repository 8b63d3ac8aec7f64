//! What policies decide on a request now.

use pratique_report::{Action, Decision as Counted, Evaluation, Finding};
use serde::Serialize;

use crate::review::decisions::{Action as PolicyAction, PolicyDecision};
use crate::review::record::Decision;
use crate::review::report::JsonUndecided;
use crate::review::result::ReviewResult;

/// What policies decide on a request now.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::review) struct Decided {
    pub(in crate::review) decision: Decision,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::review) message: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::review) policies: Vec<PolicyDecision>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::review) undecided: Vec<JsonUndecided>,
}

impl Decided {
    pub(in crate::review) fn of(result: &mut ReviewResult<'_>) -> Self {
        let outcome = &result.outcome;
        Decided {
            decision: outcome.decision().into(),
            message: outcome.status.as_ref().map(|status| status.message.clone()),
            undecided: outcome.undecided.iter().map(JsonUndecided::from).collect(),
            policies: std::mem::take(&mut result.decisions),
        }
    }

    /// A decision that no policy has a part in.
    pub(in crate::review) fn by_none(decision: Decision) -> Self {
        Decided {
            decision,
            message: None,
            policies: Vec::new(),
            undecided: Vec::new(),
        }
    }

    /// What was found, as it is counted.
    pub(in crate::review) fn findings(&self) -> Vec<Finding<'_>> {
        let mut findings: Vec<Finding<'_>> = self
            .policies
            .iter()
            .map(|decision| Finding {
                policy: &decision.policy,
                binding: &decision.binding,
                action: match decision.action {
                    PolicyAction::Deny => Action::Deny,
                    PolicyAction::Warn => Action::Warn,
                    PolicyAction::Audit => Action::Audit,
                    PolicyAction::Ignore => Action::Ignore,
                },
                is_error: decision.failed,
                message: &decision.message,
            })
            .collect();
        let is_told = findings.iter().any(|finding| finding.action == Action::Deny);
        if let (Decision::Denied, false, Some(message)) = (self.decision, is_told, &self.message) {
            findings.push(Finding {
                policy: "",
                binding: "",
                action: Action::Deny,
                is_error: false,
                message,
            });
        }
        findings.extend(self.undecided.iter().map(|undecided| Finding {
            policy: match undecided.name.as_str() {
                "" => &undecided.plugin,
                name => name,
            },
            binding: undecided.binding.as_deref().unwrap_or_default(),
            action: Action::Undecided,
            is_error: false,
            message: &undecided.message,
        }));
        findings
    }
}

/// A decision on something, as it is counted.
pub(in crate::review) fn evaluation<'a>(
    subject: &'a super::subject::Subject,
    decided: &'a Decided,
    place: &'a str,
) -> Evaluation<'a> {
    Evaluation {
        decision: match decided.decision {
            Decision::Allowed => Counted::Allowed,
            Decision::Denied => Counted::Denied,
            Decision::Undecided => Counted::Undecided,
        },
        operation: subject.operation.as_str(),
        api_version: &subject.api_version,
        kind: &subject.kind,
        namespace: &subject.namespace,
        name: &subject.name,
        user: &subject.user,
        owner: &subject.owner,
        place,
        time: &subject.time,
        findings: decided.findings(),
    }
}
