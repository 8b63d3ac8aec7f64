//! The cluster: its objects, and what indexes of snapshots among them say of the objects that are not there.

use pratique::Objects;
use pratique_json::Value;
use pratique_rbac::Completeness;
use pratique_suite::request::{self, cluster};
use pratique_suite::snapshot::SnapshotIndex;
use pratique_suite::{StoredState, completeness};
use pratique_types::GroupVersionKind;
use pratique_types::builtin::ServedResource;

use crate::findings::Finding;
use crate::input;
use crate::request::File;

/// Objects of a cluster. Without the index of a snapshot they are all that there are.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    pub(crate) objects: Vec<Value<'static>>,
    snapshots: Vec<StoredState>,
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
            cluster.objects.extend(objects);
        }
        for (path, index) in indexes {
            match StoredState::new(&index, &cluster.objects) {
                Ok(snapshot) => cluster.snapshots.push(snapshot),
                Err(error) => {
                    problems.push(Finding::plain("invalid-field", error.to_string()).within(path));
                }
            }
        }
        cluster
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

    /// The resources that it serves besides those of Kubernetes.
    pub(crate) fn defined(&self) -> Vec<ServedResource> {
        let mut defined = request::defined(&self.objects);
        let served = self.snapshots.iter().flat_map(|snapshot| &snapshot.served);
        defined.extend(served.filter(|served| served.subresource.is_empty()).cloned());
        defined
    }

    /// How much its roles and bindings say of permissions.
    pub(crate) fn permissions(&self) -> Completeness {
        completeness(&self.snapshots)
    }
}
