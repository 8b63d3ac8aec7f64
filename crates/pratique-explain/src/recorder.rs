//! Records the evaluation of policies.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pratique_cel::ast::ExprId;
use pratique_cel::value::Evaluation;
use pratique_cel::{EvaluationObserver as _, Value};
use pratique_policy::{self as policy, ExpressionId, PolicyTrace, TracedPolicy};

use crate::explanation::{Binding, Explanation, ExplanationRound, Expression, MatchOutcome, Policy};
use crate::failure_help::help_for_failure;
use crate::open_evaluation::OpenEvaluation;

/// Records how policies evaluate one request. The chain of a facade may move between threads while it waits, and takes its
/// recorder along.
#[derive(Debug, Default)]
pub struct ExplanationRecorder {
    state: Mutex<RecorderState>,
}

#[derive(Debug, Default)]
struct RecorderState {
    policies: Vec<Policy>,
    /// The indices of the current policy and binding.
    current: (usize, usize),
    /// The stack of expressions under evaluation: an expression waits for the variables that it reads.
    open: Vec<OpenEvaluation>,
}

impl ExplanationRecorder {
    /// An empty recorder.
    pub fn new() -> Self {
        ExplanationRecorder::default()
    }

    /// The explanation of everything that was recorded.
    pub fn explanation(self) -> Explanation {
        let mut policies = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .policies;
        let bindings = policies.iter_mut().flat_map(|policy| &mut policy.bindings);
        for binding in bindings {
            // Policies that are not reinvoked begin an empty second round.
            binding
                .rounds
                .retain(|round| !round.again || !round.expressions.is_empty());
        }
        Explanation { policies }
    }

    /// The state of a thread that panicked is still complete enough to be shown.
    fn state(&self) -> MutexGuard<'_, RecorderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PolicyTrace for ExplanationRecorder {
    fn policy(&self, policy: TracedPolicy<'_>, outcome: policy::MatchOutcome<'_>) {
        let mut state = self.state();
        // All mutating policies are matched before the first of them is evaluated.
        let known = state.policies.iter().position(|recorded| {
            (recorded.phase, recorded.origin, recorded.name.as_str())
                == (policy.phase, policy.origin, policy.name)
        });
        state.current.0 = known.unwrap_or(state.policies.len());
        if known.is_none() {
            state.policies.push(Policy {
                phase: policy.phase,
                origin: policy.origin,
                name: policy.name.to_owned(),
                location: None,
                drawn_location: None,
                match_outcome: match_outcome(outcome),
                bindings: Vec::new(),
            });
        }
    }

    fn binding(&self, binding: &str, outcome: policy::MatchOutcome<'_>) {
        let mut state = self.state();
        let Some(policy) = state.policy() else {
            return;
        };
        let known = policy
            .bindings
            .iter()
            .position(|recorded| recorded.name == binding);
        let place = known.unwrap_or(policy.bindings.len());
        if known.is_none() {
            policy.bindings.push(Binding {
                name: binding.to_owned(),
                match_outcome: match_outcome(outcome),
                rounds: Vec::new(),
            });
        }
        state.current.1 = place;
    }

    fn round(&self, params: &Value<'_>) {
        let params = name_of(params);
        let mut state = self.state();
        if let Some(binding) = state.binding() {
            let again = binding.rounds.iter().any(|round| round.params == params);
            binding.rounds.push(ExplanationRound {
                params,
                again,
                ..ExplanationRound::default()
            });
        }
    }

    fn begin(&self, id: ExpressionId<&str>, text: &str) {
        self.state().open.push(OpenEvaluation::new(id.to_owned(), text));
    }

    fn value(&self, expression: ExprId, value: &Evaluation<'_>) {
        if let Some(open) = self.state().open.last_mut() {
            open.observe(expression, value);
        }
    }

    fn end(&self, result: &Evaluation<'_>, cost: u64) {
        let mut state = self.state();
        if let Some(open) = state.open.pop() {
            state.take(open.ended(result, cost));
        }
    }

    fn exhausted(&self) {
        if let Some(round) = self
            .state()
            .binding()
            .and_then(|binding| binding.rounds.last_mut())
        {
            round.exhausted = true;
        }
    }

    fn left_out(&self, fields: &[String]) {
        let mut state = self.state();
        let round = state.binding().and_then(|binding| binding.rounds.last_mut());
        if let Some(mutation) = round.and_then(|round| round.expressions.last_mut()) {
            mutation.left_out = fields.to_vec();
        }
    }

    fn broken(&self, id: ExpressionId<&str>, error: &str) {
        self.state().take(Expression {
            place: id.to_owned(),
            name: None,
            location: None,
            text: String::new(),
            value: None,
            error: Some(error.to_owned()),
            help: help_for_failure(error),
            left_out: Vec::new(),
            cost: 0,
            because: None,
            inner: Vec::new(),
            drawing: None,
        });
    }
}

impl RecorderState {
    fn policy(&mut self) -> Option<&mut Policy> {
        self.policies.get_mut(self.current.0)
    }

    fn binding(&mut self) -> Option<&mut Binding> {
        let place = self.current.1;
        self.policy()?.bindings.get_mut(place)
    }

    /// Adds an expression, except for a variable with the same value as before.
    fn take(&mut self, expression: Expression) {
        let Some(round) = self.binding().and_then(|binding| binding.rounds.last_mut()) else {
            return;
        };
        round.cost = round.cost.saturating_add(expression.cost);
        let repeated =
            matches!(expression.place, ExpressionId::Variable(_)) && round.expressions.contains(&expression);
        if !repeated {
            round.expressions.push(expression);
        }
    }
}

fn match_outcome(outcome: policy::MatchOutcome<'_>) -> MatchOutcome {
    match outcome {
        policy::MatchOutcome::Match => MatchOutcome::Yes,
        policy::MatchOutcome::Mismatch(mismatch) => MatchOutcome::No(mismatch.to_string()),
        policy::MatchOutcome::Excluded => {
            MatchOutcome::No("policies of this origin are not evaluated for this resource".to_owned())
        }
        policy::MatchOutcome::Undecided(missing) => MatchOutcome::Undecided(missing.to_string()),
        policy::MatchOutcome::Error(error) => MatchOutcome::Failed(error.to_owned()),
    }
}

/// The namespace and name of an object.
fn name_of(params: &Value<'_>) -> Option<String> {
    let Value::Map(params) = params else {
        return None;
    };
    let Some(Value::Map(metadata)) = params.get_str("metadata") else {
        return Some(String::new());
    };
    let text = |field: &str| match metadata.get_str(field) {
        Some(Value::String(text)) => text.to_owned(),
        _ => String::new(),
    };
    let (namespace, name) = (text("namespace"), text("name"));
    Some(match namespace.as_str() {
        "" => name,
        _ => format!("{namespace}/{name}"),
    })
}
