//! The decisions of policies on a request.

use pratique::Outcome;
use pratique::policy::{Effect, ErrorType, FailedPart, IgnoredFailure, ObservedDecision, PolicyObserver};
use pratique_policy::StepResult;
use pratique_report::Action;
use serde::Serialize;

/// The decision of a policy with a binding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyDecision {
    /// The policy.
    pub policy: String,
    /// The binding.
    pub binding: String,
    /// What follows: nothing that is undecided or accepted, which others tell.
    pub action: Action,
    /// The place of the validation in the policy; `None` where something else led to it: an audit annotation, a match condition, a
    /// plugin.
    #[serde(skip)]
    pub validation: Option<usize>,
    /// Whether an error led to it, and not a validation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Whether it is the failure of a mutation or of a call, which the review has among its steps and its exchanges as well.
    #[serde(skip)]
    pub is_step: bool,
    /// The message.
    pub message: String,
}

impl PolicyDecision {
    /// The policy, the binding and the message.
    pub fn names_and_message(&self) -> (&str, &str, &str) {
        (&self.policy, &self.binding, &self.message)
    }
}

/// Records the decisions of policies.
#[derive(Debug, Default)]
pub struct DecisionRecorder(pub Vec<PolicyDecision>);

impl DecisionRecorder {
    /// Adds a decision that may be there already.
    pub(crate) fn push_once(&mut self, decision: PolicyDecision) {
        if !self.0.contains(&decision) {
            self.0.push(decision);
        }
    }
}

impl PolicyObserver for DecisionRecorder {
    fn decided(&mut self, decision: &ObservedDecision<'_>) {
        self.0.push(PolicyDecision {
            policy: decision.policy.to_owned(),
            binding: decision.binding.to_owned(),
            action: match decision.effect {
                Effect::Deny => Action::Deny,
                Effect::Warn => Action::Warn,
                Effect::Audit => Action::Audit,
                Effect::Allow => Action::Ignore,
            },
            validation: decision.validation,
            failed: decision.error != ErrorType::None,
            is_step: false,
            message: match decision.effect {
                Effect::Allow => ignored_error(decision),
                Effect::Deny | Effect::Warn | Effect::Audit => decision.message.to_owned(),
            },
        });
    }

    fn ignored(&mut self, failure: &IgnoredFailure) {
        let what = match failure.part {
            FailedPart::Configuration => "it".to_owned(),
            FailedPart::Conditions => FAILED_CONDITION.to_owned(),
            FailedPart::Annotation(index) => format!("auditAnnotations[{index}]"),
        };
        let binding = failure.binding.clone().unwrap_or_default();
        let decision = ignored_failure((failure.policy.clone(), binding), &what, &failure.error);
        // The second round of a chain may find the same.
        self.push_once(decision);
    }
}

/// The subject of what is told of match conditions that fail.
pub(crate) const FAILED_CONDITION: &str = "a match condition";

/// A failure of a policy or a webhook that its failure policy ignores, of which a server tells nobody.
pub(crate) fn ignored_failure(
    (policy, binding): (String, String),
    what: &str,
    error: &str,
) -> PolicyDecision {
    PolicyDecision {
        policy,
        binding,
        action: Action::Ignore,
        validation: None,
        failed: true,
        is_step: false,
        message: format!("{what} fails, which the failurePolicy ignores: {error}"),
    }
}

/// The mutations that failed though the request is allowed: the failure policies of their policies ignore that.
pub(crate) fn ignored_mutations(outcome: &Outcome) -> impl Iterator<Item = PolicyDecision> {
    let steps = outcome.mutations.iter().filter(|_| outcome.allowed());
    steps.filter_map(|step| match &step.result {
        StepResult::Failed(why) => {
            let names = (step.policy.clone(), step.binding.clone());
            let what = format!("mutations[{}]", step.mutation);
            Some(PolicyDecision {
                is_step: true,
                ..ignored_failure(names, &what, why)
            })
        }
        StepResult::Changed | StepResult::Unchanged => None,
    })
}

/// What there is to say of a validation that ends with an error which a failure policy ignores, or of all of them.
fn ignored_error(decision: &ObservedDecision<'_>) -> String {
    match decision.validation {
        Some(index) => format!(
            "validations[{index}] ends with an error, which the failurePolicy ignores: it refuses nothing"
        ),
        None => format!(
            "no validation refuses anything, as the policy fails, which the failurePolicy ignores: {}",
            decision.message
        ),
    }
}
