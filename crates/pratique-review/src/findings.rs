//! What there is to say about a review, in one list.

use pratique_request::server_warnings;

use crate::decisions::{PolicyAction, PolicyDecision};
use crate::reviewer::Review;

/// Something to say about a review: what a policy decided, what the server itself refuses or warns of, what is undecided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewFinding {
    /// The policy, plugin or webhook; empty for the server itself.
    pub policy: String,
    /// The binding of a policy; empty if there is none.
    pub binding: String,
    /// What follows.
    pub action: FindingAction,
    /// Whether an error led to it, and not a validation.
    pub is_error: bool,
    /// The message.
    pub message: String,
}

/// What follows from a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingAction {
    /// A policy's action; a denial is also that of the server, of a plugin or of a webhook, and a warning that of the server.
    Policy(PolicyAction),
    /// Something was needed and nobody gave it.
    Undecided,
}

impl Review {
    /// The decisions of policies, a denial by anything else, the warnings that no policy's decision gives, the fields that
    /// are dropped, and what is undecided.
    pub fn findings(&self) -> Vec<ReviewFinding> {
        let mut findings: Vec<ReviewFinding> = self.decisions.iter().map(ReviewFinding::from).collect();
        let denies = |finding: &ReviewFinding| finding.action == FindingAction::Policy(PolicyAction::Deny);
        if let (false, Some(status)) = (findings.iter().any(denies), &self.outcome.status) {
            findings.push(ReviewFinding {
                policy: self.refused_by().unwrap_or_default().to_owned(),
                ..ReviewFinding::of_server(PolicyAction::Deny, &status.message)
            });
        }
        let warned = self.decisions.iter();
        let warned = warned.filter(|decision| decision.action == PolicyAction::Warn);
        let warned = warned.map(PolicyDecision::names_and_message);
        let warnings = server_warnings(&self.outcome.warnings, warned).into_iter();
        findings.extend(warnings.map(|message| ReviewFinding::of_server(PolicyAction::Warn, message)));
        let dropped = self.dropped.iter();
        findings
            .extend(dropped.map(|dropped| ReviewFinding::of_server(PolicyAction::Warn, &dropped.message)));
        let undecided = self.outcome.undecided.iter();
        findings.extend(undecided.map(|undecided| ReviewFinding {
            policy: if undecided.name.is_empty() {
                undecided.plugin.to_string()
            } else {
                undecided.name.clone()
            },
            binding: undecided.binding.clone().unwrap_or_default(),
            action: FindingAction::Undecided,
            is_error: false,
            message: undecided.missing.to_string(),
        }));
        findings
    }
}

impl From<&PolicyDecision> for ReviewFinding {
    fn from(decision: &PolicyDecision) -> Self {
        ReviewFinding {
            policy: decision.policy.clone(),
            binding: decision.binding.clone(),
            action: FindingAction::Policy(decision.action),
            is_error: decision.failed,
            message: decision.message.clone(),
        }
    }
}

impl ReviewFinding {
    fn of_server(action: PolicyAction, message: &str) -> Self {
        ReviewFinding {
            policy: String::new(),
            binding: String::new(),
            action: FindingAction::Policy(action),
            is_error: false,
            message: message.to_owned(),
        }
    }
}
