//! Where configuration of the API comes from while a program runs.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::configurations::Configurations;

/// A source of the configuration of admission that is stored in an API.
pub trait Source: Send + Sync {
    /// The whole current configuration; `None` while it is not known yet. The call is cheap.
    fn current(&self) -> Option<Arc<Configurations>>;

    /// Subscribes to changes: `changed` is notified after each, from any thread, and returns at once. It is called
    /// once, before any other method.
    fn subscribe(&self, changed: SourceNotifier);

    /// Whether background tasks of the source ended by themselves, so that there are no more notifications.
    fn has_ended(&self) -> bool {
        false
    }

    /// Ends background tasks of the source, and waits for that.
    fn stop(&self) {}
}

/// Notifies the user of a [`Source`] of a change. It may be called at any time, also after the user was dropped.
#[derive(Clone)]
pub struct SourceNotifier(Arc<dyn Fn() + Send + Sync>);

impl SourceNotifier {
    /// Tells it by this function.
    pub fn new(notify: impl Fn() + Send + Sync + 'static) -> Self {
        SourceNotifier(Arc::new(notify))
    }

    /// The source changed.
    pub fn notify(&self) {
        (self.0)();
    }
}

impl fmt::Debug for SourceNotifier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Changed")
    }
}

/// Configuration in memory, to be changed while it is in use. A copy is the same source.
#[derive(Clone, Debug, Default)]
pub struct InMemory(Arc<Mutex<InMemoryState>>);

#[derive(Debug, Default)]
struct InMemoryState {
    current: Option<Arc<Configurations>>,
    changed: Vec<SourceNotifier>,
}

impl InMemory {
    /// A source without configuration yet: a `Live` with it is not ready.
    pub fn unknown() -> Self {
        InMemory::default()
    }

    /// A source with this configuration.
    pub fn new(configurations: Configurations) -> Self {
        let source = InMemory::unknown();
        source.replace(configurations);
        source
    }

    /// Replaces the whole configuration.
    pub fn replace(&self, configurations: Configurations) {
        let mut state = self.lock();
        state.current = Some(Arc::new(configurations));
        let changed = state.changed.clone();
        drop(state);
        changed.iter().for_each(SourceNotifier::notify);
    }

    /// Changes parts of the configuration, atomically. Unchanged objects should stay the same `Arc`s.
    pub fn update(&self, change: impl FnOnce(&mut Configurations)) {
        let mut state = self.lock();
        let mut next = state.current.as_deref().cloned().unwrap_or_default();
        change(&mut next);
        state.current = Some(Arc::new(next));
        let changed = state.changed.clone();
        drop(state);
        changed.iter().for_each(SourceNotifier::notify);
    }

    /// If a change panics, the previous configuration stays.
    fn lock(&self) -> MutexGuard<'_, InMemoryState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for InMemory {
    fn current(&self) -> Option<Arc<Configurations>> {
        self.lock().current.clone()
    }

    fn subscribe(&self, changed: SourceNotifier) {
        self.lock().changed.push(changed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn changes_are_notified() {
        let source = InMemory::unknown();
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        source.subscribe(SourceNotifier::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        assert!(source.current().is_none());
        source.replace(Configurations::default());
        let first = source.current().unwrap();
        source
            .clone()
            .update(|configurations| configurations.mutating_policies.clear());
        assert_eq!(count.load(Ordering::Relaxed), 2);
        assert!(!Arc::ptr_eq(&first, &source.current().unwrap()));
    }
}
