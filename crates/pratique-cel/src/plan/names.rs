//! Interning of the names in plans: thousands of expressions read the same fields. Shared names take less memory and are
//! more likely to be in the processor's caches.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::interning::InternedValues;

/// The names of all plans.
pub(super) struct NameInterner<'n>(&'n mut InternedValues<str>);

impl NameInterner<'_> {
    /// Calls `intern` with the names of all plans locked.
    pub(super) fn with(intern: impl FnOnce(&mut NameInterner<'_>)) {
        static NAMES: LazyLock<Mutex<InternedValues<str>>> = LazyLock::new(Mutex::default);
        // A thread that panicked leaves the set in a valid state.
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        intern(&mut NameInterner(&mut names));
    }

    /// Replaces a name by an equal one that is in use already.
    pub(super) fn intern(&mut self, name: &mut Arc<str>) {
        *name = self.0.shared(name.clone());
    }
}
