//! Follows the objects of one kind: lists and watches them, again after each failure.

use std::fmt::Debug;
use std::pin::pin;
use std::sync::Arc;

use futures_util::StreamExt;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, watcher as watch};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use tracing::{info, warn};

use super::failure;
use super::store::{KindStore, PlacedObject};

/// How many objects are listed at a time: a page is held as a whole, several times over while it is decoded.
const PAGE: u32 = 100;

/// How the objects of a kind are kept.
pub(super) trait ObjectKeeper<K>: Send + 'static {
    /// The type that is kept.
    type Kept: Clone + Send + Sync;

    /// The part of an object that is kept; `None` to ignore the object.
    fn keep(&self, object: K) -> Option<Self::Kept>;

    /// Whether two versions are equal in everything relevant.
    fn same(&self, one: &Self::Kept, other: &Self::Kept) -> bool;
}

/// Follows for as long as it is polled.
pub(super) async fn follow<K, H>(api: Api<K>, store: Arc<KindStore<H::Kept>>, keeper: H)
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
    H: ObjectKeeper<K>,
{
    let path = api.resource_url().to_owned();
    let mut events = pin!(watch(api, watcher::Config::default().page_size(PAGE)).default_backoff());
    let mut trouble = false;
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => {
                if std::mem::take(&mut trouble) {
                    info!(path, "Watching again");
                }
                take(&store, &keeper, event);
            }
            Err(error) => {
                trouble = true;
                fail(&store, &path, &error);
            }
        }
    }
}

fn take<K: Resource, H: ObjectKeeper<K>>(store: &KindStore<H::Kept>, keeper: &H, event: Event<K>) {
    let same = |one: &H::Kept, other: &H::Kept| keeper.same(one, other);
    match event {
        Event::Init => store.begin(),
        Event::InitApply(object) => {
            if let Ok(placed) = place(keeper, object) {
                store.list(placed, same);
            }
        }
        Event::InitDone => store.complete(),
        Event::Apply(object) => match place(keeper, object) {
            Ok(placed) => store.apply(placed, same),
            Err((namespace, name)) => store.delete(&namespace, &name),
        },
        Event::Delete(object) => {
            let (namespace, name) = name_of(&object);
            store.delete(&namespace, &name);
        }
    }
}

fn place<K: Resource, H: ObjectKeeper<K>>(
    keeper: &H,
    object: K,
) -> Result<PlacedObject<H::Kept>, (String, String)> {
    let (namespace, name) = name_of(&object);
    match keeper.keep(object) {
        Some(object) => Ok(PlacedObject {
            namespace,
            name,
            object,
        }),
        None => Err((namespace, name)),
    }
}

fn name_of<K: Resource>(object: &K) -> (String, String) {
    let meta = object.meta();
    let namespace = meta.namespace.clone().unwrap_or_default();
    (namespace, meta.name.clone().unwrap_or_default())
}

fn fail<T>(store: &KindStore<T>, path: &str, error: &watcher::Error) {
    match error {
        watcher::Error::InitialListFailed(error) | watcher::Error::WatchStartFailed(error)
            if failure::is_not_found(error) =>
        {
            info!(path, "Not served");
            store.not_served();
        }
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => {
            let reason = failure::error_text(error);
            warn!(path, reason, "Failed to watch");
            store.failed(format!("{path}: {reason}"));
        }
        watcher::Error::WatchError(status) => {
            // A watch whose version is too old is usual: a list follows.
            warn!(path, reason = status.message, "Watch ended");
        }
        watcher::Error::NoResourceVersion => {
            warn!(path, "Failed to watch: lists have no resourceVersion");
            store.failed(format!("{path}: lists have no resourceVersion"));
        }
    }
}
