//! Interning: equal values share memory.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

/// A set of shared values. Those that are no longer used elsewhere are dropped from time to time.
// Rows `keep-1000` and `reload-1000` of `benches/`: policies repeat the same texts and expressions, and a reload makes none again.
#[derive(Debug)]
pub struct InternedValues<T: ?Sized> {
    all: HashSet<Arc<T>>,
    /// The number of entries at which unused ones are removed.
    sweep_at: usize,
}

impl<T: ?Sized> Default for InternedValues<T> {
    fn default() -> Self {
        InternedValues {
            all: HashSet::new(),
            sweep_at: 0,
        }
    }
}

impl<T: ?Sized + Eq + Hash> InternedValues<T> {
    /// The value of the set that equals this one, which is added if there is none.
    pub fn shared(&mut self, value: Arc<T>) -> Arc<T> {
        if let Some(known) = self.all.get(&value) {
            return known.clone();
        }
        if self.all.len() >= self.sweep_at {
            self.all.retain(|value| Arc::strong_count(value) > 1);
            self.sweep_at = 2 * self.all.len() + 64;
        }
        self.all.insert(value.clone());
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_one_and_kept_no_longer_than_needed() {
        let mut names = InternedValues::default();
        let pair = [(); 2].map(|()| names.shared(Arc::<str>::from("a")));
        let [first, second] = &pair;
        assert!(Arc::ptr_eq(first, second));
        let gone = Arc::downgrade(first);
        drop(pair);
        (0..200).for_each(|at| drop(names.shared(Arc::<str>::from(format!("n{at}")))));
        assert!(gone.upgrade().is_none());
    }
}
