//! The objects of one kind, as listed and watched.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Objects by namespace (empty for those of the cluster) and name.
pub(super) type ByName<T> = BTreeMap<String, BTreeMap<String, Arc<T>>>;

/// The objects of one kind. A list becomes visible when it is complete.
pub(super) struct KindStore<T> {
    state: Mutex<StoreState<T>>,
    /// Notified after each change.
    changed: Arc<Notify>,
}

struct StoreState<T> {
    objects: Arc<ByName<T>>,
    /// The list in progress.
    next: Option<ByName<T>>,
    sync_state: SyncState,
}

/// Whether the objects of a kind are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SyncState {
    /// Not listed yet.
    None,
    /// Not listed yet, for this reason.
    Failed(String),
    /// The API server does not serve it.
    NotServed,
    /// Listed, and followed since.
    Complete,
}

impl SyncState {
    /// The reason if listing fails.
    pub(super) fn problem(self) -> Option<String> {
        match self {
            SyncState::Failed(reason) => Some(reason),
            SyncState::None | SyncState::NotServed | SyncState::Complete => None,
        }
    }
}

/// An object with its namespace and name.
#[derive(Debug)]
pub(super) struct PlacedObject<T> {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) object: T,
}

impl<T> KindStore<T> {
    pub(super) fn new(changed: Arc<Notify>) -> Self {
        KindStore {
            state: Mutex::new(StoreState {
                objects: Arc::default(),
                next: None,
                sync_state: SyncState::None,
            }),
            changed,
        }
    }

    pub(super) fn objects(&self) -> Arc<ByName<T>> {
        self.lock().objects.clone()
    }

    pub(super) fn sync_state(&self) -> SyncState {
        self.lock().sync_state.clone()
    }

    /// Begins a list.
    pub(super) fn begin(&self) {
        self.lock().next = Some(BTreeMap::new());
    }

    /// Adds an object to the list. If it is `same` as the known one, that stays, as the same `Arc`.
    pub(super) fn list(&self, placed: PlacedObject<T>, same: impl Fn(&T, &T) -> bool) {
        let mut state = self.lock();
        let StoreState { objects, next, .. } = &mut *state;
        let PlacedObject {
            namespace,
            name,
            object,
        } = placed;
        let current = objects.get(&namespace).and_then(|objects| objects.get(&name));
        let object = match current {
            Some(current) if same(current, &object) => current.clone(),
            _ => Arc::new(object),
        };
        let next = next.get_or_insert_default();
        next.entry(namespace).or_default().insert(name, object);
    }

    /// Completes the list.
    pub(super) fn complete(&self) {
        let mut state = self.lock();
        let next = state.next.take().unwrap_or_default();
        state.objects = Arc::new(next);
        state.sync_state = SyncState::Complete;
        drop(state);
        self.changed.notify_one();
    }

    /// Adds or replaces an object.
    pub(super) fn apply(&self, placed: PlacedObject<T>, same: impl Fn(&T, &T) -> bool) {
        let mut state = self.lock();
        let current = state.objects.get(&placed.namespace);
        let current = current.and_then(|objects| objects.get(&placed.name));
        if current.is_some_and(|current| same(current, &placed.object)) {
            return;
        }
        let objects = Arc::make_mut(&mut state.objects);
        let named = objects.entry(placed.namespace).or_default();
        named.insert(placed.name, Arc::new(placed.object));
        drop(state);
        self.changed.notify_one();
    }

    /// Removes an object.
    pub(super) fn delete(&self, namespace: &str, name: &str) {
        let mut state = self.lock();
        let objects = Arc::make_mut(&mut state.objects);
        if let Some(named) = objects.get_mut(namespace) {
            named.remove(name);
            if named.is_empty() {
                objects.remove(namespace);
            }
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Records that the API server does not serve the kind.
    pub(super) fn not_served(&self) {
        let mut state = self.lock();
        state.next = None;
        if state.sync_state == SyncState::NotServed {
            return;
        }
        state.objects = Arc::default();
        state.sync_state = SyncState::NotServed;
        drop(state);
        self.changed.notify_one();
    }

    /// Records that listing failed. The known objects stay.
    pub(super) fn failed(&self, reason: String) {
        let mut state = self.lock();
        if let SyncState::None | SyncState::Failed(_) = state.sync_state {
            state.sync_state = SyncState::Failed(reason);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// The state is consistent even after a panic: maps are changed in single steps.
    fn lock(&self) -> MutexGuard<'_, StoreState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> fmt::Debug for KindStore<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Store")
            .field("sync_state", &self.sync_state())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(name: &str, object: i32) -> PlacedObject<i32> {
        PlacedObject {
            namespace: String::new(),
            name: name.to_owned(),
            object,
        }
    }

    fn same(one: &i32, other: &i32) -> bool {
        one == other
    }

    #[test]
    fn lists_are_seen_whole() {
        let store = KindStore::new(Arc::default());
        store.begin();
        store.list(placed("a", 1), same);
        assert!(store.objects().is_empty());
        store.complete();
        let first = store.objects();
        assert_eq!(*first[""]["a"], 1);
        store.begin();
        store.list(placed("a", 1), same);
        store.list(placed("b", 2), same);
        store.complete();
        assert!(Arc::ptr_eq(&first[""]["a"], &store.objects()[""]["a"]));
        store.delete("", "a");
        store.apply(placed("b", 3), same);
        assert_eq!((first[""].len(), *store.objects()[""]["b"]), (1, 3));
    }

    #[test]
    fn failures_forget_nothing() {
        let store = KindStore::new(Arc::default());
        store.failed("why".to_owned());
        assert_eq!(store.sync_state(), SyncState::Failed("why".to_owned()));
        store.begin();
        store.list(placed("a", 1), same);
        store.complete();
        store.failed("later".to_owned());
        assert_eq!(store.sync_state(), SyncState::Complete);
        store.not_served();
        assert!(store.objects().is_empty());
    }
}
