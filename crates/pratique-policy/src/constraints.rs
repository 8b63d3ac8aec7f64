//! Constraints that policies and bindings share, so that a request is matched with them once.

use std::sync::{Arc, Mutex, PoisonError};

use pratique_cel::internal::InternedValues;
use pratique_match::MatchResources;

/// The constraints in use, each once. Handed on from a set of policies to the one that takes its place.
#[derive(Debug, Default)]
pub(crate) struct SharedConstraints(Mutex<InternedValues<MatchResources>>);

impl SharedConstraints {
    /// The shared constraints that equal these.
    pub(crate) fn shared(&self, constraints: MatchResources) -> Arc<MatchResources> {
        // The set is consistent even after a panic: entries are added by single steps.
        let mut interned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        interned.shared(Arc::new(constraints))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_constraints_are_kept_once_and_not_for_longer_than_needed() {
        let constraints = SharedConstraints::default();
        let make = || MatchResources::compile(None);
        let first = constraints.shared(make());
        assert!(Arc::ptr_eq(&first, &constraints.shared(make())));
        let gone = Arc::downgrade(&first);
        drop(first);
        for index in 0..100 {
            let text = format!(r#"{{"excludeResourceRules":[{{"resources":["r{index}"]}}]}}"#);
            let other = serde_json::from_str(&text).unwrap();
            constraints.shared(MatchResources::compile(Some(&other)));
        }
        assert!(gone.upgrade().is_none());
    }
}
