//! Builds the snapshot of a cluster, after each change.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use kube::{Api, Client};
use pratique::Release;
use pratique::cluster::StoredObject;
use pratique::types::builtin::ServedResource;
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::warn;

use super::background::BackgroundTask;
use super::cluster::SharedCluster;
use super::definition_uses::DefinedKinds;
use super::definitions::{self, DefinitionKeeper, ServedDefinition};
use super::discovery;
use super::follow::follow;
use super::params::WatchedKinds;
use super::served_resources::ServedResources;
use super::snapshot::StateSnapshot;
use super::store::{ByName, KindStore, SyncState};
use super::stored_object::{self, NAMESPACE};
use super::wanted_params::{KindSet, WantedKinds};

/// Builds the snapshots of a cluster.
pub(super) struct SnapshotBuilder {
    release: &'static Release,
    shared: Arc<SharedCluster>,
    wanted: Arc<WantedKinds>,
    needed: watch::Receiver<KindSet>,
    changed: Arc<Notify>,
    namespaces: Arc<KindStore<StoredObject>>,
    definitions: Arc<KindStore<ServedDefinition>>,
    discovered: Arc<LastDiscovery>,
    params: WatchedKinds,
    served: Arc<ServedResources>,
    defined: Arc<DefinedKinds>,
    /// The inputs that `served` was built from.
    made_of: Option<ServedBasis>,
}

/// The inputs of the served resources.
struct ServedBasis {
    discovered: Arc<Vec<ServedResource>>,
    definitions: Arc<ByName<ServedDefinition>>,
}

/// The last result of discovery.
#[derive(Debug, Default)]
struct LastDiscovery {
    resources: ArcSwapOption<Vec<ServedResource>>,
    problem: ArcSwapOption<String>,
    /// Whether a kind that a policy needs is not served.
    lacking: AtomicBool,
    /// Requests another discovery.
    again: Notify,
}

impl SnapshotBuilder {
    /// Creates a builder, and the tasks that it depends on.
    pub(super) fn start(
        release: &'static Release,
        client: &Client,
        handle: &Handle,
        wanted: &Arc<WantedKinds>,
        shared: &Arc<SharedCluster>,
    ) -> (Self, Vec<BackgroundTask>) {
        let changed = Arc::new(Notify::new());
        let namespaces = Arc::new(KindStore::new(changed.clone()));
        let definitions = Arc::new(KindStore::new(changed.clone()));
        let discovered = Arc::new(LastDiscovery::default());
        let resource = stored_object::resource(&NAMESPACE, "namespaces");
        let api = Api::all_with(client.clone(), &resource);
        let first = BackgroundTask::spawn(
            handle,
            follow(
                api,
                namespaces.clone(),
                stored_object::NamespaceStore::new(release),
            ),
        );
        let resource = stored_object::resource(&definitions::kind(), "customresourcedefinitions");
        let api = Api::all_with(client.clone(), &resource);
        let second = BackgroundTask::spawn(
            handle,
            follow(api, definitions.clone(), DefinitionKeeper { release }),
        );
        let third = keep_discovering(client.clone(), discovered.clone(), changed.clone());
        let third = BackgroundTask::spawn(handle, third);
        wanted.settled.send_replace(Some(KindSet::new()));
        let builder = SnapshotBuilder {
            release,
            shared: shared.clone(),
            wanted: wanted.clone(),
            needed: wanted.needed.subscribe(),
            params: WatchedKinds::new(release, client.clone(), handle.clone(), changed.clone()),
            changed,
            namespaces,
            definitions,
            discovered,
            served: Arc::default(),
            defined: Arc::default(),
            made_of: None,
        };
        (builder, vec![first, second, third])
    }

    /// Keeps the cluster current for as long as it is polled.
    pub(super) async fn run(mut self) {
        loop {
            self.rebuild();
            self.wait().await;
        }
    }

    async fn wait(&mut self) {
        let due = self.params.due();
        tokio::select! {
            () = self.changed.notified() => {}
            // The sender cannot be closed: the builder holds it.
            _ = self.needed.changed() => {}
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {}
        }
        sleep(TOGETHER).await;
    }

