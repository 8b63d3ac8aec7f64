//! What there is to say about a review, in one list.

use pratique_report::{Action, Finding};
use pratique_request::server_warnings;

use crate::decisions::PolicyDecision;
use crate::dropped_field::DroppedField;
use crate::reviewer::Review;

impl<'d> From<&'d PolicyDecision> for Finding<'d> {
    fn from(decision: &'d PolicyDecision) -> Self {
        Finding {
            policy: &decision.policy,
            binding: &decision.binding,
            action: decision.action,
            is_error: decision.failed,
            message: &decision.message,
        }
    }
}

impl DroppedField {
    /// The finding of whoever counts it: a warning that the server does not give.
    pub fn finding(&self) -> Finding<'_> {
        Finding {
            policy: DroppedField::RULE,
            binding: "",
            action: Action::Warn,
            is_error: false,
            message: &self.message,
        }
    }
}

impl Review {
    /// The decisions of policies, a denial by anything else, the warnings that no policy's decision gives, the fields that
    /// are dropped, and what is undecided, of which each has a message of `undecided`.
    pub fn findings<'r>(&'r self, undecided: impl IntoIterator<Item = &'r str>) -> Vec<Finding<'r>> {
        let of_server = |policy: &'r str, action, message: &'r str| Finding {
            policy,
            binding: "",
            action,
            is_error: false,
            message,
        };
        let mut findings: Vec<Finding<'_>> = self.decisions.iter().map(Finding::from).collect();
        let is_by_policy = findings.iter().any(|finding| finding.action == Action::Deny);
        if let (false, Some(status)) = (is_by_policy, &self.outcome.status) {
            let refused_by = self.refused_by().unwrap_or_default();
            findings.push(of_server(refused_by, Action::Deny, &status.message));
        }
        let warned = self.decisions.iter();
        let warned = warned.filter(|decision| decision.action == Action::Warn);
        let warned = warned.map(PolicyDecision::names_and_message);
        let warnings = server_warnings(&self.outcome.warnings, warned).into_iter();
        findings.extend(warnings.map(|message| of_server("", Action::Warn, message)));
        findings.extend(self.dropped.iter().map(DroppedField::finding));
        let undecided = self.outcome.undecided.iter().zip(undecided);
        findings.extend(undecided.map(|(undecided, message)| Finding {
            binding: undecided.binding.as_deref().unwrap_or_default(),
            ..of_server(undecided.source(), Action::Undecided, message)
        }));
        findings
    }
}
