//! The cluster: its objects, and what indexes of snapshots among them say of the objects that are not there.

use std::path::Path;

use pratique::{FeatureGates, Objects, Release, ServerVersion};
use pratique_json::Value;
use pratique_rbac::Completeness;
use pratique_state::snapshot::SnapshotIndex;
use pratique_state::{ClusterObjects, ObjectOrigin, StoredState, completeness};
use pratique_types::GroupVersionKind;

use crate::findings::Finding;
use crate::input;
use crate::request::File;

/// Objects of a cluster. Without the index of a snapshot they are all that there are.
#[derive(Debug, Default)]
pub(crate) struct GivenCluster {
    pub(crate) objects: Vec<Value<'static>>,
    snapshots: Vec<StoredState>,
    /// What policies see of them, the resources that it serves, and the kinds of its definitions.
    pub(crate) known: ClusterObjects,
    /// The release of the server, with its feature gates.
    pub(crate) gates: FeatureGates,
    /// What is to be told of the server's version.
    pub(crate) version_note: Option<String>,
}

/// The texts that a snapshot consists of: one with its index and its objects, or, where the index stands alone, as in the
/// directory that `pratique snapshot` writes, all of its directory.
struct SnapshotTexts<'t> {
    path: &'t str,
    index: &'t Value<'static>,
    has_objects: bool,
}

impl SnapshotTexts<'_> {
    /// Whether a text is one of them.
    fn has(&self, path: &str) -> bool {
        let directory = |path| Path::new(path).parent();
        path == self.path || (!self.has_objects && directory(path) == directory(self.path))
    }
}

impl GivenCluster {
    /// Reads the objects and the indexes of all texts. The server is of a release that is named, or else of that of a snapshot.
    pub(crate) fn read(files: &[File], named: Option<&str>, problems: &mut Vec<Finding>) -> Self {
        let mut cluster = GivenCluster::default();
        let read = files.iter().flat_map(|file| {
            let objects = input::read(&file.path, &file.text, problems).into_iter();
            objects.map(move |object| (file.path.as_str(), object))
        });
        let (indexes, objects): (Vec<_>, Vec<_>) =
            read.partition(|(_, object)| SnapshotIndex::is_index(object));
        let snapshots: Vec<_> = indexes
            .iter()
            .map(|(path, index)| SnapshotTexts {
                path,
                index,
                has_objects: objects.iter().any(|(of, _)| of == path),
            })
            .collect();
        let states = snapshots.iter().map(|snapshot| {
            let stored = objects.iter().filter(|(path, _)| snapshot.has(path));
            StoredState::new(snapshot.index, stored.map(|(_, object)| object))
        });
        let states: Vec<_> = states.collect();
        for (path, object) in objects {
            // What a snapshot has was stored by a server.
            let origin = if snapshots.iter().any(|snapshot| snapshot.has(path)) {
                ObjectOrigin::Stored
            } else {
                ObjectOrigin::Given
            };
            cluster.add(object, (path, origin), problems);
        }
        let version = indexes.iter().find_map(|(_, index)| {
            let version = SnapshotIndex::read(index).ok()?.server_version;
            (!version.is_empty()).then_some(version)
        });
        cluster.take_release(named, version.as_deref(), problems);
        for ((path, _), state) in indexes.iter().zip(states) {
            match state {
                Ok(state) => {
                    state.resolve(&mut cluster.known.resolver);
                    cluster.snapshots.push(state);
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
        self.version_note = server.and_then(|server| match named {
            Some(_) => server.note_as(release, "as kubernetesVersion says"),
            None => server.note(),
        });
        self.gates = FeatureGates::new(release);
        self.known = std::mem::take(&mut self.known).with_gates(self.gates);
    }

    /// Adds an object of a file. A definition that defines nothing is a problem.
    fn add(
        &mut self,
        object: Value<'static>,
        (path, origin): (&str, ObjectOrigin),
        problems: &mut Vec<Finding>,
    ) {
        match self.known.add(object.clone(), origin) {
            Ok(()) => self.objects.push(object),
            Err(error) => {
                problems.push(Finding::plain("invalid-field", error.to_string()).within(path));
            }
        }
    }

    /// What policies see of it. If the request has a `namespace` that is assumed to exist, so has each: only their names are
    /// known. Of a snapshot, namespaces exist that it does not have unless it has all.
    pub(crate) fn view(&self, namespace: Option<&str>) -> Objects {
        let mut view = self.known.objects.clone();
        if namespace.is_some() && self.snapshots.is_empty() {
            view.assume_namespaces();
        }
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
