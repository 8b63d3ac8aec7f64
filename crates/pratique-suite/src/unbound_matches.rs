//! Detects tests that only policies without a binding match.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pratique_policy::{MatchOutcome, PolicyTrace, TracedPolicy};

use crate::case_error::CaseError;
use pratique_review::PolicyWithoutBinding;

/// Records which policies match a request, while all are evaluated as if bound.
pub(crate) struct UnboundMatches<'p> {
    unbound: &'p [PolicyWithoutBinding],
    state: Mutex<MatchState<'p>>,
}

#[derive(Default)]
struct MatchState<'p> {
    current: Option<&'p PolicyWithoutBinding>,
    /// Whether a bound policy matched, or matching failed.
    bound: bool,
    /// The policies without a binding that matched.
    matched: Vec<&'p PolicyWithoutBinding>,
}

impl<'p> UnboundMatches<'p> {
    pub(crate) fn new(unbound: &'p [PolicyWithoutBinding]) -> Self {
        UnboundMatches {
            unbound,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, MatchState<'p>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The error of a test whose request only policies without a binding match.
    pub(crate) fn error(&self) -> Option<CaseError> {
        let state = self.state();
        if state.bound || state.matched.is_empty() {
            return None;
        }
        let names = state.matched.iter().map(|policy| policy.name.clone());
        Some(CaseError::Unbound {
            policies: names.collect(),
        })
    }
}

impl PolicyTrace for UnboundMatches<'_> {
    fn policy(&self, subject: TracedPolicy<'_>, outcome: MatchOutcome<'_>) {
        let is = |unbound: &&PolicyWithoutBinding| {
            (unbound.phase, unbound.origin, unbound.name.as_str())
                == (subject.phase, subject.origin, subject.name)
        };
        let current = self.unbound.iter().find(is);
        let mut state = self.state();
        state.current = current;
        // A bound policy that cannot be evaluated reports that itself.
        if current.is_none() && matches!(outcome, MatchOutcome::Error(_) | MatchOutcome::Undecided(_)) {
            state.bound = true;
        }
    }

    fn binding(&self, _: &str, outcome: MatchOutcome<'_>) {
        let mut state = self.state();
        match (state.current, outcome) {
            (_, MatchOutcome::Mismatch(_) | MatchOutcome::Excluded) => {}
            (None, MatchOutcome::Match | MatchOutcome::Error(_) | MatchOutcome::Undecided(_)) => {
                state.bound = true;
            }
            (Some(policy), MatchOutcome::Match | MatchOutcome::Error(_) | MatchOutcome::Undecided(_)) => {
                if !state.matched.contains(&policy) {
                    state.matched.push(policy);
                }
            }
        }
    }
}
