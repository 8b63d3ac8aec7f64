//! The names in plans, each in memory once: thousands of expressions read the same fields, and what is there once is
//! likely to be at hand.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Names that plans have.
#[derive(Debug, Default)]
pub(super) struct Names {
    all: HashSet<Arc<str>>,
    /// At how many entries to look for those that no plan has any more.
    sweep_at: usize,
}

impl Names {
    /// Lets somebody put names in the places of equal ones.
    pub(super) fn with(give: impl FnOnce(&mut Names)) {
        static NAMES: OnceLock<Mutex<Names>> = OnceLock::new();
        // What a thread that panicked left behind is whole.
        let names = NAMES.get_or_init(Mutex::default).lock();
        give(&mut names.unwrap_or_else(PoisonError::into_inner));
    }

    /// Puts the name that is there already in the place of an equal one.
    pub(super) fn share(&mut self, name: &mut Arc<str>) {
        if let Some(known) = self.all.get(name) {
            *name = known.clone();
            return;
        }
        if self.all.len() >= self.sweep_at {
            self.all.retain(|own| Arc::strong_count(own) > 1);
            self.sweep_at = 2 * self.all.len() + 64;
        }
        self.all.insert(name.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_one_and_kept_no_longer_than_needed() {
        let mut names = Names::default();
        let mut pair = [Arc::from("a"), Arc::from("a")];
        pair.iter_mut().for_each(|name| names.share(name));
        let [first, second] = &pair;
        assert!(Arc::ptr_eq(first, second));
        let gone = Arc::downgrade(first);
        drop(pair);
        (0..200).for_each(|at| names.share(&mut Arc::from(format!("n{at}"))));
        assert!(gone.upgrade().is_none());
    }
}
