//! The kinds of params that policies name, which the cluster has to watch.

use std::collections::BTreeSet;
use std::time::Duration;

use pratique::types::GroupVersionKind;
use tokio::sync::watch;
use tokio::time::timeout;

/// Kinds of objects.
pub(super) type KindSet = BTreeSet<GroupVersionKind>;

/// Connects the source, which sets the kinds that are needed, with the cluster, which sets those it knows.
#[derive(Debug)]
pub(super) struct WantedKinds {
    pub(super) needed: watch::Sender<KindSet>,
    /// The needed kinds that are known, or known not to be served. `None` without a cluster.
    pub(super) settled: watch::Sender<Option<KindSet>>,
}

impl WantedKinds {
    pub(super) fn new() -> Self {
        WantedKinds {
            needed: watch::Sender::new(KindSet::new()),
            settled: watch::Sender::new(None),
        }
    }

    /// Waits until the cluster has these kinds, but not for long: a policy with unknown params has an error that its
    /// failure policy decides on.
    pub(super) async fn wait_for(&self, kinds: &KindSet) {
        let mut settled = self.settled.subscribe();
        let has = |settled: &Option<KindSet>| settled.as_ref().is_none_or(|settled| kinds.is_subset(settled));
        let _ = timeout(PATIENCE, settled.wait_for(has)).await;
    }
}

/// How long a policy waits for its params before it takes effect without them.
const PATIENCE: Duration = Duration::from_secs(5);
