//! A map that does not own its values, so that equal values are made once.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Weak};

/// A map of values that are in use elsewhere. Entries whose value was dropped are removed from time to time.
#[derive(Debug)]
pub(crate) struct WeakMap<K, T> {
    known: HashMap<K, Weak<T>>,
    /// The number of entries at which dead ones are removed.
    sweep_at: usize,
}

impl<K, T> Default for WeakMap<K, T> {
    fn default() -> Self {
        WeakMap {
            known: HashMap::new(),
            sweep_at: 0,
        }
    }
}

impl<K: Eq + Hash, T> WeakMap<K, T> {
    /// The value of a key, if it is still in use.
    pub(crate) fn get(&self, key: &K) -> Option<Arc<T>> {
        self.known.get(key).and_then(Weak::upgrade)
    }

    /// Adds a value for as long as it is in use.
    pub(crate) fn insert(&mut self, key: K, value: &Arc<T>) {
        if self.known.len() >= self.sweep_at {
            self.known.retain(|_, value| value.strong_count() > 0);
            self.sweep_at = 2 * self.known.len() + 64;
        }
        self.known.insert(key, Arc::downgrade(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_values_are_dropped() {
        let mut known = WeakMap::default();
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
