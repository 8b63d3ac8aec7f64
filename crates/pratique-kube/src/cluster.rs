//! A cluster's namespaces, params and definitions, kept current.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use kube::{Api, Client};
use pratique::Release;
use pratique::api_objects::ObjectDefaults;
use pratique::cluster::{Cluster, ClusterView, LookUp, StateLookUp, StoredObject};
use pratique::live::SourceNotifier;
use pratique::plugins::{ClusterState, StateKind};
use pratique::types::AdmissionRequest;
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::background::{BackgroundRuntime, BackgroundTask, BackgroundTasks};
use super::plugin_state::{self, PluginState};
use super::snapshot::StateSnapshot;
use super::snapshot_builder::SnapshotBuilder;
use super::stored_object::{self, KubeObject, NAMESPACE};
use super::wanted_params::WantedKinds;

/// A real cluster, kept current by watching it: its namespaces, the params that policies of the
/// [`ApiSource`](super::ApiSource) name, and what it serves. Copies share one cluster.
///
/// It is ready once namespaces and CustomResourceDefinitions were listed and discovery has succeeded. Requests see a
/// snapshot and never wait for the network, with one exception: an unknown namespace is looked up for a request in it,
/// because it may have been created just now.
///
/// Plugins see its namespaces and definitions, and the pods of a namespace when its labels are to enforce another level of
/// pod security; these are read for the request. Of other objects nothing is known.
///
/// Params are watched while a policy names their kind. While they are not known, such a policy has an error that its
/// failure policy decides on.
#[derive(Clone, Debug)]
pub struct ApiCluster(Arc<ClusterInner>);

struct ClusterInner {
    release: &'static Release,
    shared: Arc<SharedCluster>,
    client: Client,
    handle: Handle,
    tasks: BackgroundTasks,
    /// Keeps the runtime alive.
    _background: Arc<BackgroundRuntime>,
}

/// The state that the snapshot builder writes and requests read.
#[derive(Debug, Default)]
pub(super) struct SharedCluster {
    pub(super) current: ArcSwap<StateSnapshot>,
    pub(super) ready: AtomicBool,
    pub(super) problems: Mutex<Vec<String>>,
    listeners: Mutex<Vec<SourceNotifier>>,
}

impl SharedCluster {
    /// Notifies the subscribers that the snapshot has changed.
    pub(super) fn notify(&self) {
        let listeners = self
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        listeners.iter().for_each(SourceNotifier::notify);
    }
}

impl ApiCluster {
    pub(super) fn start(
        release: &'static Release,
        client: &Client,
        handle: &Handle,
        wanted: &Arc<WantedKinds>,
        background: &Arc<BackgroundRuntime>,
    ) -> Self {
        let shared = Arc::new(SharedCluster::default());
        let (builder, mut tasks) = SnapshotBuilder::start(release, client, handle, wanted, &shared);
        tasks.push(BackgroundTask::spawn(handle, builder.run()));
        ApiCluster(Arc::new(ClusterInner {
            release,
            shared,
            client: client.clone(),
            handle: handle.clone(),
            tasks: BackgroundTasks::new(handle, tasks),
            _background: background.clone(),
        }))
    }

    /// Why parts of the cluster are not known yet; empty without problems.
    pub fn problems(&self) -> Vec<String> {
        let problems = self.0.shared.problems.lock();
        problems.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The defaults of its kinds as they are now, custom resources among them.
    pub fn object_defaults(&self) -> Arc<ObjectDefaults> {
        self.0.shared.current.load().defined.defaults.clone()
    }

    /// The cluster as it is now, with a namespace that is looked up if it is not known yet.
    pub async fn with_namespace(&self, name: &str) -> Arc<dyn Cluster + Send + Sync> {
        let snapshot = self.0.shared.current.load_full();
        let is_known = snapshot
            .namespaces
            .get("")
            .is_some_and(|namespaces| namespaces.contains_key(name));
        if is_known || name.is_empty() {
            return snapshot;
        }
        let (release, client) = (self.0.release, self.0.client.clone());
        let owned = name.to_owned();
        let lookup = BackgroundTask::spawn(&self.0.handle, async move {
            get_namespace(release, client, &owned).await
        });
        match lookup.done().await.flatten() {
            Some(namespace) => Arc::new(StateSnapshot {
                found: Some(Arc::new(namespace)),
                ..StateSnapshot::clone(&snapshot)
            }),
            None => snapshot,
        }
    }
}

async fn get_namespace(release: &'static Release, client: Client, name: &str) -> Option<StoredObject> {
    let resource = stored_object::resource(&NAMESPACE, "namespaces");
    let api: Api<KubeObject> = Api::all_with(client, &resource);
    let answer = timeout(PATIENCE, api.get_opt(name)).await;
    let namespace = answer.ok()?.ok()??.into_value(&NAMESPACE);
    Some(StoredObject::new(release, namespace))
}

/// How long a request waits for its namespace.
const PATIENCE: Duration = Duration::from_secs(2);

impl ClusterView for ApiCluster {
    fn now(&self) -> Arc<dyn Cluster + Send + Sync> {
        self.0.shared.current.load_full()
    }

    fn is_ready(&self) -> bool {
        self.0.shared.ready.load(Ordering::Acquire)
    }

    fn subscribe(&self, changed: SourceNotifier) {
        let listeners = self.0.shared.listeners.lock();
        listeners.unwrap_or_else(PoisonError::into_inner).push(changed);
    }

    fn look_up<'a>(&'a self, namespace: &'a str) -> Option<LookUp<'a>> {
        Some(Box::pin(self.with_namespace(namespace)))
    }

    /// Definitions, and the pods of a namespace whose labels are to enforce another level of pod security. Other objects are
    /// not known.
    fn plugin_state<'a>(
        &'a self,
        request: &'a AdmissionRequest<'a>,
        kinds: &'a [StateKind],
    ) -> Option<StateLookUp<'a>> {
        Some(Box::pin(async move {
            let defined = self.0.shared.current.load().defined.clone();
            let pods = match plugin_state::namespace_of_pods(request, kinds) {
                Some(namespace) => {
                    let pods = plugin_state::pods(self.0.client.clone(), namespace);
                    BackgroundTask::spawn(&self.0.handle, pods).done().await.flatten()
                }
                None => None,
            };
            let state: Arc<dyn ClusterState + Send + Sync> = Arc::new(PluginState { defined, pods });
            state
        }))
    }

    fn has_ended(&self) -> bool {
        self.0.tasks.have_ended()
    }

    fn stop(&self) {
        self.0.tasks.stop();
    }
}

impl fmt::Debug for ClusterInner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ClusterInner")
            .field("shared", &self.shared)
            .finish_non_exhaustive()
    }
}
