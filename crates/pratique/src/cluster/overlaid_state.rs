//! The state of a cluster for plugins, completed by objects in memory.

use std::sync::Arc;

use pratique_json::Value;
use pratique_plugin::{ClusterState, Lookup, ObjectList, StateKind, StateObjects};
use pratique_types::ObjectRef;

/// The objects of a cluster for one request, completed by objects in memory: one of these counts where the cluster has
/// none of that name. A list that is unknown in the cluster stays unknown.
pub(super) struct OverlaidState {
    cluster: Arc<dyn ClusterState + Send + Sync>,
    added: Arc<StateObjects>,
    /// The lists that have objects of both.
    lists: Vec<JoinedLists>,
}

/// The objects of a kind in a namespace, by name.
struct JoinedLists {
    kind: StateKind,
    namespace: String,
    objects: ObjectList,
}

impl OverlaidState {
    /// Completes the objects of a cluster, for plugins that look up these kinds in these namespaces.
    pub(super) fn new(
        cluster: Arc<dyn ClusterState + Send + Sync>,
        added: Arc<StateObjects>,
        kinds: &[StateKind],
        namespaces: &[&str],
    ) -> Self {
        let mut lists = Vec::new();
        for kind in kinds {
            let namespaces = if kind.namespaced { namespaces } else { &[""] };
            for namespace in namespaces {
                let both = (
                    cluster.list(*kind, namespace),
                    added.list(*kind, namespace).unwrap_or(ObjectList::EMPTY),
                );
                if let (Some(first), [_, ..]) = (both.0, &**both.1) {
                    lists.push(JoinedLists {
                        kind: *kind,
                        namespace: (*namespace).to_owned(),
                        objects: joined(first, both.1).into(),
                    });
                }
            }
        }
        OverlaidState {
            cluster,
            added,
            lists,
        }
    }
}

/// The objects of the first list, and those of the second with other names, by name.
fn joined(first: &[Arc<Value<'static>>], others: &[Arc<Value<'static>>]) -> Vec<Arc<Value<'static>>> {
    let mut all = first.to_vec();
    let is_new = |other: &&Arc<Value<'static>>| {
        let position =
            first.binary_search_by(|object| ObjectRef::new(object).name().cmp(ObjectRef::new(other).name()));
        position.is_err()
    };
    all.extend(others.iter().filter(is_new).cloned());
    all.sort_by(|one, other| ObjectRef::new(one).name().cmp(ObjectRef::new(other).name()));
    all
}

impl ClusterState for OverlaidState {
    fn get<'a>(&'a self, kind: StateKind, namespace: &str, name: &str) -> Lookup<'a> {
        match self.cluster.get(kind, namespace, name) {
            Lookup::Found(object) => Lookup::Found(object),
            lookup => match self.added.get(kind, namespace, name) {
                Lookup::Found(object) => Lookup::Found(object),
                _ => lookup,
            },
        }
    }

    fn list<'a>(&'a self, kind: StateKind, namespace: &str) -> Option<&'a ObjectList> {
        let mut lists = self.lists.iter();
        let joined = lists.find(|joined| joined.kind == kind && joined.namespace == namespace);
        match joined {
            Some(joined) => Some(&joined.objects),
            None => self.cluster.list(kind, namespace),
        }
    }

    fn lacks_controllers(&self) -> bool {
        self.cluster.lacks_controllers()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(names: &[&str], team: &str, is_complete: bool) -> Arc<StateObjects> {
        let mut state = StateObjects::default();
        for name in names {
            let text = format!(
                r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"shop","labels":{{"team":"{team}"}}}}}}"#
            );
            let object = pratique_json::parse(text.as_bytes()).unwrap().into_owned();
            state.insert(object).unwrap();
        }
        if is_complete {
            state.complete("", "Pod");
        }
        Arc::new(state)
    }

    fn team(object: &Value<'_>) -> (String, String) {
        let team = object.at(&["metadata", "labels", "team"]).and_then(Value::as_str);
        (ObjectRef::new(object).name().to_owned(), team.unwrap().to_owned())
    }

    #[test]
    fn the_cluster_counts_first() {
        let (cluster, files) = (
            state(&["a", "c"], "first", true),
            state(&["a", "b"], "second", true),
        );
        let both = OverlaidState::new(cluster, files, &[StateKind::POD], &["shop"]);
        let all: Vec<_> = both
            .list(StateKind::POD, "shop")
            .unwrap()
            .iter()
            .map(|pod| team(pod))
            .collect();
        let expected = [("a", "first"), ("b", "second"), ("c", "first")];
        assert_eq!(
            all,
            expected.map(|(name, team)| (name.to_owned(), team.to_owned()))
        );
        for (name, of) in expected {
            let found = both.get(StateKind::POD, "shop", name).found().map(team);
            assert_eq!(found, Some((name.to_owned(), of.to_owned())));
        }
        assert!(matches!(both.get(StateKind::POD, "shop", "d"), Lookup::Absent));
        assert!(both.list(StateKind::POD, "other").unwrap().is_empty());
    }

    #[test]
    fn what_the_cluster_does_not_know_stays_unknown() {
        let (cluster, files) = (state(&["a"], "first", false), state(&["b"], "second", true));
        let both = OverlaidState::new(cluster, files, &[StateKind::POD], &["shop"]);
        assert!(both.list(StateKind::POD, "shop").is_none());
        assert!(matches!(both.get(StateKind::POD, "shop", "b"), Lookup::Found(_)));
        assert!(matches!(both.get(StateKind::POD, "shop", "d"), Lookup::Unknown));
    }
}
