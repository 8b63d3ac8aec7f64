//! The policies or webhooks that mutating admission invokes again in its second round.

use std::collections::HashSet;
use std::hash::Hash;

/// The state kept from the first round of mutating admission to the second, by the keys of invocations.
///
/// An invocation whose policy or webhook wants to be reinvoked runs again when the object changed during or after it.
// Upstream: pkg/admission/plugin/policy/mutating/reinvocationcontext.go, policyReinvokeContext
// Upstream: pkg/admission/plugin/webhook/mutating/reinvocationcontext.go, webhookReinvokeContext
#[derive(Clone, Debug)]
pub struct Reinvocation<K> {
    second: bool,
    due: bool,
    /// Invoked, and not yet required.
    invoked: HashSet<K>,
    required: HashSet<K>,
}

impl<K> Default for Reinvocation<K> {
    fn default() -> Self {
        Reinvocation {
            second: false,
            due: false,
            invoked: HashSet::new(),
            required: HashSet::new(),
        }
    }
}

impl<K: Eq + Hash> Reinvocation<K> {
    /// Whether an invocation of the first round changed the object, so that a second round is due.
    pub fn is_due(&self) -> bool {
        self.due && !self.second
    }

    /// Begins the second round.
    pub fn begin_second(&mut self) {
        self.second = true;
    }

    /// Whether this is the second round.
    pub fn is_second(&self) -> bool {
        self.second
    }

    /// An invocation changed the object: the ones so far are required again.
    pub fn changed(&mut self) {
        self.due = true;
        self.require();
    }

    /// Others changed the object: the invocations so far are required again.
    pub fn require(&mut self) {
        self.required.extend(self.invoked.drain());
    }

    /// Whether an invocation runs in this round.
    pub fn runs(&self, invocation: &K) -> bool {
        !self.second || self.required.contains(invocation)
    }

    /// Remembers an invocation that wants to be reinvoked.
    pub fn remember(&mut self, invocation: K) {
        self.invoked.insert(invocation);
    }

    /// Whether changes by others matter: an invocation wants to be reinvoked, and is not required yet.
    pub fn awaits_changes(&self) -> bool {
        !self.invoked.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invocations_before_a_change_run_again() {
        let mut reinvocation = Reinvocation::default();
        assert!(reinvocation.runs(&"a"));
        reinvocation.remember("a");
        assert!(!reinvocation.is_due());
        reinvocation.changed();
        reinvocation.remember("b");
        assert!(reinvocation.is_due());
        reinvocation.begin_second();
        assert!(reinvocation.runs(&"a"));
        assert!(!reinvocation.runs(&"b"));
        assert!(!reinvocation.is_due());
        reinvocation.require();
        assert!(reinvocation.runs(&"b"));
    }
}
