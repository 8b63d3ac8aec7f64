//! A view of a cluster with the objects in memory that plugins look up.

use std::fmt;
use std::future::ready;
use std::sync::Arc;

use pratique_plugin::{ClusterState, StateKind, StateObjects};
use pratique_policy::Cluster;
use pratique_types::AdmissionRequest;

use super::view::{ClusterView, LookUp, StateLookUp, live_as_cluster};

/// A cluster with the objects in memory that plugins look up, besides namespaces, which are those of the cluster.
#[derive(Clone)]
pub struct WithState<V> {
    cluster: V,
    state: Arc<StateObjects>,
}

impl<V: ClusterView> WithState<V> {
    /// A cluster with objects that plugins look up.
    pub fn new(cluster: V, state: StateObjects) -> Self {
        WithState {
            cluster,
            state: Arc::new(state),
        }
    }
}

impl<V: ClusterView> ClusterView for WithState<V> {
    fn now(&self) -> Arc<dyn Cluster + Send + Sync> {
        self.cluster.now()
    }

    fn look_up<'a>(&'a self, namespace: &'a str) -> Option<LookUp<'a>> {
        self.cluster.look_up(namespace)
    }

    fn plugin_state<'a>(
        &'a self,
        _: &'a AdmissionRequest<'a>,
        _: &'a [StateKind],
    ) -> Option<StateLookUp<'a>> {
        let state: Arc<dyn ClusterState + Send + Sync> = self.state.clone();
        Some(Box::pin(ready(state)))
    }

    live_as_cluster!();
}

impl<V> fmt::Debug for WithState<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WithState")
    }
}
