//! The cluster: its objects, and what indexes of snapshots among them say of the objects that are not there.

use pratique::Objects;
use pratique::api_objects::ApiObjects;
use pratique_json::Value;
use pratique_rbac::Completeness;
use pratique_request::{ResourceResolver, is_definition};
use pratique_state::cluster;
use pratique_state::snapshot::SnapshotIndex;
use pratique_state::{StoredState, completeness};
use pratique_types::GroupVersionKind;

use crate::findings::Finding;
use crate::input;
use crate::request::File;

/// Objects of a cluster. Without the index of a snapshot they are all that there are.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    pub(crate) objects: Vec<Value<'static>>,
    snapshots: Vec<StoredState>,
    /// The resources that it serves.
    pub(crate) resolver: ResourceResolver,
    /// The built-in kinds, and those of definitions.
    pub(crate) kinds: ApiObjects,
}

impl Cluster {
    /// Reads the objects and the indexes of all texts.
    pub(crate) fn read(files: &[File], problems: &mut Vec<Finding>) -> Self {
        let mut cluster = Cluster::default();
        let mut indexes = Vec::new();
        for file in files {
            let found = input::read(&file.path, &file.text, problems).into_iter();
            let (of_file, objects): (Vec<_>, Vec<_>) = found.partition(SnapshotIndex::is_index);
            indexes.extend(of_file.into_iter().map(|index| (&file.path, index)));
            for object in objects {
                cluster.add(object, &file.path, problems);
            }
        }
        for (path, index) in indexes {
            match StoredState::new(&index, &cluster.objects) {
                Ok(snapshot) => {
                    snapshot.resolve(&mut cluster.resolver);
                    cluster.snapshots.push(snapshot);
                }
                Err(error) => {
                    problems.push(Finding::plain("invalid-field", error.to_string()).within(path));
                }
            }
        }
        cluster
    }

    /// Adds an object. A definition that a server refuses is a problem.
    fn add(&mut self, object: Value<'static>, path: &str, problems: &mut Vec<Finding>) {
        if is_definition(&object) {
            match self.kinds.define(&object) {
                Ok(served) => self.resolver.define(&object, served),
                Err(error) => {
                    problems.push(Finding::plain("invalid-field", error.to_string()).within(path));
                    return;
                }
            }
        }
        self.objects.push(object);
    }

    /// What policies see of it. If the request has a `namespace` that is assumed to exist, so has each: only their names are
    /// known. Of a snapshot, namespaces exist that it does not have unless it has all.
    pub(crate) fn view(&self, namespace: Option<&str>) -> Objects {
        let mut view = cluster::cluster(&self.objects, namespace.filter(|_| self.snapshots.is_empty()));
        for snapshot in &self.snapshots {
            snapshot.apply(&mut view);
        }
        if !self.snapshots.is_empty() && !self.has_all(&GroupVersionKind::new("", "v1", "Namespace")) {
            view.assume_namespaces();
        }
        view
    }

    fn has_all(&self, kind: &GroupVersionKind) -> bool {
        self.snapshots
            .iter()
            .any(|snapshot| snapshot.complete.contains(kind))
    }

    /// How much its roles and bindings say of permissions.
    pub(crate) fn permissions(&self) -> Completeness {
        completeness(&self.snapshots)
    }
}
