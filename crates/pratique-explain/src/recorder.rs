//! Records the evaluation of policies.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pratique_cel::Value;
use pratique_cel::ast::ExprId;
use pratique_cel::value::Evaluation;
use pratique_policy::{self as policy, ExpressionId, PolicyTrace, TracedPolicy};

use crate::decisive::decisive;
use crate::explanation::{Binding, Explanation, Expression, InnerExpression, MatchOutcome, Policy, Round};
use crate::failure_help::help_for_failure;
use crate::format::format_value;
use crate::source::SourceExpression;

/// The maximum number of characters of the value of an expression.
const WHOLE: usize = 2_000;
/// The maximum number of characters of the value of a subexpression.
const INNER: usize = 60;

/// Records how policies evaluate one request. The chain of a facade may move between threads while it waits, and takes its
/// recorder along.
#[derive(Debug, Default)]
pub struct Recorder {
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

/// An expression that is being evaluated.
#[derive(Debug)]
struct OpenEvaluation {
    place: ExpressionId,
    text: String,
    observed: BTreeMap<ExprId, ObservedValue>,
}

/// The last value of a subexpression.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObservedValue {
    pub(crate) truth: Option<bool>,
    pub(crate) error: Option<String>,
    value: String,
    times: usize,
}

impl Recorder {
    /// An empty recorder.
    pub fn new() -> Self {
        Recorder::default()
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

impl PolicyTrace for Recorder {
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
            binding.rounds.push(Round {
                params,
                again,
                ..Round::default()
            });
        }
    }

    fn begin(&self, id: ExpressionId<&str>, text: &str) {
        self.state().open.push(OpenEvaluation {
            place: id.to_owned(),
            text: text.to_owned(),
            observed: BTreeMap::new(),
        });
    }

    fn value(&self, expression: ExprId, value: &Evaluation<'_>) {
        if let Some(open) = self.state().open.last_mut() {
            let observed = open.observed.entry(expression).or_default();
            *observed = ObservedValue {
                times: observed.times + 1,
                ..ObservedValue::new(value)
            };
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

impl OpenEvaluation {
    fn ended(self, result: &Evaluation<'_>, cost: u64) -> Expression {
        let source = SourceExpression::read(&self.text);
        let (inner, because) = match &source {
            Some(source) => (self.inner(source), decisive(source, &self.observed, result)),
            None => (Vec::new(), None),
        };
        let error = result.as_ref().err().map(ToString::to_string);
        Expression {
            place: self.place,
            name: None,
            location: None,
            text: self.text,
            value: result.as_ref().ok().map(|value| format_value(value, WHOLE)),
            help: error.as_deref().and_then(help_for_failure),
            error,
            left_out: Vec::new(),
            cost,
            because,
            inner,
        }
    }

    /// The values of the subexpressions that the author wrote, without constants.
    fn inner(&self, source: &SourceExpression) -> Vec<InnerExpression> {
        let reported = source.subexpressions().into_iter();
        let reported = reported.filter(|id| !source.is_literal(*id) && !self.is_propagated(source, *id));
        let inner = reported.filter_map(|id| {
            let observed = self.observed.get(&id)?;
            Some(InnerExpression {
                offset: source.anchor(id),
                text: source.print_part(id),
                value: observed.value.clone(),
                times: observed.times,
            })
        });
        let mut inner: Vec<InnerExpression> = inner.collect();
        inner.sort_by_key(|inner| inner.offset);
        inner
    }

    /// Whether a value is the error of a subexpression, which is reported there.
    fn is_propagated(&self, source: &SourceExpression, id: ExprId) -> bool {
        let error = |id: &ExprId| self.observed.get(id)?.error.as_ref();
        let message = error(&id);
        message.is_some() && source.children(id).iter().any(|child| error(child) == message)
    }
}

impl ObservedValue {
    fn new(value: &Evaluation<'_>) -> Self {
        match value {
            Ok(value) => ObservedValue {
                truth: match value {
                    Value::Bool(truth) => Some(*truth),
                    _ => None,
                },
                value: format_value(value, INNER),
                ..ObservedValue::default()
            },
            Err(fault) => ObservedValue {
                error: Some(fault.to_string()),
                value: format!("error: {fault}"),
                ..ObservedValue::default()
            },
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
