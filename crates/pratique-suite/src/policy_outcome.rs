//! The outcome of a request in each policy and binding.

use std::collections::BTreeMap;

use pratique::manifest::{Kind, ManifestSet};
use pratique::policy::{
    self, AdmissionPhase, Effect, ErrorType, MutationAttempt, PolicyObserver, StepResult, UndecidedDecision,
};
use pratique::{AdmissionDecision, Outcome};
use pratique_explain::{Binding, Explanation, ExplanationRound, ExpressionId, MatchOutcome};
use serde::{Deserialize, Serialize};

/// The outcome of a request in a policy or a binding. Of several, the last in this order counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyOutcome {
    /// It does not match the request, a match condition is false, or there is no param.
    Skipped,
    /// It was evaluated, and nothing followed.
    Allowed,
    /// It failed, which its failure policy ignores.
    Ignored,
    /// It changed the object.
    Mutated,
    /// A validation was false, which the audit log records.
    Audited,
    /// A validation was false, of which the user is warned.
    Warned,
    /// Its decision depends on something that the test does not give.
    Undecided,
    /// It failed, and its failure policy denies.
    Error,
    /// A validation was false, and denies.
    Denied,
}

impl PolicyOutcome {
    /// The names of all outcomes in suites, in their order.
    pub(crate) const NAMES: &[&str] = &[
        "skipped",
        "allowed",
        "ignored",
        "mutated",
        "audited",
        "warned",
        "undecided",
        "error",
        "denied",
    ];

    /// The name in suites.
    pub fn name(self) -> &'static str {
        Self::NAMES.get(self as usize).copied().unwrap_or_default()
    }
}

/// The outcome of a request in each policy and each binding, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PolicyOutcomes {
    /// By policy.
    pub policies: BTreeMap<String, PolicyOutcome>,
    /// By binding.
    pub bindings: BTreeMap<String, PolicyOutcome>,
    /// The messages of the validations that deny, and of errors.
    pub denials: Vec<String>,
}

/// Records what policies decide.
#[derive(Debug, Default)]
pub(crate) struct DecisionRecorder {
    /// The policy, the binding, and what followed.
    decided: Vec<(String, String, PolicyOutcome)>,
    denials: Vec<String>,
    undecided: Vec<(String, Option<String>)>,
    failed: Vec<(String, String)>,
}

impl PolicyObserver for DecisionRecorder {
    fn decided(&mut self, decision: &policy::ObservedDecision<'_>) {
        let outcome = match (decision.effect, decision.error) {
            (Effect::Deny, ErrorType::None) => PolicyOutcome::Denied,
            (Effect::Deny, _) => PolicyOutcome::Error,
            (Effect::Warn, _) => PolicyOutcome::Warned,
            (Effect::Audit, _) => PolicyOutcome::Audited,
            (Effect::Allow, _) => PolicyOutcome::Ignored,
        };
        if matches!(outcome, PolicyOutcome::Denied | PolicyOutcome::Error) {
            self.denials.push(decision.message.to_owned());
        }
        let (policy, binding) = (decision.policy.to_owned(), decision.binding.to_owned());
        self.decided.push((policy, binding, outcome));
    }

    fn mutating(&mut self, mutating: &MutationAttempt<'_>) {
        if mutating.error != ErrorType::None {
            self.failed
                .push((mutating.policy.to_owned(), mutating.binding.to_owned()));
        }
    }

    fn undecided(&mut self, undecided: &UndecidedDecision) {
        self.undecided
            .push((undecided.name.clone(), undecided.binding.clone()));
    }
}

impl PolicyOutcomes {
    /// The outcomes of an evaluation that was observed.
    pub(crate) fn new(outcome: &Outcome, explanation: &Explanation, recorded: &DecisionRecorder) -> Self {
        let mut outcomes = PolicyOutcomes {
            denials: recorded.denials.clone(),
            ..PolicyOutcomes::default()
        };
        for policy in &explanation.policies {
            outcomes.add(&policy.name, None, PolicyOutcome::Skipped);
            for binding in &policy.bindings {
                let evaluated = if is_evaluated(policy.phase, binding) {
                    PolicyOutcome::Allowed
                } else {
                    PolicyOutcome::Skipped
                };
                outcomes.add(&policy.name, Some(&binding.name), evaluated);
            }
        }
        for step in outcome.mutations.iter().filter(|step| is_change(&step.result)) {
            outcomes.add(&step.policy, Some(&step.binding), PolicyOutcome::Mutated);
        }
        let denied = outcome.decision() == AdmissionDecision::Denied;
        for (policy, binding) in &recorded.failed {
            // The first mutation that fails and denies ends the request.
            let status = outcome.status.as_ref().filter(|_| denied);
            let names = format!("policy '{policy}' with binding '{binding}' denied request");
            let failed = if status.is_some_and(|status| status.message.contains(&names)) {
                PolicyOutcome::Error
            } else {
                PolicyOutcome::Ignored
            };
            outcomes.add(policy, Some(binding), failed);
        }
        for (policy, binding, decided) in &recorded.decided {
            outcomes.add(policy, Some(binding), *decided);
        }
        for (policy, binding) in &recorded.undecided {
            outcomes.add(policy, binding.as_deref(), PolicyOutcome::Undecided);
        }
        outcomes
    }

    /// Adds the policies and bindings of a set that did not take part in the evaluation.
    pub(crate) fn complete<'s>(&mut self, sets: impl IntoIterator<Item = &'s ManifestSet>) {
        for object in sets.into_iter().flat_map(ManifestSet::objects) {
            match object.kind {
                Kind::ValidatingAdmissionPolicy | Kind::MutatingAdmissionPolicy => {
                    self.add(object.name, None, PolicyOutcome::Skipped);
                }
                Kind::ValidatingAdmissionPolicyBinding | Kind::MutatingAdmissionPolicyBinding => {
                    let binding = self.bindings.entry(object.name.to_owned());
                    binding.or_insert(PolicyOutcome::Skipped);
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, policy: &str, binding: Option<&str>, outcome: PolicyOutcome) {
        let raise = |current: &mut PolicyOutcome| *current = outcome.max(*current);
        raise(
            self.policies
                .entry(policy.to_owned())
                .or_insert(PolicyOutcome::Skipped),
        );
        if let Some(binding) = binding.filter(|binding| !binding.is_empty()) {
            raise(
                self.bindings
                    .entry(binding.to_owned())
                    .or_insert(PolicyOutcome::Skipped),
            );
        }
    }
}

/// Whether a binding matches, and its policy was evaluated past its match conditions.
fn is_evaluated(phase: AdmissionPhase, binding: &Binding) -> bool {
    let passes = |round: &ExplanationRound| {
        let is_false = |place: &ExpressionId, value: &Option<String>| {
            matches!(place, ExpressionId::Condition(_)) && value.as_deref() == Some("false")
        };
        let mut expressions = round.expressions.iter();
        !expressions.any(|expression| is_false(&expression.place, &expression.value))
    };
    // A mutating policy that is never reached has no round.
    let reached = phase == AdmissionPhase::Validating || !binding.rounds.is_empty();
    reached && binding.match_outcome == MatchOutcome::Yes && binding.rounds.iter().any(passes)
}

fn is_change(result: &StepResult) -> bool {
    *result == StepResult::Changed
}
