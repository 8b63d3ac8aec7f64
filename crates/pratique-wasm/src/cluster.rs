//! The cluster: its objects, and what indexes of snapshots among them say of the objects that are not there.

use pratique::api_objects::ApiObjects;
use pratique::{FeatureGates, Objects, Release, ServerVersion};
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
    /// The release of the server, with its feature gates.
    pub(crate) gates: FeatureGates,
    /// What is to be told of the server's version.
    pub(crate) version_note: Option<String>,
}

impl Cluster {
    /// Reads the objects and the indexes of all texts. The server is of a release that is named, or else of that of a snapshot.
    pub(crate) fn read(files: &[File], named: Option<&str>, problems: &mut Vec<Finding>) -> Self {
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
        let version = indexes.iter().find_map(|(_, index)| {
            let version = SnapshotIndex::read(index).ok()?.server_version;
            (!version.is_empty()).then_some(version)
        });
        cluster.take_release(named, version.as_deref(), problems);
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

    /// Takes the release of the server: the one that is named, or else that of the version that it says.
    fn take_release(&mut self, named: Option<&str>, version: Option<&str>, problems: &mut Vec<Finding>) {
        let server = version.map(ServerVersion::parse);
        let of_server = || server.as_ref().map_or(Release::latest(), ServerVersion::release);
        let release = match named.map(Release::by_version).transpose() {
            Ok(named) => named.unwrap_or_else(of_server),
            Err(error) => {
                let problem = Finding::plain("invalid-field", error.to_string());
                problems.push(problem.within("kubernetesVersion"));
                return;
            }
        };
        self.version_note = match (&server, named) {
            (Some(server), Some(_)) if server.release() != release || server.note().is_some() => {
                Some(format!(
                    "the server's version is {}: it is taken for one of Kubernetes {release}, as kubernetesVersion says",
                    server.as_str()
                ))
            }
            (Some(server), None) => server.note(),
            _ => None,
        };
        self.gates = FeatureGates::new(release);
        self.kinds = std::mem::take(&mut self.kinds).with_gates(self.gates);
        self.resolver = std::mem::take(&mut self.resolver).with_release(release);
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
        let view = cluster::cluster(&self.objects, namespace.filter(|_| self.snapshots.is_empty()));
        let mut view = view.with_release(self.gates.release());
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
