//! The cluster while a program runs: each request sees it as it was at one moment.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use arc_swap::ArcSwap;
use pratique_plugin::{ClusterState, StateKind};
use pratique_policy::Cluster;
use pratique_types::AdmissionRequest;

use super::objects::Objects;
use crate::live::SourceNotifier;

/// A source of views of a cluster.
pub trait ClusterView: Send + Sync {
    /// The cluster as it is now, which does not change any more. It is called once for each request.
    fn now(&self) -> Arc<dyn Cluster + Send + Sync>;

    /// The cluster with a namespace that [`now`](Self::now) does not have: it may have been created just now. `None`
    /// where there is no API server to look it up in, which is usual.
    fn look_up<'a>(&'a self, namespace: &'a str) -> Option<LookUp<'a>> {
        let _ = namespace;
        None
    }

    /// The objects of these kinds that plugins see for a request, as they are now; namespaces are those of the
    /// [`Cluster`]. `None` where nothing is known, so that plugins that look something up are undecided.
    fn plugin_state<'a>(
        &'a self,
        request: &'a AdmissionRequest<'a>,
        kinds: &'a [StateKind],
    ) -> Option<StateLookUp<'a>> {
        let _ = (request, kinds);
        None
    }

    /// Whether the cluster is known well enough to evaluate requests.
    fn is_ready(&self) -> bool {
        true
    }

    /// Subscribes to the view becoming ready.
    fn subscribe(&self, changed: SourceNotifier) {
        let _ = changed;
    }

    /// Whether background tasks ended by themselves, so that changes are not seen any more.
    fn has_ended(&self) -> bool {
        false
    }

    /// Ends background tasks, and waits for that.
    fn stop(&self) {}
}

/// The methods of [`ClusterView`] about its life, for a view whose field `cluster` is the view of the real cluster.
macro_rules! live_as_cluster {
    () => {
        fn is_ready(&self) -> bool {
            self.cluster.is_ready()
        }

        fn subscribe(&self, changed: $crate::live::SourceNotifier) {
            self.cluster.subscribe(changed);
        }

        fn has_ended(&self) -> bool {
            self.cluster.has_ended()
        }

        fn stop(&self) {
            self.cluster.stop();
        }
    };
}
pub(super) use live_as_cluster;

/// A look-up of the objects that plugins see.
pub type StateLookUp<'a> = Pin<Box<dyn Future<Output = Arc<dyn ClusterState + Send + Sync>> + Send + 'a>>;

/// A look-up of a cluster.
pub type LookUp<'a> = Pin<Box<dyn Future<Output = Arc<dyn Cluster + Send + Sync>> + Send + 'a>>;

/// A cluster in memory, to be changed while it is in use. A copy is the same cluster.
#[derive(Clone, Default)]
pub struct SharedObjects(Arc<ArcSwap<Objects>>);

impl SharedObjects {
    /// A cluster with these objects.
    pub fn new(objects: Objects) -> Self {
        SharedObjects(Arc::new(ArcSwap::from_pointee(objects)))
    }

    /// Changes some of the objects; it may be tried more than once where several do so at a time.
    pub fn update(&self, mut change: impl FnMut(&mut Objects)) {
        self.0.rcu(|objects| {
            let mut next = Objects::clone(objects);
            change(&mut next);
            next
        });
    }
}

impl ClusterView for SharedObjects {
    fn now(&self) -> Arc<dyn Cluster + Send + Sync> {
        self.0.load_full()
    }
}

impl fmt::Debug for SharedObjects {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SharedObjects")
    }
}
