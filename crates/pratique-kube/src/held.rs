//! The objects of one kind, as far as the API server told of them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Objects by namespace (empty for those of the cluster) and name.
pub(super) type ByName<T> = BTreeMap<String, BTreeMap<String, Arc<T>>>;

/// The objects of one kind. Others see all of a list or nothing of it.
pub(super) struct Held<T> {
    state: Mutex<State<T>>,
    /// Is woken after each change.
    changed: Arc<Notify>,
}

struct State<T> {
    objects: Arc<ByName<T>>,
    /// A list that is not complete yet.
    next: Option<ByName<T>>,
    knowledge: Knowledge,
}

/// What is known of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Knowledge {
    /// Nothing yet.
    None,
    /// Nothing yet, for this reason.
    Failed(String),
    /// The API server does not serve it.
    NotServed,
    /// All objects of the last list, and what changed since.
    Complete,
}

impl Knowledge {
    /// What is in the way.
    pub(super) fn problem(self) -> Option<String> {
        match self {
            Knowledge::Failed(reason) => Some(reason),
            Knowledge::None | Knowledge::NotServed | Knowledge::Complete => None,
        }
    }
}

/// An object, and where it belongs.
#[derive(Debug)]
pub(super) struct Placed<T> {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) object: T,
}

impl<T> Held<T> {
    pub(super) fn new(changed: Arc<Notify>) -> Self {
        Held {
            state: Mutex::new(State {
                objects: Arc::default(),
                next: None,
                knowledge: Knowledge::None,
            }),
            changed,
        }
    }

    pub(super) fn objects(&self) -> Arc<ByName<T>> {
        self.lock().objects.clone()
    }

    pub(super) fn knowledge(&self) -> Knowledge {
        self.lock().knowledge.clone()
    }

    /// A list begins.
    pub(super) fn begin(&self) {
        self.lock().next = Some(BTreeMap::new());
    }

    /// A list has an object. One that is `same` as before stays the same `Arc`.
    pub(super) fn list(&self, placed: Placed<T>, same: impl Fn(&T, &T) -> bool) {
        let mut state = self.lock();
        let State { objects, next, .. } = &mut *state;
        let Placed {
            namespace,
            name,
            object,
        } = placed;
        let known = objects.get(&namespace).and_then(|own| own.get(&name));
        let object = match known {
            Some(known) if same(known, &object) => known.clone(),
            _ => Arc::new(object),
        };
        let next = next.get_or_insert_default();
        next.entry(namespace).or_default().insert(name, object);
    }

    /// A list is complete.
    pub(super) fn complete(&self) {
        let mut state = self.lock();
        let next = state.next.take().unwrap_or_default();
        state.objects = Arc::new(next);
        state.knowledge = Knowledge::Complete;
        drop(state);
        self.changed.notify_one();
    }

    /// There is an object, new or changed.
    pub(super) fn apply(&self, placed: Placed<T>, same: impl Fn(&T, &T) -> bool) {
        let mut state = self.lock();
        let known = state.objects.get(&placed.namespace);
        let known = known.and_then(|own| own.get(&placed.name));
        if known.is_some_and(|known| same(known, &placed.object)) {
            return;
        }
        let objects = Arc::make_mut(&mut state.objects);
        let own = objects.entry(placed.namespace).or_default();
        own.insert(placed.name, Arc::new(placed.object));
        drop(state);
        self.changed.notify_one();
    }

    /// There is an object no more.
    pub(super) fn delete(&self, namespace: &str, name: &str) {
        let mut state = self.lock();
        let objects = Arc::make_mut(&mut state.objects);
        if let Some(own) = objects.get_mut(namespace) {
            own.remove(name);
            if own.is_empty() {
                objects.remove(namespace);
            }
        }
        drop(state);
        self.changed.notify_one();
    }

    /// The API server does not serve the kind.
    pub(super) fn not_served(&self) {
        let mut state = self.lock();
        state.next = None;
        if state.knowledge == Knowledge::NotServed {
            return;
        }
        state.objects = Arc::default();
        state.knowledge = Knowledge::NotServed;
        drop(state);
        self.changed.notify_one();
    }

    /// The API server cannot be asked. What was known stays.
    pub(super) fn failed(&self, reason: String) {
        let mut state = self.lock();
        if let Knowledge::None | Knowledge::Failed(_) = state.knowledge {
            state.knowledge = Knowledge::Failed(reason);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// What a thread that panicked left is whole: maps are changed by single steps.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> fmt::Debug for Held<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Held")
            .field("knowledge", &self.knowledge())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(name: &str, object: i32) -> Placed<i32> {
        Placed {
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
        let held = Held::new(Arc::default());
        held.begin();
        held.list(placed("a", 1), same);
        assert!(held.objects().is_empty());
        held.complete();
        let first = held.objects();
        assert_eq!(*first[""]["a"], 1);
        held.begin();
        held.list(placed("a", 1), same);
        held.list(placed("b", 2), same);
        held.complete();
        assert!(Arc::ptr_eq(&first[""]["a"], &held.objects()[""]["a"]));
        held.delete("", "a");
        held.apply(placed("b", 3), same);
        assert_eq!((first[""].len(), *held.objects()[""]["b"]), (1, 3));
    }

    #[test]
    fn failures_forget_nothing() {
        let held = Held::new(Arc::default());
        held.failed("why".to_owned());
        assert_eq!(held.knowledge(), Knowledge::Failed("why".to_owned()));
        held.begin();
        held.list(placed("a", 1), same);
        held.complete();
        held.failed("later".to_owned());
        assert_eq!(held.knowledge(), Knowledge::Complete);
        held.not_served();
        assert!(held.objects().is_empty());
    }
}
