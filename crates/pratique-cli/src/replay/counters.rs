//! Counts by key.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Counts by key, in the order of the keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct KeyedCounters<K: Ord>(BTreeMap<K, u64>);

impl<K: Ord> Default for KeyedCounters<K> {
    fn default() -> Self {
        KeyedCounters(BTreeMap::new())
    }
}

impl<K: Ord> KeyedCounters<K> {
    /// Counts one more of a key.
    pub(crate) fn add(&mut self, key: K) {
        let count = self.0.entry(key).or_default();
        *count = count.saturating_add(1);
    }

    /// The count of a key.
    pub(crate) fn count_of(&self, key: &K) -> u64 {
        self.0.get(key).copied().unwrap_or_default()
    }

    /// The sum of all counts.
    pub(crate) fn total(&self) -> u64 {
        self.0.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The keys with their counts.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, u64)> {
        self.0.iter().map(|(key, count)| (key, *count))
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
