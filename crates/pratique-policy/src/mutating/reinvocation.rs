//! Which policies have a second turn.

use std::collections::HashSet;

/// What is remembered from the first turn of the mutating policies to the second.
///
/// A policy that wants to be reinvoked has a second turn when it, or anything after it, changed the object.
#[derive(Clone, Debug, Default)]
pub struct Reinvocation {
    second: bool,
    due: bool,
    /// Invoked, and not yet due.
    invoked: HashSet<Invocation>,
    again: HashSet<Invocation>,
}

/// A policy with a binding and a param.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Invocation {
    pub(crate) policy: String,
    pub(crate) binding: String,
    /// Namespace and name.
    pub(crate) param: Option<(String, String)>,
}

impl Reinvocation {
    /// Whether a second turn is due, once the first is over.
    pub fn is_due(&self) -> bool {
        self.due && !self.second
    }

    /// Begins the second turn. `changed` is whether anything but these policies changed the object since their turn.
    pub fn begin_second(&mut self, changed: bool) {
        self.second = true;
        if changed {
            self.require();
        }
    }

    /// The object changed.
    pub fn require(&mut self) {
        self.due = true;
        self.again.extend(self.invoked.drain());
    }

    /// Whether this is the second turn.
    pub(crate) fn is_second(&self) -> bool {
        self.second
    }

    /// Whether an invocation has a turn now.
    pub(crate) fn has_turn(&self, invocation: &Invocation) -> bool {
        !self.second || self.again.contains(invocation)
    }

    /// Remembers an invocation that wants a second turn.
    pub(crate) fn remember(&mut self, invocation: Invocation) {
        self.invoked.insert(invocation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invocation(policy: &str) -> Invocation {
        Invocation {
            policy: policy.to_owned(),
            binding: "b".to_owned(),
            param: None,
        }
    }

    #[test]
    fn those_before_a_change_have_a_second_turn() {
        let mut turns = Reinvocation::default();
        assert!(turns.has_turn(&invocation("a")));
        turns.remember(invocation("a"));
        assert!(!turns.is_due());
        turns.require();
        turns.remember(invocation("b"));
        assert!(turns.is_due());
        turns.begin_second(false);
        assert!(turns.has_turn(&invocation("a")));
        assert!(!turns.has_turn(&invocation("b")));
        assert!(!turns.is_due());
    }
}
