//! Params: the objects of the kinds that policies name, each kind watched while a policy needs it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use kube::{Api, Client};
use pratique::Release;
use pratique::cluster::ParamScope;
use pratique::json::Value;
use pratique::types::GroupVersionKind;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::background::BackgroundTask;
use super::follow::follow;
use super::served_resources::{ServedKind, ServedResources};
use super::snapshot::KindObjects;
use super::store::{KindStore, SyncState};
use super::stored_object::{self, WholeObjects};
use super::wanted_params::KindSet;

/// The kinds of params that are watched.
pub(super) struct WatchedKinds {
    release: &'static Release,
    client: Client,
    handle: Handle,
    changed: Arc<Notify>,
    watched: BTreeMap<GroupVersionKind, WatchedParams>,
}

struct WatchedParams {
    store: Arc<KindStore<Value<'static>>>,
    kind: ServedKind,
    /// When it was needed last; `None` while it is needed.
    unneeded_since: Option<Instant>,
    _task: BackgroundTask,
}

impl WatchedKinds {
    pub(super) fn new(
        release: &'static Release,
        client: Client,
        handle: Handle,
        changed: Arc<Notify>,
    ) -> Self {
        WatchedKinds {
            release,
            client,
            handle,
            changed,
            watched: BTreeMap::new(),
        }
    }

    /// Watches the kinds that are needed, and stops watching others after a while: requests may still be evaluated by a
    /// policy that was deleted.
    pub(super) fn need(&mut self, kinds: &KindSet, served: &ServedResources) {
        let now = Instant::now();
        for (kind, watched) in &mut self.watched {
            if kinds.contains(kind) {
                watched.unneeded_since = None
            } else {
                _ = watched.unneeded_since.get_or_insert(now)
            }
        }
        self.watched.retain(|kind, watched| {
            watched.unneeded_since.is_none_or(|since| now < since + LINGER)
                && served.kind(kind).is_none_or(|kind| *kind == watched.kind)
        });
        for kind in kinds {
            if !self.watched.contains_key(kind)
                && let Some(served_kind) = served.kind(kind)
            {
                let watched = self.watch(kind, served_kind.clone());
                self.watched.insert(kind.clone(), watched);
            }
        }
    }

    /// Watches kinds that were not served again.
    pub(super) fn retry(&mut self) {
        self.watched
            .retain(|_, watched| watched.store.sync_state() != SyncState::NotServed);
    }

    /// The time at which the next kind is no longer watched.
    pub(super) fn due(&self) -> Option<Instant> {
        self.watched
            .values()
            .filter_map(|watched| watched.unneeded_since)
            .min()
            .map(|since| since + LINGER)
    }

    /// Whether a kind that is needed has no objects because it is not served.
    pub(super) fn lacks(&self, kinds: &KindSet) -> bool {
        kinds.iter().any(|kind| {
            let watched = self.watched.get(kind);
            watched.is_none_or(|watched| watched.store.sync_state() == SyncState::NotServed)
        })
    }

    /// The kinds whose objects are known, or known not to be served.
    pub(super) fn settled(&self, kinds: &KindSet) -> KindSet {
        let settled = kinds.iter().filter(|kind| match self.watched.get(kind) {
            Some(watched) => watched.store.sync_state() != SyncState::None,
            // It is not served.
            None => true,
        });
        settled.cloned().collect()
    }

    /// The known objects.
    pub(super) fn objects(&self) -> HashMap<GroupVersionKind, (ParamScope, KindObjects)> {
        let complete = self
            .watched
            .iter()
            .filter(|(_, watched)| watched.store.sync_state() == SyncState::Complete);
        complete
            .map(|(kind, watched)| (kind.clone(), (watched.kind.scope, watched.store.objects())))
            .collect()
    }

    pub(super) fn problems(&self) -> Vec<String> {
        let states = self.watched.values().map(|watched| watched.store.sync_state());
        states.filter_map(SyncState::problem).collect()
    }

    fn watch(&self, kind: &GroupVersionKind, served_kind: ServedKind) -> WatchedParams {
        let resource = stored_object::resource(kind, &served_kind.plural);
        let api = Api::all_with(self.client.clone(), &resource);
        let store = Arc::new(KindStore::new(self.changed.clone()));
        let keeper = WholeObjects {
            kind: kind.clone(),
            builtin: self.release.resources().resource_of(kind).is_some(),
        };
        let task = BackgroundTask::spawn(&self.handle, follow(api, store.clone(), keeper));
        WatchedParams {
            store,
            kind: served_kind,
            unneeded_since: None,
            _task: task,
        }
    }
}

/// How long a kind is watched after it was needed last.
const LINGER: Duration = Duration::from_secs(10);
