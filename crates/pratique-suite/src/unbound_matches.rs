//! Detects tests that only policies without a binding match.

use std::cell::{Cell, RefCell};

use pratique_policy::{MatchOutcome, Subject, Trace};

use crate::unbound::Unbound;

/// Records which policies match a request, while all are evaluated as if bound.
pub(crate) struct UnboundMatches<'p> {
    unbound: &'p [Unbound],
    current: Cell<Option<&'p Unbound>>,
    /// Whether a bound policy matched, or matching failed.
    bound: Cell<bool>,
    /// The policies without a binding that matched.
    matched: RefCell<Vec<&'p Unbound>>,
}

impl<'p> UnboundMatches<'p> {
    pub(crate) fn new(unbound: &'p [Unbound]) -> Self {
        UnboundMatches {
            unbound,
            current: Cell::new(None),
            bound: Cell::new(false),
            matched: RefCell::default(),
        }
    }

    /// The error of a test whose request only policies without a binding match.
    pub(crate) fn error(&self) -> Option<String> {
        let matched = self.matched.borrow();
        if self.bound.get() || matched.is_empty() {
            return None;
        }
        let names: Vec<String> = matched
            .iter()
            .map(|policy| format!("{:?}", policy.name))
            .collect();
        let (policies, they) = match names.len() {
            1 => ("policy", "it"),
            _ => ("policies", "them"),
        };
        Some(format!(
            "not evaluated: no binding names the {policies} {}: add one, or have {they} evaluated as if bound, with --bind \
             or `bind: true` in the suite",
            names.join(", ")
        ))
    }
}

impl Trace for UnboundMatches<'_> {
    fn policy(&self, subject: Subject<'_>, met: MatchOutcome<'_>) {
        let is = |unbound: &&Unbound| {
            (unbound.phase, unbound.origin, unbound.name.as_str())
                == (subject.phase, subject.origin, subject.name)
        };
        let current = self.unbound.iter().find(is);
        self.current.set(current);
        // A bound policy that cannot be evaluated reports that itself.
        if current.is_none() && matches!(met, MatchOutcome::Error(_) | MatchOutcome::Undecided(_)) {
            self.bound.set(true);
        }
    }

    fn binding(&self, _: &str, met: MatchOutcome<'_>) {
        match (self.current.get(), met) {
            (_, MatchOutcome::Mismatch(_) | MatchOutcome::Excluded) => {}
            (None, MatchOutcome::Match | MatchOutcome::Error(_) | MatchOutcome::Undecided(_)) => {
                self.bound.set(true)
            }
            (Some(policy), MatchOutcome::Match | MatchOutcome::Error(_) | MatchOutcome::Undecided(_)) => {
                let mut matched = self.matched.borrow_mut();
                if !matched.contains(&policy) {
                    matched.push(policy);
                }
            }
        }
    }
}
