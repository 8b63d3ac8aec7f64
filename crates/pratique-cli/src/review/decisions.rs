//! The decisions of policies on a request.

use pratique::policy::{Decision, Effect, ErrorType, PolicyObserver};
use serde::Serialize;

/// The decision of a policy with a binding.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PolicyDecision {
    pub(super) policy: String,
    pub(super) binding: String,
    pub(super) action: Action,
    /// Whether an error led to it, and not a validation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) failed: bool,
    pub(super) message: String,
}

impl PolicyDecision {
    /// The policy, the binding and the message.
    pub(super) fn names_and_message(&self) -> (&str, &str, &str) {
        (&self.policy, &self.binding, &self.message)
    }
}

/// The action that follows from a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Action {
    /// The request is denied.
    Deny,
    /// The user is warned.
    Warn,
    /// It is recorded in the audit log.
    Audit,
    /// An error that the failure policy ignores.
    Ignore,
}

/// Records the decisions of policies.
#[derive(Default)]
pub(super) struct Decisions(pub(super) Vec<PolicyDecision>);

impl PolicyObserver for Decisions {
    fn decided(&mut self, decision: &Decision<'_>) {
        self.0.push(PolicyDecision {
            policy: decision.policy.to_owned(),
            binding: decision.binding.to_owned(),
            action: match decision.effect {
                Effect::Deny => Action::Deny,
                Effect::Warn => Action::Warn,
                Effect::Audit => Action::Audit,
                Effect::Allow => Action::Ignore,
            },
            failed: decision.error != ErrorType::None,
            message: decision.message.to_owned(),
        });
    }
}
