//! A cluster whose objects somebody gives as texts: its objects, and what indexes of snapshots among them say of the objects that
//! are not there.

use std::path::Path;
use std::sync::Arc;

use pratique::authorization::Authorizer;
use pratique::{FeatureGates, Objects, ServerVersion};
use pratique_json::Value;
use pratique_manifest::convert::objects;
use pratique_manifest::{Location, ManifestFile, Position, Problem, Rule};
use pratique_schema::Release;
use pratique_types::GroupVersionKind;
use serde::Deserialize;

use crate::authorizer::authorizer_of;
use crate::cluster_objects::{ClusterObjects, ObjectOrigin};
use crate::rule_file::read_rules;
use crate::snapshot::SnapshotIndex;
use crate::stored_state::{StoredState, completeness};

/// A text with a name, which locations refer to.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextFile {
    /// Its name.
    pub path: String,
    /// YAML or JSON.
    pub text: String,
}

impl From<&TextFile> for ManifestFile {
    fn from(file: &TextFile) -> Self {
        ManifestFile {
            path: file.path.clone(),
            content: file.text.clone().into_bytes(),
        }
    }
}

/// Objects of a cluster. Without the index of a snapshot they are all that there are.
///
/// ```
/// use pratique_schema::Release;
/// use pratique_state::{ServerRelease, TextCluster, TextFile};
///
/// let text = "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}";
/// let file = TextFile { path: "shop.yaml".into(), text: text.into() };
/// let release = ServerRelease { usual: Release::latest(), named: Some("1.36"), by: "--release" };
/// let (cluster, problems) = TextCluster::read(&[file], release);
/// assert!(problems.is_empty());
/// assert_eq!(cluster.gates.release().to_string(), "1.36");
/// ```
#[derive(Debug, Default)]
pub struct TextCluster {
    objects: Vec<Value<'static>>,
    snapshots: Vec<StoredState>,
    /// What policies see of them, the resources that it serves, and the kinds of its definitions.
    pub known: ClusterObjects,
    /// The release of the server, with its feature gates.
    pub gates: FeatureGates,
    /// What is to be told of the server's version.
    pub version_note: Option<String>,
}

/// The release of a server: the one that is named, or else that of the version in a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct ServerRelease<'n> {
    /// The release where neither says one.
    pub usual: &'static Release,
    /// The version that is named, such as `1.37`.
    pub named: Option<&'n str>,
    /// What names it.
    pub by: &'n str,
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

impl TextCluster {
    /// Reads the objects and the indexes of all texts; gives what is wrong with them.
    pub fn read(files: &[TextFile], release: ServerRelease<'_>) -> (Self, Vec<Problem>) {
        let (mut cluster, mut problems) = (TextCluster::default(), Vec::new());
        let mut read = Vec::new();
        for file in files {
            match objects(&ManifestFile::from(file)) {
                Ok(objects) => read.extend(objects.into_iter().map(|object| (file.path.as_str(), object))),
                Err(faults) => problems.extend(faults),
            }
        }
        let (indexes, objects): (Vec<_>, Vec<_>) = read
            .into_iter()
            .partition(|(_, object)| SnapshotIndex::is_index(object));
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
            match cluster.known.add(object.clone(), origin) {
                Ok(()) => cluster.objects.push(object),
                Err(error) => problems.push(invalid_text(path, error.to_string())),
            }
        }
        let version = indexes.iter().find_map(|(_, index)| {
            let version = SnapshotIndex::read(index).ok()?.server_version;
            (!version.is_empty()).then_some(version)
        });
        problems.extend(cluster.take_release(release, version.as_deref()));
        for ((path, _), state) in indexes.iter().zip(states) {
            match state {
                Ok(state) => {
                    state.resolve(&mut cluster.known.resolver);
                    cluster.snapshots.push(state);
                }
                Err(error) => problems.push(invalid_text(path, error.to_string())),
            }
        }
        (cluster, problems)
    }

    /// Takes the release of the server: the one that is named, or else that of the version that it says. One that is not known is a
    /// problem.
    fn take_release(&mut self, release: ServerRelease<'_>, version: Option<&str>) -> Option<Problem> {
        let ServerRelease { usual, named, by } = release;
        let server = version.map(ServerVersion::parse);
        let of_server = || server.as_ref().map_or(usual, ServerVersion::release);
        let release = match named.map(Release::by_version).transpose() {
            Ok(named) => named.unwrap_or_else(of_server),
            Err(error) => return Some(invalid_text(by, error.to_string())),
        };
        self.version_note = server.and_then(|server| match named {
            Some(_) => server.note_as(release, &format!("as {by} says")),
            None => server.note(),
        });
        self.gates = FeatureGates::new(release);
        self.known = std::mem::take(&mut self.known).with_gates(self.gates);
        None
    }

    /// What policies see of it. If requests are in namespaces that are `assumed` to exist, so has each: only their names are known. Of
    /// a snapshot, namespaces exist that it does not have unless it has all.
    pub fn view(&self, is_assumed: bool) -> Objects {
        let mut view = self.known.objects.clone();
        for snapshot in &self.snapshots {
            snapshot.apply(&mut view);
        }
        let namespace = GroupVersionKind::new("", "v1", "Namespace");
        let has_all = |snapshot: &StoredState| snapshot.complete.contains(&namespace);
        let assumes = match self.snapshots.as_slice() {
            [] => is_assumed,
            snapshots => !snapshots.iter().any(has_all),
        };
        if assumes {
            view.assume_namespaces();
        }
        view
    }

    /// The authorizer of the rules of a text, if there is one, and of the roles of the cluster.
    ///
    /// # Errors
    /// The rules cannot be read.
    pub fn authorizer(&self, rules: Option<&TextFile>) -> Result<Arc<dyn Authorizer>, Vec<Problem>> {
        let rules = rules.filter(|file| !file.text.trim().is_empty());
        let rules = rules.map(|file| read_rules(&file.into())).transpose()?;
        Ok(authorizer_of(rules, &self.objects, completeness(&self.snapshots)))
    }
}

/// The one object of a text; `None` of an empty one.
///
/// # Errors
/// There are several, or it cannot be read.
pub fn read_object(file: &TextFile) -> Result<Option<Value<'static>>, Vec<Problem>> {
    let mut objects = objects(&file.into())?;
    if objects.len() > 1 {
        let message = format!("there are {} objects; a request has one", objects.len());
        return Err(vec![invalid_text(&file.path, message)]);
    }
    Ok(objects.pop())
}

/// What is wrong with a text as a whole.
pub fn invalid_text(name: &str, message: impl Into<String>) -> Problem {
    let start = Position {
        line: 1,
        column: 1,
        offset: 0,
    };
    Problem::new(Rule::InvalidField, message).at(Location {
        file: name.into(),
        document: 0,
        start,
        end: start,
    })
}
