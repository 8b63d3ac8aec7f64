//! The cluster of a request as plugins see it.

use pratique_match::Namespace;
use pratique_plugin::{ClusterState, Lookup, ObjectList, StateKind};
use pratique_policy::Cluster;

/// Namespaces as policies see them, also one that was looked up for the request, and other objects from elsewhere.
pub(crate) struct PluginView<'c> {
    cluster: &'c dyn Cluster,
    others: Option<&'c (dyn ClusterState + Send + Sync)>,
}

impl<'c> PluginView<'c> {
    pub(crate) fn new(
        cluster: &'c dyn Cluster,
        others: Option<&'c (dyn ClusterState + Send + Sync)>,
    ) -> Self {
        PluginView { cluster, others }
    }
}

impl ClusterState for PluginView<'_> {
    fn get<'a>(&'a self, kind: StateKind, namespace: &str, name: &str) -> Lookup<'a> {
        if kind == StateKind::NAMESPACE {
            return match self.cluster.namespace(name) {
                Namespace::Stored(object) => Lookup::Found(object),
                Namespace::Named => Lookup::Named,
                Namespace::Absent => Lookup::Absent,
            };
        }
        match self.others {
            Some(others) => others.get(kind, namespace, name),
            None => Lookup::Unknown,
        }
    }

    fn list<'a>(&'a self, kind: StateKind, namespace: &str) -> Option<&'a ObjectList> {
        self.others?.list(kind, namespace)
    }

    fn lacks_controllers(&self) -> bool {
        self.others.is_some_and(|others| others.lacks_controllers())
    }
}
