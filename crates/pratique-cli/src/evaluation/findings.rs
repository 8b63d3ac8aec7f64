//! The findings about a request, as reports count them.

use pratique_report::{Action, Decision, Finding};

use crate::acceptance::accepted_finding::AcceptedFinding;
use crate::evaluation::missing_input::JsonUndecided;
use crate::evaluation::placed_drop::PlacedDrop;
use pratique_review::PolicyDecision;

/// The causes of a decision.
pub(crate) struct DecisionCauses<'f> {
    pub(crate) decision: Decision,
    pub(crate) policies: &'f [PolicyDecision],
    /// What else than a policy denies, if that is known, and the message.
    pub(crate) refusal: Option<(&'f str, &'f str)>,
    /// The warnings of the server itself.
    pub(crate) warnings: &'f [String],
    /// The fields that the server drops without a word.
    pub(crate) dropped: &'f [PlacedDrop],
    /// What is accepted, each with a message.
    pub(crate) accepted: &'f [(AcceptedFinding, String)],
}

impl<'f> DecisionCauses<'f> {
    /// Each decision of a policy, a denial and warnings by anything else, and what is undecided, with a message of each.
    pub(crate) fn findings(
        self,
        undecided: impl IntoIterator<Item = (&'f JsonUndecided, &'f str)>,
    ) -> Vec<Finding<'f>> {
        let mut findings: Vec<Finding<'f>> = self.policies.iter().map(Finding::from).collect();
        findings.extend(self.accepted.iter().map(|(finding, message)| Finding {
            policy: &finding.policy,
            binding: &finding.binding,
            action: Action::Accepted,
            is_error: false,
            message,
        }));
        let is_by_policy = findings.iter().any(|finding| finding.action == Action::Deny);
        if let (true, false, Some((policy, message))) = (self.decision.denies(), is_by_policy, self.refusal) {
            findings.push(Finding {
                policy,
                binding: "",
                action: Action::Deny,
                is_error: false,
                message,
            });
        }
        findings.extend(self.warnings.iter().map(|message| Finding {
            policy: "",
            binding: "",
            action: Action::Warn,
            is_error: false,
            message,
        }));
        findings.extend(self.dropped.iter().map(|placed| placed.subject.finding()));
        findings.extend(undecided.into_iter().map(|(undecided, message)| Finding {
            policy: undecided.source(),
            binding: undecided.binding.as_deref().unwrap_or_default(),
            action: Action::Undecided,
            is_error: false,
            message,
        }));
        findings
    }
}
