//! Reads of a cluster what a set of policies needs.

use std::collections::{BTreeMap, BTreeSet};

use pratique_json::Value;
use pratique_kube::{ApiServer, ClusterReader, ListOf, ReadError};
use pratique_rbac::KnownSubjects;
use pratique_schema::Release;
use pratique_state::snapshot::{Extent, SnapshotIndex, SnapshotKind, SnapshotResource, role_kinds};
use pratique_types::ObjectRef;
use pratique_types::builtin::ServedResource;
use pratique_types::{ADMISSION_GROUP, GroupVersion, GroupVersionKind, GroupVersionResource};

use super::kinds::{POLICIES, VERSIONS, WEBHOOKS};
use super::required_state::{CustomGroups, RequiredState};
use super::{ClusterSnapshot, warn};
use crate::exit::CliError;
use crate::output::text::text;
use crate::snapshot::snapshot_error::SnapshotError;
use crate::time;

/// Reads a cluster into a snapshot.
pub(crate) struct SnapshotFetch {
    reader: ClusterReader,
    /// Where the cluster is.
    url: String,
    /// The resources that it serves; empty if these are not known.
    served: Vec<ServedResource>,
    is_discovered: bool,
    index: SnapshotIndex,
    objects: BTreeMap<GroupVersionKind, Vec<Value<'static>>>,
    /// The groups whose definitions were read.
    defined: CustomGroups,
}

/// Why there is no object of a kind.
const NOT_SERVED: &str = "the cluster does not serve it";

/// Secrets that are read.
#[derive(Clone, Copy)]
pub(super) enum FetchedSecrets<'a> {
    /// All, where policies have them as params.
    Params,
    /// Those named, by namespace and name.
    Named(&'a [(String, String)]),
}

impl SnapshotFetch {
    /// Connects, and asks what the cluster serves.
    ///
    /// # Errors
    /// The cluster cannot be reached, or does not know who asks.
    pub(super) fn start(server: &ApiServer) -> Result<Self, CliError> {
        let url = server.url().trim_end_matches('/').to_owned();
        let reader = server.reader();
        let unreachable = |error: ReadError| {
            CliError::Snapshot(SnapshotError::Cluster {
                url: url.clone(),
                why: error.to_string(),
            })
        };
        let version = match reader.version() {
            Err(error) if error.is_of_connection() => return Err(unreachable(error)),
            version => version.unwrap_or_default(),
        };
        let served = match reader.discovered() {
            Err(error) if error.is_of_connection() => return Err(unreachable(error)),
            Err(error) => {
                warn(&text!("{}: what it serves is not known: {}", url, error));
                None
            }
            Ok(served) => Some(served),
        };
        let is_discovered = served.is_some();
        let discovery = served.unwrap_or_default();
        let unavailable = discovery.unavailable.iter();
        let unavailable: BTreeSet<String> = unavailable.map(|(version, _)| version.group.clone()).collect();
        let served = discovery.served();
        let mut index = SnapshotIndex::new();
        index.server_version = version;
        let builtin = index.release().resources();
        let custom = served.iter().filter(|served_resource| {
            builtin
                .find(&served_resource.resource, &served_resource.subresource)
                .is_none()
        });
        index.served = custom.map(SnapshotResource::from_served).collect();
        index.taken = time::now();
        index.discovered = is_discovered;
        index.unavailable = unavailable.into_iter().collect();
        Ok(SnapshotFetch {
            reader,
            url,
            served,
            is_discovered,
            index,
            objects: BTreeMap::new(),
            defined: CustomGroups::default(),
        })
    }

    /// The snapshot; policies are given as files as well.
    pub(super) fn into_snapshot(self) -> ClusterSnapshot {
        ClusterSnapshot {
            index: self.index,
            objects: self.objects.into_values().flatten().collect(),
            policies: Vec::new(),
            misplaced: None,
        }
    }

