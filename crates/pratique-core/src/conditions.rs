//! Combines the results of match conditions.

use pratique_expression::MissingDependency;
use pratique_types::aggregate;

use crate::evaluation::{EvaluationHalt, OUT_OF_BUDGET, UnfinishedEvaluation};

/// The combined result of the match conditions of a policy or a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionsOutcome {
    /// Whether the policy or webhook applies.
    pub matches: Result<bool, ConditionError>,
    /// How many conditions failed before the first false one.
    pub errors: usize,
    /// The error because of which it does not apply, where failures are ignored. The text is an API server's, which tells it to
    /// nobody.
    pub ignored: Option<String>,
}

/// Why match conditions do not decide whether a policy or webhook applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionError {
    /// Conditions failed, and failures are not ignored. The text is an API server's.
    Failed(String),
    /// They depend on missing input.
    Undecided(Box<MissingDependency>),
}

/// How errors of match conditions are handled, where no condition is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConditionError {
    /// An error.
    Fail,
    /// The policy or webhook does not apply.
    Exclude,
    /// The policy or webhook applies.
    Match,
}

impl ConditionsOutcome {
    /// The error with which the request is refused.
    pub fn failure(&self) -> Option<&str> {
        match &self.matches {
            Err(ConditionError::Failed(error)) => Some(error),
            _ => None,
        }
    }
}

/// Combines the results of match conditions, in their order: booleans, error messages, or why there is neither.
///
/// One false condition outweighs errors, and conditions that depend on missing input. All conditions are evaluated even
/// after a false one, because they share one budget.
///
/// # Errors
/// An evaluation was not finished.
// Upstream: pkg/admission/plugin/webhook/matchconditions/matcher.go, Match
pub fn evaluate_conditions(
    results: impl IntoIterator<Item = Result<Result<bool, String>, EvaluationHalt>>,
    on_error: OnConditionError,
) -> Result<ConditionsOutcome, UnfinishedEvaluation> {
    let mut messages: Vec<String> = Vec::new();
    let (mut is_false, mut pending, mut undecided, mut errors) = (false, false, None, 0);
    for result in results {
        match result {
            Ok(Ok(true)) => {}
            Ok(Ok(false)) => is_false = true,
            Ok(Err(message)) => {
                errors += usize::from(!is_false);
                messages.push(message);
            }
            Err(EvaluationHalt::Unfinished(UnfinishedEvaluation::Pending)) => pending = true,
            Err(EvaluationHalt::Unfinished(unfinished)) => return Err(unfinished),
            Err(EvaluationHalt::Undecided(missing)) => undecided = undecided.or(Some(missing)),
            Err(EvaluationHalt::OutOfBudget) if pending => break,
            Err(EvaluationHalt::OutOfBudget) => {
                return Ok(ConditionsOutcome {
                    matches: on_error.outcome(|| OUT_OF_BUDGET.to_owned()),
                    errors: 0,
                    ignored: (on_error == OnConditionError::Exclude).then(|| OUT_OF_BUDGET.to_owned()),
                });
            }
        }
    }
    if pending {
        return Err(UnfinishedEvaluation::Pending);
    }
    let is_ignored = !is_false && on_error == OnConditionError::Exclude && !messages.is_empty();
    let ignored = is_ignored.then(|| aggregate(&messages));
    let matches = match (messages.as_slice(), undecided) {
        _ if is_false || is_ignored => Ok(false),
        (_, Some(missing)) => Err(ConditionError::Undecided(missing)),
        ([], None) => Ok(true),
        (messages, None) => on_error.outcome(|| aggregate(messages)),
    };
    Ok(ConditionsOutcome {
        matches,
        errors,
        ignored,
    })
}

impl OnConditionError {
    fn outcome(self, message: impl FnOnce() -> String) -> Result<bool, ConditionError> {
        match self {
            OnConditionError::Fail => Err(ConditionError::Failed(message())),
            OnConditionError::Exclude => Ok(false),
            OnConditionError::Match => Ok(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Condition = Result<Result<bool, String>, EvaluationHalt>;

    fn failed(message: &str) -> Condition {
        Ok(Err(message.to_owned()))
    }

    #[track_caller]
    fn check(
        conditions: Vec<Condition>,
        on_error: OnConditionError,
        expected: Result<bool, &str>,
        errors: usize,
    ) {
        let outcome = evaluate_conditions(conditions, on_error).unwrap();
        let matches = match &outcome.matches {
            Ok(matches) => Ok(*matches),
            Err(_) => Err(outcome.failure().unwrap()),
        };
        assert_eq!((matches, outcome.errors), (expected, errors));
    }

    #[test]
    fn false_outweighs_errors() {
        let conditions = || vec![failed("a"), Ok(Ok(false)), failed("b")];
        check(conditions(), OnConditionError::Fail, Ok(false), 1);
        check(conditions(), OnConditionError::Match, Ok(false), 1);
    }

    #[test]
    fn the_failure_policy_decides_about_errors() {
        let conditions = || vec![failed("a"), Ok(Ok(true)), failed("b"), failed("a")];
        check(conditions(), OnConditionError::Fail, Err("[a, b]"), 3);
        check(conditions(), OnConditionError::Exclude, Ok(false), 3);
        check(conditions(), OnConditionError::Match, Ok(true), 3);
        check(vec![failed("a")], OnConditionError::Fail, Err("a"), 1);
        let spent = || vec![failed("a"), Err(EvaluationHalt::OutOfBudget)];
        check(spent(), OnConditionError::Fail, Err(OUT_OF_BUDGET), 0);
        check(spent(), OnConditionError::Exclude, Ok(false), 0);
    }

    #[test]
    fn what_is_ignored_is_told() {
        let ignored =
            |conditions: Vec<Condition>, on_error| evaluate_conditions(conditions, on_error).unwrap().ignored;
        let failures = || vec![failed("a"), Ok(Ok(true)), failed("b")];
        let spent = || vec![Err(EvaluationHalt::OutOfBudget)];
        assert_eq!(
            ignored(failures(), OnConditionError::Exclude).as_deref(),
            Some("[a, b]")
        );
        assert_eq!(
            ignored(spent(), OnConditionError::Exclude).as_deref(),
            Some(OUT_OF_BUDGET)
        );
        for on_error in [OnConditionError::Fail, OnConditionError::Match] {
            assert_eq!(ignored(failures(), on_error), None);
            assert_eq!(ignored(spent(), on_error), None);
        }
        // A false condition excludes by itself.
        let excluded = vec![failed("a"), Ok(Ok(false))];
        assert_eq!(ignored(excluded, OnConditionError::Exclude), None);
    }

    #[test]
    fn what_is_not_known_waits() {
        let pending = || Err(EvaluationHalt::Unfinished(UnfinishedEvaluation::Pending));
        let outcome = evaluate_conditions([pending(), Ok(Ok(false))], OnConditionError::Fail);
        assert_eq!(outcome, Err(UnfinishedEvaluation::Pending));
        let missing = || {
            let missing = MissingDependency::Params {
                kind: "v1/ConfigMap".to_owned(),
                namespace: String::new(),
                name: None,
            };
            Err(EvaluationHalt::Undecided(Box::new(missing)))
        };
        check(
            vec![missing(), Ok(Ok(false))],
            OnConditionError::Fail,
            Ok(false),
            0,
        );
        check(
            vec![missing(), failed("a")],
            OnConditionError::Exclude,
            Ok(false),
            1,
        );
        let outcome = evaluate_conditions([missing(), failed("a")], OnConditionError::Fail).unwrap();
        assert!(matches!(outcome.matches, Err(ConditionError::Undecided(_))));
    }
}
