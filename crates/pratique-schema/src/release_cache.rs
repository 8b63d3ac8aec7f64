//! What is made of releases: environments of expressions, tables, validators.

use std::sync::{Mutex, PoisonError};

/// Values that are made once and kept, by a release and what else decides about them. A process asks about few: there are no more of
/// them than servers that it stands for.
///
/// ```
/// use pratique_schema::{Release, ReleaseCache};
///
/// static NAMES: ReleaseCache<&Release, String> = ReleaseCache::new();
/// let name = || NAMES.get_or_make(Release::latest(), || Release::latest().to_string());
/// assert_eq!(name(), name());
/// ```
#[derive(Debug)]
pub struct ReleaseCache<K, V>(Mutex<Vec<(K, V)>>);

impl<K: PartialEq, V: Clone> ReleaseCache<K, V> {
    /// Nothing that was made.
    pub const fn new() -> Self {
        ReleaseCache(Mutex::new(Vec::new()))
    }

    /// The value of a key; others wait while it is made.
    pub fn get_or_make(&self, key: K, make: impl FnOnce() -> V) -> V {
        // A thread that panicked leaves the list valid: entries are only added.
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value)) = entries.iter().find(|(known, _)| *known == key) {
            return value.clone();
        }
        let value = make();
        entries.push((key, value.clone()));
        value
    }
}

impl<K: PartialEq, V: Clone> Default for ReleaseCache<K, V> {
    fn default() -> Self {
        ReleaseCache::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_made_once() {
        let cache = ReleaseCache::new();
        let mut made = Vec::new();
        for key in ["a", "b", "a"] {
            let value = cache.get_or_make(key, || {
                made.push(key);
                key.to_uppercase()
            });
            assert_eq!(value, key.to_uppercase());
        }
        assert_eq!(made, ["a", "b"]);
    }
}