    /// A snapshot of what was read until now.
    pub(super) fn snapshot(&self) -> ClusterSnapshot {
        ClusterSnapshot {
            index: self.index.clone(),
            objects: self.objects.values().flatten().cloned().collect(),
            policies: Vec::new(),
            misplaced: None,
        }
    }

    /// The release of the server; the nearest one that is known, or the latest if it does not say its version.
    pub(super) fn release(&self) -> &'static Release {
        self.index.release()
    }

    /// The version of the server, as it says it; empty if it cannot be read.
    pub(super) fn server_version(&self) -> &String {
        &self.index.server_version
    }

    /// Where the cluster is.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// The objects of a kind that were read.
    pub(super) fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Value<'static>> {
        let kinds = self
            .objects
            .iter()
            .filter(move |(object_kind, _)| object_kind.kind == kind);
        kinds.flat_map(|(_, objects)| objects)
    }

    /// Reads namespaces, params, what plugins look up, and definitions.
    pub(super) fn state(&mut self, required: &RequiredState, secrets: FetchedSecrets<'_>) {
        self.builtin("", "Namespace");
        for kind in &required.params {
            match secrets {
                FetchedSecrets::Named(named) if is_secret(kind) => self.secrets(named),
                _ => self.params(kind),
            }
        }
        if let FetchedSecrets::Named(named @ [_, ..]) = secrets {
            self.secrets(named);
        }
        for kind in &required.plugin_kinds {
            self.builtin(kind.group, kind.kind);
        }
        self.definitions(&required.definitions);
    }

    /// Reads policies and their bindings, in the version that is served.
    pub(super) fn policies(&mut self) {
        POLICIES
            .iter()
            .for_each(|(kind, resource)| self.admission(kind, resource));
    }

    /// Reads webhook configurations.
    pub(super) fn webhooks(&mut self) {
        WEBHOOKS
            .iter()
            .for_each(|(kind, resource)| self.admission(kind, resource));
    }

    /// Reads all objects of a kind of Kubernetes, in the version that is served.
    pub(super) fn builtin(&mut self, group: &str, kind: &str) {
        let of_kind = |known: &&ServedResource| {
            known.subresource.is_empty() && known.kind.group == group && known.kind.kind == kind
        };
        let known = || {
            let resources = self.release().resources();
            let all = resources.served().iter().chain(resources.optional());
            all.filter(of_kind)
        };
        let is_served =
            |known: &&ServedResource| self.served.iter().any(|served| served.resource == known.resource);
        // Of a kind that discovery does not name, the server says whether there is none.
        let resource = known().find(is_served).or_else(|| known().next());
        if let Some(resource) = resource {
            self.list(&resource.resource, &resource.kind);
        }
    }

    /// Reads roles and bindings: those of some subjects, or all.
    pub(super) fn roles(&mut self, subjects: Option<&KnownSubjects>) {
        role_kinds().for_each(|kind| self.builtin(&kind.group, &kind.kind));
        let Some(subjects) = subjects else { return };
        let mut roles = BTreeSet::new();
        for kind in ["ClusterRoleBinding", "RoleBinding"] {
            self.retain(kind, |binding| {
                let role = subjects.bound_role(binding);
                let namespace = match &role {
                    Some(role) if role.kind == "Role" => ObjectRef::new(binding).namespace(),
                    _ => "",
                };
                let bound = role.map(|role| (role.kind, namespace.to_owned(), role.name));
                let is_bound = bound.is_some();
                roles.extend(bound);
                is_bound
            });
        }
        for kind in ["ClusterRole", "Role"] {
            self.retain(kind, |role| {
                let (namespace, name) = (ObjectRef::new(role).namespace(), ObjectRef::new(role).name());
                roles.contains(&(kind.to_owned(), namespace.to_owned(), name.to_owned()))
            });
        }
        // The rules of aggregated roles are there, but not the roles that they are taken from.
        for objects in self.of_kind_mut("ClusterRole") {
            for role in objects {
                if let Value::Object(members) = role {
                    members.remove("aggregationRule");
                }
            }
        }
    }

    fn of_kind_mut(&mut self, kind: &str) -> impl Iterator<Item = &mut Vec<Value<'static>>> {
        let kinds = self
            .objects
            .iter_mut()
            .filter(move |(object_kind, _)| object_kind.kind == kind);
        kinds.map(|(_, objects)| objects)
    }

    /// Keeps some objects of a kind; these are what the index counts.
    fn retain(&mut self, kind: &str, mut keeps: impl FnMut(&Value<'static>) -> bool) {
        let mut count = 0;
        for objects in self.of_kind_mut(kind) {
            objects.retain(|object| keeps(object));
            count += objects.len();
        }
        let entry = self.index.kinds.iter_mut().find(|entry| entry.kind == kind);
        if let Some(entry) = entry {
            entry.objects = count;
        }
    }

    /// Reads all objects of a kind of params.
    fn params(&mut self, kind: &GroupVersionKind) {
        let of_kind = |served: &&ServedResource| served.subresource.is_empty() && served.kind == *kind;
        let known = self
            .release()
            .resources()
            .resource_of(kind)
            .or_else(|| self.served.iter().find(of_kind));
        if let Some(known) = known.cloned() {
            return self.list(&known.resource, kind);
        }
        // Discovery may leave out groups whose server is down.
        let version = GroupVersion {
            group: kind.group.clone(),
            version: kind.version.clone(),
        };
        match self.reader.served_in(&version) {
            Ok(served) => match served.unwrap_or_default().iter().find(of_kind) {
                Some(served_resource) => {
                    self.index
                        .served
                        .push(SnapshotResource::from_served(served_resource));
                    self.list(&served_resource.resource.clone(), kind);
                }
                None => self.entry(kind, 0, Extent::All, NOT_SERVED),
            },
            Err(error) => self.entry(kind, 0, Extent::Unknown, &error.to_string()),
        }
    }

    /// Reads the objects of a kind.
    fn list(&mut self, resource: &GroupVersionResource, kind: &GroupVersionKind) {
        if self.index.kinds.iter().any(|entry| is_of(entry, kind)) {
            return;
        }
        let of = ListOf {
            resource,
            kind,
            namespace: None,
        };
        match self.reader.list(of, |_| true) {
            Ok(objects) => {
                self.entry(kind, objects.len(), Extent::All, "");
                self.objects.insert(kind.clone(), objects);
            }
            Err(error) if error.is_not_found() => self.entry(kind, 0, Extent::All, NOT_SERVED),
            Err(error) => self.entry(kind, 0, Extent::Unknown, &error.to_string()),
        }
    }

    /// Reads single Secrets.
    fn secrets(&mut self, named: &[(String, String)]) {
        let kind = GroupVersionKind::new("", "v1", "Secret");
        if self.index.kinds.iter().any(|entry| is_of(entry, &kind)) {
            return;
        }
        let resource = GroupVersionResource::new("", "v1", "secrets");
        let (mut secrets, mut problems) = (Vec::new(), Vec::new());
        for (namespace, name) in named {
            let of = ListOf {
                resource: &resource,
                kind: &kind,
                namespace: Some(namespace),
            };
            match self.reader.get(of, name) {
                Ok(Some(secret)) => secrets.push(secret),
                Ok(None) => problems.push(format!("{namespace}/{name} does not exist")),
                Err(error) => problems.push(error.to_string()),
            }
        }
        problems.insert(0, "those that --secrets names".to_owned());
        self.entry(&kind, secrets.len(), Extent::Chosen, &problems.join("; "));
        self.objects.insert(kind, secrets);
    }

    /// Reads the definitions of custom resources of some groups, besides those that were read before.
    fn definitions(&mut self, groups: &CustomGroups) {
        let groups = &self.defined.union(groups);
        if *groups == self.defined {
            return;
        }
        let kind = GroupVersionKind::custom_resource_definition();
        let resource = GroupVersionResource::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");
        let of = ListOf {
            resource: &resource,
            kind: &kind,
            namespace: None,
        };
        let read = match groups {
            CustomGroups::Named(groups) if self.is_discovered => self.definitions_of(groups, of),
            _ => self.reader.list(of, is_established),
        };
        self.index.kinds.retain(|entry| !is_of(entry, &kind));
        self.defined = groups.clone();
        match read {
            Ok(mut objects) => {
                if let CustomGroups::Named(groups) = groups {
                    let group = |object: &Value<'_>| {
                        object
                            .at(&["spec", "group"])
                            .and_then(Value::as_str)
                            .map(str::to_owned)
                    };
                    objects.retain(|object| group(object).is_some_and(|group| groups.contains(&group)));
                }
                let (extent, reason) = match groups {
                    CustomGroups::All => (Extent::All, ""),
                    CustomGroups::Named(_) => (Extent::Chosen, "those of the groups that policies name"),
                };
                self.entry(&kind, objects.len(), extent, reason);
                self.objects.insert(kind, objects);
            }
            Err(error) => self.entry(&kind, 0, Extent::Unknown, &error.to_string()),
        }
    }

    /// The definitions of the resources that some groups have.
    fn definitions_of(
        &self,
        groups: &BTreeSet<String>,
        of: ListOf<'_>,
    ) -> Result<Vec<Value<'static>>, ReadError> {
        let resources = self.served.iter().map(|served| &served.resource);
        let resources = resources.filter(|resource| groups.contains(&resource.group));
        let names: BTreeSet<String> = resources
            .map(|resource| format!("{}.{}", resource.resource, resource.group))
            .collect();
        let mut definitions = Vec::new();
        for name in names {
            // A resource of an aggregated API server has none.
            definitions.extend(
                self.reader
                    .get(of, &name)?
                    .filter(|object| is_established(object)),
            );
        }
        Ok(definitions)
    }

    /// Reads policies or webhook configurations of the first version that is served.
    fn admission(&mut self, kind: &str, resource: &str) {
        let of_version = |version: &str| GroupVersionResource::new(ADMISSION_GROUP, version, resource);
        let is_served = |version: &&&str| {
            let resource = of_version(version);
            self.served.iter().any(|served| served.resource == resource)
        };
        let version = VERSIONS.iter().find(is_served);
        let is_missing = version.is_none() && self.is_discovered;
        let version = version.copied().unwrap_or("v1");
        let version_kind = GroupVersionKind::new(ADMISSION_GROUP, version, kind);
        if is_missing {
            self.entry(&version_kind, 0, Extent::All, NOT_SERVED)
        } else {
            self.list(&of_version(version), &version_kind)
        }
    }

    /// Records in the index how much of a kind is known.
    fn entry(&mut self, kind: &GroupVersionKind, objects: usize, extent: Extent, reason: &str) {
        if self.index.kinds.iter().any(|entry| is_of(entry, kind)) {
            return;
        }
        self.index.kinds.push(SnapshotKind {
            api_version: kind.api_version(),
            kind: kind.kind.clone(),
            objects,
            extent,
            reason: reason.to_owned(),
        });
    }

    /// The index, to add to it.
    pub(super) fn index_mut(&mut self) -> &mut SnapshotIndex {
        &mut self.index
    }
}

fn is_of(entry: &SnapshotKind, kind: &GroupVersionKind) -> bool {
    entry.kind == kind.kind && entry.api_version == kind.api_version()
}

fn is_secret(kind: &GroupVersionKind) -> bool {
    kind.is_core("Secret")
}

/// Whether a cluster says that it serves what a definition defines.
fn is_established(definition: &Value<'_>) -> bool {
    let conditions = definition.at(&["status", "conditions"]).and_then(Value::as_array);
    let text = |condition: &Value<'_>, field: &str| {
        let text = condition.get(field).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    conditions
        .unwrap_or_default()
        .iter()
        .any(|condition| text(condition, "type") == "Established" && text(condition, "status") == "True")
}
