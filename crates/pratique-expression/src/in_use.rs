//! What is in use somewhere, so that equal things are made once.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Weak};

/// Things in use somewhere, by what makes them equal. What nobody uses any more is dropped.
#[derive(Debug)]
pub(crate) struct InUse<K, T> {
    known: HashMap<K, Weak<T>>,
    /// At how many entries to look for dead ones.
    sweep_at: usize,
}

impl<K, T> Default for InUse<K, T> {
    fn default() -> Self {
        InUse {
            known: HashMap::new(),
            sweep_at: 0,
        }
    }
}

impl<K: Eq + Hash, T> InUse<K, T> {
    /// The one of a key, if somebody uses it.
    pub(crate) fn get(&self, key: &K) -> Option<Arc<T>> {
        self.known.get(key).and_then(Weak::upgrade)
    }

    /// Notes one for as long as somebody uses it.
    pub(crate) fn insert(&mut self, key: K, one: &Arc<T>) {
        if self.known.len() >= self.sweep_at {
            self.known.retain(|_, one| one.strong_count() > 0);
            self.sweep_at = 2 * self.known.len() + 64;
        }
        self.known.insert(key, Arc::downgrade(one));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_uses_is_dropped() {
        let mut known = InUse::default();
        let used = Arc::new(-1);
        known.insert(-1, &used);
        for key in 0..1_000 {
            known.insert(key, &Arc::new(key));
            assert!(known.get(&key).is_none());
        }
        assert!(known.known.len() < 200, "{}", known.known.len());
        assert_eq!(known.get(&-1), Some(used));
    }
}