    fn rebuild(&mut self) {
        let definitions = self.definitions.objects();
        let discovered = self.discovered.resources.load_full();
        if let Some(discovered) = &discovered {
            self.serve(discovered, &definitions);
        }
        self.define(&definitions);
        let needed = self.needed.borrow_and_update().clone();
        self.params.need(&needed, &self.served);
        let lacks = self.params.lacks(&needed);
        if lacks && !self.discovered.lacking.swap(lacks, Ordering::Relaxed) {
            self.discovered.again.notify_one();
        }
        self.discovered.lacking.store(lacks, Ordering::Relaxed);
        self.shared.current.store(Arc::new(StateSnapshot {
            namespaces: self.namespaces.objects(),
            found: None,
            params: self.params.objects(),
            served: self.served.clone(),
            defined: self.defined.clone(),
        }));
        let is_ready = self.namespaces.sync_state() == SyncState::Complete
            && matches!(
                self.definitions.sync_state(),
                SyncState::Complete | SyncState::NotServed
            )
            && discovered.is_some();
        self.publish_problems();
        if is_ready {
            self.wanted
                .settled
                .send_replace(Some(self.params.settled(&needed)));
            if !self.shared.ready.swap(true, Ordering::AcqRel) {
                self.shared.notify();
            }
        }
    }

    /// Collects the definitions for plugins and for defaulting after mutations, if they changed.
    fn define(&mut self, definitions: &Arc<ByName<ServedDefinition>>) {
        let is_known = matches!(
            self.definitions.sync_state(),
            SyncState::Complete | SyncState::NotServed
        );
        if self.defined.is_known() != is_known || !self.defined.is_of(definitions) {
            self.defined = Arc::new(DefinedKinds::new(definitions.clone(), is_known));
        }
    }

    /// Recomputes the served resources, if their inputs changed.
    fn serve(&mut self, discovered: &Arc<Vec<ServedResource>>, definitions: &Arc<ByName<ServedDefinition>>) {
        if let Some(basis) = &self.made_of {
            let defined = Arc::ptr_eq(&basis.definitions, definitions);
            if defined && Arc::ptr_eq(&basis.discovered, discovered) {
                return;
            }
            if !defined {
                self.discovered.again.notify_one();
            }
        }
        let all = definitions
            .values()
            .flat_map(|namespace| namespace.values())
            .map(|object| &**object);
        self.served = Arc::new(ServedResources::new(self.release, discovered, all));
        self.made_of = Some(ServedBasis {
            discovered: discovered.clone(),
            definitions: definitions.clone(),
        });
        self.params.retry();
    }

    fn publish_problems(&self) {
        let states = [self.namespaces.sync_state(), self.definitions.sync_state()];
        let states = states.into_iter().filter_map(SyncState::problem);
        let discovery = self.discovered.problem.load_full();
        let problems = states
            .chain(discovery.map(|error| error.to_string()))
            .chain(self.params.problems());
        let mut shared = self
            .shared
            .problems
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *shared = problems.collect();
    }
}

/// Changes within this time are published together.
const TOGETHER: Duration = Duration::from_millis(2);

/// Runs discovery periodically, and when it is requested.
async fn keep_discovering(client: Client, discovered: Arc<LastDiscovery>, changed: Arc<Notify>) {
    let mut pause = DISCOVERY_MIN_INTERVAL;
    loop {
        match discovery::discover(&client).await {
            Ok(discovery) => {
                let resources = discovery.served();
                pause = DISCOVERY_MIN_INTERVAL;
                discovered.problem.store(None);
                let same = discovered.resources.load().as_deref() == Some(&resources);
                if !same {
                    discovered.resources.store(Some(Arc::new(resources)));
                }
                changed.notify_one();
                // Not at once: a resource is served a moment after it is defined.
                let patience = if discovered.lacking.load(Ordering::Relaxed) {
                    DISCOVERY_LACKING_INTERVAL
                } else {
                    DISCOVERY_INTERVAL
                };
                let _ = timeout(patience, discovered.again.notified()).await;
                sleep(DISCOVERY_MIN_INTERVAL).await;
            }
            Err(error) => {
                let problem = discovery::problem(&error);
                warn!(reason = problem, "Failed to discover");
                discovered.problem.store(Some(Arc::new(problem)));
                changed.notify_one();
                sleep(pause).await;
                pause = (pause * 2).min(DISCOVERY_MAX_BACKOFF);
            }
        }
    }
}

/// The interval after a request for another discovery.
const DISCOVERY_MIN_INTERVAL: Duration = Duration::from_secs(1);

/// The interval while a kind is missing.
const DISCOVERY_LACKING_INTERVAL: Duration = Duration::from_secs(10);

/// The interval otherwise.
const DISCOVERY_INTERVAL: Duration = Duration::from_secs(300);

/// The interval after a failure.
const DISCOVERY_MAX_BACKOFF: Duration = Duration::from_secs(30);
