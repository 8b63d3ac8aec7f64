//! Replaced values, kept until no request uses them any more.

use std::sync::{Arc, Mutex, PoisonError};

/// Values that were replaced. To free a large one takes milliseconds, which otherwise the last request that used it
/// would have to pay for.
#[derive(Debug)]
pub(super) struct RetiredValues<T>(Mutex<Vec<Arc<T>>>);

impl<T> Default for RetiredValues<T> {
    fn default() -> Self {
        RetiredValues(Mutex::default())
    }
}

impl<T> RetiredValues<T> {
    /// Adds a replaced version.
    pub(super) fn push(&self, replaced: Option<Arc<T>>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(replaced);
    }

    /// Frees versions that no request uses any more; true if some are left.
    pub(super) fn free(&self) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|version| Arc::strong_count(version) > 1);
        !all.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_user_of_a_value_does_not_free_it() {
        let retired = RetiredValues::default();
        let [used, unused] = [Arc::new(1), Arc::new(2)];
        let [first, second] = [&used, &unused].map(Arc::downgrade);
        retired.push(Some(used.clone()));
        retired.push(Some(unused));
        retired.push(None);
        assert!(retired.free());
        assert_eq!((first.strong_count(), second.strong_count()), (2, 0));
        drop(used);
        assert_eq!(first.strong_count(), 1);
        assert!(!retired.free());
        assert_eq!(first.strong_count(), 0);
    }
}
