//! The configuration of admission that a cluster has.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use kube::Client;
use pratique::Configurations;
use pratique::live::{Source, SourceNotifier};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::sleep;

use super::background::{BackgroundRuntime, BackgroundTask, BackgroundTasks};
use super::configuration_kinds::{ConfiguredObjects, FollowedKinds};
use super::wanted_params::{KindSet, WantedKinds};

/// The policies, bindings and webhook configurations of a cluster, kept current by watching them. Copies share one
/// source.
///
/// It is known once all six kinds were listed; a kind that the API server does not serve in version `v1` has no
/// objects. When the connection is lost, what was known stays, and it is listed again until that succeeds. A policy
/// with params takes effect once these are known, if there is an [`ApiCluster`](super::ApiCluster) of the same
/// [`ApiServer`](super::ApiServer), but not later than five seconds after its creation.
#[derive(Clone, Debug)]
pub struct ApiSource(Arc<SourceInner>);

#[derive(Debug)]
struct SourceInner {
    shared: Arc<SharedState>,
    configured: Arc<ConfiguredObjects>,
    tasks: BackgroundTasks,
    /// Keeps the runtime alive.
    _background: Arc<BackgroundRuntime>,
}

#[derive(Debug, Default)]
struct SharedState {
    current: ArcSwapOption<Configurations>,
    listeners: Mutex<Vec<SourceNotifier>>,
}

impl ApiSource {
    pub(super) fn start(
        follow: FollowedKinds,
        client: &Client,
        handle: &Handle,
        wanted: &Arc<WantedKinds>,
        background: &Arc<BackgroundRuntime>,
    ) -> Self {
        let changed = Arc::new(Notify::new());
        let configured = Arc::new(ConfiguredObjects::new(&changed));
        let shared = Arc::new(SharedState::default());
        let mut tasks = configured.follow(follow, client, handle);
        let publish = publish(shared.clone(), configured.clone(), wanted.clone(), changed);
        tasks.push(BackgroundTask::spawn(handle, publish));
        ApiSource(Arc::new(SourceInner {
            shared,
            configured,
            tasks: BackgroundTasks::new(handle, tasks),
            _background: background.clone(),
        }))
    }

    /// Why the configuration is not known yet; empty without problems.
    pub fn problems(&self) -> Vec<String> {
        self.0.configured.problems()
    }
}

impl Source for ApiSource {
    fn current(&self) -> Option<Arc<Configurations>> {
        self.0.shared.current.load_full()
    }

    fn subscribe(&self, changed: SourceNotifier) {
        let mut listeners = self
            .0
            .shared
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        listeners.push(changed);
    }

    fn has_ended(&self) -> bool {
        self.0.tasks.have_ended()
    }

    fn stop(&self) {
        self.0.tasks.stop();
    }
}

/// Publishes the configuration as a whole after each change.
async fn publish(
    shared: Arc<SharedState>,
    configured: Arc<ConfiguredObjects>,
    wanted: Arc<WantedKinds>,
    changed: Arc<Notify>,
) {
    let mut previous_kinds = KindSet::new();
    loop {
        changed.notified().await;
        sleep(TOGETHER).await;
        let Some(configurations) = configured.collect() else {
            continue;
        };
        let kinds = param_kinds(&configurations);
        wanted
            .needed
            .send_replace(previous_kinds.union(&kinds).cloned().collect());
        wanted.wait_for(&kinds).await;
        shared.current.store(Some(Arc::new(configurations)));
        let listeners = shared
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        listeners.iter().for_each(SourceNotifier::notify);
        wanted.needed.send_replace(kinds.clone());
        previous_kinds = kinds;
    }
}

/// Changes within this time are published together.
const TOGETHER: Duration = Duration::from_millis(2);

/// The kinds of params that policies name.
fn param_kinds(configurations: &Configurations) -> KindSet {
    let validating = configurations.validating_policies.iter();
    let validating = validating.filter_map(|policy| policy.spec.as_ref()?.param_kind.as_ref());
    let mutating = configurations.mutating_policies.iter();
    let mutating = mutating.filter_map(|policy| policy.spec.as_ref()?.param_kind.as_ref());
    let named = validating.chain(mutating).filter_map(|kind| {
        let version = pratique::types::GroupVersion::parse(kind.api_version.as_deref()?).ok()?;
        Some(version.with_kind(kind.kind.as_deref()?))
    });
    named.collect()
}
