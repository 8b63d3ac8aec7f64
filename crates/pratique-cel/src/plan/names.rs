//! The names in plans, each in memory once: thousands of expressions read the same fields, and what is there once is
//! likely to be at hand.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::interned::Interned;

/// Names that plans have.
pub(super) struct Names<'n>(&'n mut Interned<str>);

impl Names<'_> {
    /// Lets somebody put names in the places of equal ones.
    pub(super) fn with(give: impl FnOnce(&mut Names<'_>)) {
        static NAMES: LazyLock<Mutex<Interned<str>>> = LazyLock::new(Mutex::default);
        // What a thread that panicked left behind is whole.
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        give(&mut Names(&mut names));
    }

    /// Puts the name that is there already in the place of an equal one.
    pub(super) fn share(&mut self, name: &mut Arc<str>) {
        *name = self.0.shared(name.clone());
    }
}
