//! A cluster, completed by objects in memory.

use std::fmt;
use std::sync::Arc;

use pratique_json::Value;
use pratique_match::{Equivalents, Namespace, Namespaces};
use pratique_plugin::{ClusterState, StateKind, StateObjects};
use pratique_policy::{Cluster, NamespaceObject, ParamScope};
use pratique_schema::merge::MergeSchema;
use pratique_types::{AdmissionRequest, GroupVersionKind, ObjectRef};

use super::objects::Objects;
use super::overlaid_state::OverlaidState;
use super::view::{ClusterView, LookUp, StateLookUp, live_as_cluster};

/// A cluster completed by objects in memory: a namespace or param of theirs counts where the cluster has none of that
/// name, and they define kinds that the cluster does not. The same holds for the objects that plugins see besides
/// namespaces, if there are [any](Self::with_state). Which resources are served, and how their objects are merged, is
/// the cluster's.
#[derive(Clone)]
pub struct ClusterOverlay<V> {
    cluster: V,
    objects: Arc<Objects>,
    state: Option<Arc<StateObjects>>,
}

impl<V: ClusterView> ClusterOverlay<V> {
    /// A cluster completed by objects.
    pub fn new(cluster: V, objects: Objects) -> Self {
        ClusterOverlay {
            cluster,
            objects: Arc::new(objects),
            state: None,
        }
    }

    /// Completes the objects of the cluster that plugins look up.
    #[must_use]
    pub fn with_state(self, state: StateObjects) -> Self {
        ClusterOverlay {
            state: Some(Arc::new(state)),
            ..self
        }
    }

    fn overlaid(&self, cluster: Arc<dyn Cluster + Send + Sync>) -> Arc<dyn Cluster + Send + Sync> {
        Arc::new(OverlaidCluster {
            cluster,
            objects: self.objects.clone(),
        })
    }
}

impl<V: ClusterView> ClusterView for ClusterOverlay<V> {
    fn now(&self) -> Arc<dyn Cluster + Send + Sync> {
        self.overlaid(self.cluster.now())
    }

    fn look_up<'a>(&'a self, namespace: &'a str) -> Option<LookUp<'a>> {
        let cluster = self.cluster.look_up(namespace)?;
        Some(Box::pin(async move { self.overlaid(cluster.await) }))
    }

    fn plugin_state<'a>(
        &'a self,
        request: &'a AdmissionRequest<'a>,
        kinds: &'a [StateKind],
    ) -> Option<StateLookUp<'a>> {
        let state = self.cluster.plugin_state(request, kinds)?;
        let Some(objects) = self.state.clone() else {
            return Some(state);
        };
        Some(Box::pin(async move {
            // For a request about a namespace, the objects in it are looked up.
            let namespaces = [request.namespace.as_str(), request.name.as_str()];
            let state: Arc<dyn ClusterState + Send + Sync> =
                Arc::new(OverlaidState::new(state.await, objects, kinds, &namespaces));
            state
        }))
    }

    live_as_cluster!();
}

impl<V> fmt::Debug for ClusterOverlay<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Overlay")
    }
}

/// The cluster that one request sees.
struct OverlaidCluster {
    cluster: Arc<dyn Cluster + Send + Sync>,
    objects: Arc<Objects>,
}

impl Namespaces for OverlaidCluster {
    fn namespace<'a>(&'a self, name: &str) -> Namespace<'a> {
        self.cluster.namespace(name).or(|| self.objects.namespace(name))
    }
}

impl Cluster for OverlaidCluster {
    fn equivalents(&self) -> &Equivalents {
        self.cluster.equivalents()
    }

    fn param_scope(&self, kind: &GroupVersionKind) -> Option<ParamScope> {
        self.cluster
            .param_scope(kind)
            .or_else(|| self.objects.param_scope(kind))
    }

    fn params_synced(&self, kind: &GroupVersionKind) -> bool {
        match self.cluster.param_scope(kind) {
            Some(_) => self.cluster.params_synced(kind),
            None => self.objects.params_synced(kind),
        }
    }

    fn objects_of_kind<'a>(&'a self, kind: &GroupVersionKind) -> Option<Vec<&'a Value<'a>>> {
        self.cluster.objects_of_kind(kind)
    }

    fn param<'a>(&'a self, kind: &GroupVersionKind, namespace: &str, name: &str) -> Option<&'a Value<'a>> {
        self.cluster
            .param(kind, namespace, name)
            .or_else(|| self.objects.param(kind, namespace, name))
    }

    fn params<'a>(&'a self, kind: &GroupVersionKind, namespace: &str) -> Vec<&'a Value<'a>> {
        let mut all = self.cluster.params(kind, namespace);
        let names: Vec<_> = all.iter().map(|object| ObjectRef::new(object).name()).collect();
        let mut added = self.objects.params(kind, namespace);
        added.retain(|object| !names.contains(&ObjectRef::new(object).name()));
        if !added.is_empty() {
            all.extend(added);
            all.sort_by_key(|object| ObjectRef::new(object).name());
        }
        all
    }

    fn knows_params(&self, kind: &GroupVersionKind) -> bool {
        self.cluster.knows_params(kind)
    }

    fn namespace_object(&self, name: &str) -> Option<&NamespaceObject> {
        let added = || match self.cluster.namespace(name).stored() {
            Some(_) => None,
            None => self.objects.namespace_object(name),
        };
        self.cluster.namespace_object(name).or_else(added)
    }

    fn custom_merge_schema(&self, kind: &GroupVersionKind) -> Option<&MergeSchema> {
        self.cluster.custom_merge_schema(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::SharedObjects;

    fn objects(names: &[(&str, &str)]) -> Objects {
        let mut objects = Objects::new();
        for (name, team) in names {
            for kind in ["Namespace", "ConfigMap"] {
                let namespace = if kind == "ConfigMap" { "shop" } else { "" };
                let text = format!(
                    r#"{{"apiVersion":"v1","kind":"{kind}","metadata":
                        {{"name":"{name}","namespace":"{namespace}","labels":{{"team":"{team}"}}}}}}"#
                );
                let object = pratique_json::parse(text.as_bytes()).unwrap().into_owned();
                objects.insert(object).unwrap();
            }
        }
        objects
    }

    #[test]
    fn the_cluster_counts_first() {
        let cluster = SharedObjects::new(objects(&[("a", "first"), ("c", "first")]));
        let both = ClusterOverlay::new(cluster, objects(&[("a", "second"), ("b", "second")])).now();
        let team = |object: &Value<'_>| {
            object
                .at(&["metadata", "labels", "team"])
                .and_then(|team| team.as_str().map(str::to_owned))
        };
        let of = |name| both.namespace(name).stored().and_then(team);
        assert_eq!(of("a").as_deref(), Some("first"));
        assert_eq!(of("b").as_deref(), Some("second"));
        assert_eq!(of("d"), None);
        let kind = GroupVersionKind::new("", "v1", "ConfigMap");
        let all: Vec<_> = both
            .params(&kind, "shop")
            .into_iter()
            .map(|object| (ObjectRef::new(object).name().to_owned(), team(object).unwrap()))
            .collect();
        let expected = [("a", "first"), ("b", "second"), ("c", "first")];
        assert_eq!(
            all,
            expected.map(|(name, team)| (name.to_owned(), team.to_owned()))
        );
    }
}
