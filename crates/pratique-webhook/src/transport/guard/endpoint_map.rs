//! A map with an entry for each endpoint, whose look-ups take no lock.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

use crate::caller::Endpoint;

/// The bound on endpoints, far above the usual number. Past it, all entries are dropped, for callers that never drop
/// those of removed webhooks.
const MOST: usize = 4096;

/// Entries by endpoint, made when they are first looked up.
pub(super) struct EndpointMap<T> {
    entries: ArcSwap<HashMap<Arc<Endpoint>, Arc<T>>>,
    changes: Mutex<()>,
}

impl<T> EndpointMap<T> {
    pub(super) fn new() -> Self {
        Self {
            entries: ArcSwap::default(),
            changes: Mutex::new(()),
        }
    }

    pub(super) fn entry(&self, endpoint: &Arc<Endpoint>, make: impl FnOnce() -> T) -> Arc<T> {
        if let Some(value) = self.entries.load().get(endpoint) {
            return Arc::clone(value);
        }
        let _changing = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.entries.load();
        if let Some(value) = current.get(endpoint) {
            return Arc::clone(value);
        }
        let mut entries = if current.len() < MOST {
            HashMap::clone(&current)
        } else {
            HashMap::new()
        };
        let made = Arc::new(make());
        entries.insert(Arc::clone(endpoint), Arc::clone(&made));
        self.entries.store(Arc::new(entries));
        made
    }

    /// Drops the entries of all endpoints but these.
    pub(super) fn retain(&self, wanted: &HashSet<&Endpoint>) {
        let _changing = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut entries = HashMap::clone(&self.entries.load());
        entries.retain(|endpoint, _| wanted.contains(&**endpoint));
        self.entries.store(Arc::new(entries));
    }
}
