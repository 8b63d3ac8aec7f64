//! Records coverage.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pratique_cel::Value;
use pratique_cel::ast::ExprId;
use pratique_cel::value::Evaluation;
use pratique_policy::{ExpressionId, MatchOutcome, PolicyTrace, TracedPolicy};

use super::points::{ExpressionPoints, PolicyPoints};

/// Records the coverage of a suite's policies while they are evaluated.
#[derive(Debug)]
pub struct CoverageRecorder<'c> {
    /// The policies of the suite.
    policies: Vec<&'c PolicyPoints>,
    position: Mutex<RecorderPosition<'c>>,
}

/// The policy and the expressions under evaluation.
#[derive(Debug, Default)]
struct RecorderPosition<'c> {
    policy: Option<&'c PolicyPoints>,
    /// The stack of expressions under evaluation.
    open: Vec<Option<&'c ExpressionPoints>>,
}

impl<'c> CoverageRecorder<'c> {
    pub(super) fn new(all: &'c [PolicyPoints], places: Vec<usize>) -> Self {
        CoverageRecorder {
            policies: places.into_iter().filter_map(|place| all.get(place)).collect(),
            position: Mutex::default(),
        }
    }

    fn position(&self) -> MutexGuard<'_, RecorderPosition<'c>> {
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PolicyTrace for CoverageRecorder<'_> {
    fn policy(&self, subject: TracedPolicy<'_>, outcome: MatchOutcome<'_>) {
        let is = |policy: &&&PolicyPoints| {
            (policy.phase, policy.origin, policy.name.as_str())
                == (subject.phase, subject.origin, subject.name)
        };
        let policy = self.policies.iter().find(is).copied();
        self.position().policy = policy;
        if let Some(policy) = policy.filter(|_| outcome == MatchOutcome::Match) {
            policy.matched.set();
        }
    }

    fn binding(&self, binding: &str, outcome: MatchOutcome<'_>) {
        let bindings = self.position().policy.map(|policy| policy.bindings.iter());
        let covered_binding = bindings.into_iter().flatten().find(|other| other.name == binding);
        if let Some(covered_binding) = covered_binding.filter(|_| outcome == MatchOutcome::Match) {
            covered_binding.matched.set();
        }
    }

    fn begin(&self, id: ExpressionId<&str>, _: &str) {
        let place = id.to_owned();
        let mut position = self.position();
        let expressions = position.policy.map(|policy| policy.expressions.iter());
        // Of two variables with the same name, expressions read the later.
        let point = expressions.and_then(|mut points| points.rfind(|point| point.place == place));
        if let Some(evaluated) = point.and_then(|point| point.evaluated.as_ref()) {
            evaluated.set();
        }
        position.open.push(point);
    }

    fn value(&self, expression: ExprId, value: &Evaluation<'_>) {
        let Ok(Value::Bool(value)) = value else {
            return;
        };
        let position = self.position();
        let outcomes = position
            .open
            .last()
            .copied()
            .flatten()
            .map(|point| point.outcomes.iter());
        for outcome in outcomes.into_iter().flatten() {
            if outcome.id == expression && outcome.wanted == *value {
                outcome.covered.set();
            }
        }
    }

    fn end(&self, _: &Evaluation<'_>, _: u64) {
        self.position().open.pop();
    }
}
