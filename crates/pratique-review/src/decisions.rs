//! The decisions of policies on a request.

use pratique::Outcome;
use pratique::policy::{Effect, ErrorType, ObservedDecision, PolicyObserver};
use pratique_policy::StepResult;
use serde::Serialize;

/// The decision of a policy with a binding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyDecision {
    /// The policy.
    pub policy: String,
    /// The binding.
    pub binding: String,
    /// What follows.
    pub action: PolicyAction,
    /// The place of the validation in the policy; `None` where an audit annotation or a plugin led to it.
    #[serde(skip)]
    pub validation: Option<usize>,
    /// Whether an error led to it, and not a validation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The message.
    pub message: String,
}

impl PolicyDecision {
    /// The policy, the binding and the message.
    pub fn names_and_message(&self) -> (&str, &str, &str) {
        (&self.policy, &self.binding, &self.message)
    }
}

/// The action that follows from a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyAction {
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
#[derive(Debug, Default)]
pub struct DecisionRecorder(pub Vec<PolicyDecision>);

impl PolicyObserver for DecisionRecorder {
    fn decided(&mut self, decision: &ObservedDecision<'_>) {
        self.0.push(PolicyDecision {
            policy: decision.policy.to_owned(),
            binding: decision.binding.to_owned(),
            action: match decision.effect {
                Effect::Deny => PolicyAction::Deny,
                Effect::Warn => PolicyAction::Warn,
                Effect::Audit => PolicyAction::Audit,
                Effect::Allow => PolicyAction::Ignore,
            },
            validation: decision.validation,
            failed: decision.error != ErrorType::None,
            message: match decision.effect {
                Effect::Allow => ignored_error(decision.validation),
                Effect::Deny | Effect::Warn | Effect::Audit => decision.message.to_owned(),
            },
        });
    }
}

/// The mutations that failed though the request is allowed: the failure policies of their policies ignore that.
pub(crate) fn ignored_mutations(outcome: &Outcome) -> impl Iterator<Item = PolicyDecision> {
    let steps = outcome.mutations.iter().filter(|_| outcome.allowed());
    steps.filter_map(|step| match &step.result {
        StepResult::Failed(why) => Some(PolicyDecision {
            policy: step.policy.clone(),
            binding: step.binding.clone(),
            action: PolicyAction::Ignore,
            validation: None,
            failed: true,
            message: format!(
                "mutations[{}] fails, which the failurePolicy ignores: {why}",
                step.mutation
            ),
        }),
        StepResult::Changed | StepResult::Unchanged => None,
    })
}

/// What there is to say of an error that a failure policy ignores, of which a server tells nobody.
fn ignored_error(validation: Option<usize>) -> String {
    let failed = match validation {
        Some(index) => format!("validations[{index}]"),
        None => "the policy".to_owned(),
    };
    format!("{failed} ends with an error, which the failurePolicy ignores: it refuses nothing")
}
