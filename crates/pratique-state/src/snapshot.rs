//! The index of a snapshot: what a directory of objects holds of a cluster, and what it does not.
//!
//! A snapshot is a directory of YAML files with objects, and a file [`FILE`] among them: an object of kind [`KIND`], which
//! says of which kinds all objects are there. What it does not name is not known.

use std::collections::BTreeMap;

use pratique_json::Value;
use pratique_rbac::{Completeness, KnownSubjects};
use pratique_schema::{Release, ServerVersion};
use pratique_types::builtin::ServedResource;
use pratique_types::{GroupVersion, GroupVersionKind, InvalidGroupVersion};
use serde::{Deserialize, Serialize};

use crate::API_VERSION;
use crate::yaml;
use pratique_json::text_at;
use pratique_request::{ResourceResolver, Source, kind_of};

/// The `kind` of an index.
pub const KIND: &str = "Snapshot";

/// The name of the file of an index.
pub const FILE: &str = "snapshot.yaml";

/// The index of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SnapshotIndex {
    api_version: String,
    kind: String,
    /// When it was taken, in RFC 3339.
    pub taken: String,
    /// The version of the API server, if it is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub server_version: String,
    /// The kinds that were asked for.
    pub kinds: Vec<SnapshotKind>,
    /// Whose roles and bindings are there; without, those of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subjects: Option<SnapshotSubjects>,
    /// What objects have in the cluster and lack here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// The resources that the cluster serves besides those of Kubernetes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub served: Vec<SnapshotResource>,
    /// Whether these are all, but for the groups that were not available.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub discovered: bool,
    /// The groups whose server was down, so that it is not known what is served in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<String>,
}

/// A kind of objects, and how many of them there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SnapshotKind {
    /// Group and version.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The number of objects.
    pub objects: usize,
    /// Which of those that the cluster has they are.
    pub extent: Extent,
    /// Why they are not all, or why there are none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// How much of a kind is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Extent {
    /// All objects: there are no others.
    All,
    /// Those that were chosen.
    Chosen,
    /// None could be read.
    #[default]
    Unknown,
}

/// Users and groups.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SnapshotSubjects {
    /// Names of users.
    pub users: Vec<String>,
    /// Names of groups.
    pub groups: Vec<String>,
}

/// A resource that a cluster serves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SnapshotResource {
    /// Group and version.
    pub api_version: String,
    /// The kind of its objects.
    pub kind: String,
    /// The resource, or `RESOURCE/SUBRESOURCE`.
    pub resource: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Group and version of the kind, if they are others.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind_api_version: String,
}

/// Why an object is no index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// It has fields of other types.
    #[error("the index of a snapshot cannot be read: {0}")]
    Malformed(#[from] serde_json::Error),
    /// It names a version that is none.
    #[error("the index of a snapshot cannot be read: {0}")]
    Version(#[from] InvalidGroupVersion),
}

impl SnapshotIndex {
    /// An index without kinds.
    pub fn new() -> Self {
        SnapshotIndex {
            api_version: API_VERSION.to_owned(),
            kind: KIND.to_owned(),
            ..SnapshotIndex::default()
        }
    }

    /// The release of the server: the nearest that is known, or the latest if its version is not known.
    pub fn release(&self) -> &'static Release {
        ServerVersion::parse(&self.server_version).release()
    }

    /// Whether an object is an index.
    pub fn is_index(object: &Value<'_>) -> bool {
        text_at(object, &["apiVersion"]) == API_VERSION && text_at(object, &["kind"]) == KIND
    }

    /// Reads an index.
    ///
    /// # Errors
    /// It has fields of other types, or names versions that are none.
    pub fn read(object: &Value<'_>) -> Result<Self, IndexError> {
        let index: SnapshotIndex = serde_json::from_str(&object.to_string())?;
        for kind in &index.kinds {
            kind.version_kind()?;
        }
        index.served()?;
        Ok(index)
    }

    /// The index as YAML.
    ///
    /// # Errors
    /// None that an index could cause.
    pub fn to_yaml(&self) -> Result<String, IndexError> {
        let text = serde_json::to_string(self)?;
        let value = pratique_json::parse(text.as_bytes());
        let value = value.map_err(|error| serde::ser::Error::custom(error.to_string()));
        Ok(yaml::block(&value.map_err(IndexError::Malformed)?, 0))
    }

    /// The kinds of which all objects are there, if `counts` of them are: objects may have been removed since.
    pub fn complete(&self, counts: &BTreeMap<GroupVersionKind, usize>) -> Vec<GroupVersionKind> {
        let complete = self.kinds.iter().filter(|kind| kind.extent == Extent::All);
        complete
            .filter_map(|kind| {
                let version_kind = kind.version_kind().ok()?;
                let count = counts.get(&version_kind).copied().unwrap_or_default();
                (count >= kind.objects).then_some(version_kind)
            })
            .collect()
    }

    /// How much the roles and bindings say of permissions, where all objects of some kinds are there.
    pub fn permissions(&self, complete: &[GroupVersionKind]) -> Completeness {
        match (&self.subjects, has_all_roles(|kind| complete.contains(kind))) {
            (_, false) => Completeness::Partial,
            (None, true) => Completeness::Complete,
            (Some(known), true) => {
                let (users, groups) = (known.users.clone(), known.groups.clone());
                Completeness::Of(KnownSubjects::new(users, groups))
            }
        }
    }

    /// Adds the resources to those that are known of a cluster.
    pub fn resolve(&self, resolver: &mut ResourceResolver) {
        resolver.serve(self.served().unwrap_or_default());
        if self.discovered {
            resolver.complete(Source::Discovery, self.unavailable.iter().cloned());
        }
    }

    /// The resources that the cluster serves besides those of Kubernetes.
    ///
    /// # Errors
    /// One has a version that is none.
    pub fn served(&self) -> Result<Vec<ServedResource>, InvalidGroupVersion> {
        self.served.iter().map(SnapshotResource::resource).collect()
    }
}

/// How many objects there are of each kind.
pub fn count_kinds<'o>(
    objects: impl IntoIterator<Item = &'o Value<'static>>,
) -> BTreeMap<GroupVersionKind, usize> {
    let mut counts = BTreeMap::new();
    let kinds = objects.into_iter().filter_map(|object| kind_of(object).ok());
    kinds.for_each(|kind| *counts.entry(kind).or_default() += 1);
    counts
}

/// The kinds of roles and their bindings.
pub fn role_kinds() -> impl Iterator<Item = GroupVersionKind> {
    let kinds = ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"].into_iter();
    kinds.map(|kind| GroupVersionKind::new("rbac.authorization.k8s.io", "v1", kind))
}

/// Whether all roles and bindings are known, where all objects of some kinds are.
pub fn has_all_roles(is_complete: impl Fn(&GroupVersionKind) -> bool) -> bool {
    role_kinds().all(|kind| is_complete(&kind))
}

impl SnapshotKind {
    /// Group, version and kind.
    ///
    /// # Errors
    /// Group and version are none.
    pub fn version_kind(&self) -> Result<GroupVersionKind, InvalidGroupVersion> {
        Ok(GroupVersion::parse(&self.api_version)?.with_kind(&self.kind))
    }
}

impl SnapshotResource {
    /// The entry of a resource.
    pub fn from_served(served: &ServedResource) -> Self {
        let resource = &served.resource;
        let version = GroupVersion {
            group: resource.group.clone(),
            version: resource.version.clone(),
        };
        let api_version = version.with_kind("").api_version();
        let kind_api_version = served.kind.api_version();
        SnapshotResource {
            kind: served.kind.kind.clone(),
            resource: match served.subresource.as_str() {
                "" => resource.resource.clone(),
                subresource => format!("{}/{subresource}", resource.resource),
            },
            namespaced: served.namespaced,
            kind_api_version: if kind_api_version == api_version {
                String::new()
            } else {
                kind_api_version
            },
            api_version,
        }
    }

    fn resource(&self) -> Result<ServedResource, InvalidGroupVersion> {
        let version = GroupVersion::parse(&self.api_version)?;
        let (resource, subresource) = self.resource.split_once('/').unwrap_or((&self.resource, ""));
        let kind_version = match self.kind_api_version.as_str() {
            "" => version.clone(),
            other => GroupVersion::parse(other)?,
        };
        Ok(ServedResource {
            resource: version.with_resource(resource),
            subresource: subresource.to_owned(),
            kind: kind_version.with_kind(&self.kind),
            namespaced: self.namespaced,
            short_names: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use pratique_types::GroupVersionResource;

    use super::*;

    fn index() -> SnapshotIndex {
        let kind = |kind: &str, objects, extent| SnapshotKind {
            api_version: "v1".to_owned(),
            kind: kind.to_owned(),
            objects,
            extent,
            reason: String::new(),
        };
        let scale = ServedResource {
            resource: GroupVersionResource::new("example.com", "v1", "widgets"),
            subresource: "scale".to_owned(),
            kind: GroupVersionKind::new("autoscaling", "v1", "Scale"),
            namespaced: true,
            short_names: Vec::new(),
        };
        SnapshotIndex {
            taken: "2026-11-23T06:00:00Z".to_owned(),
            kinds: vec![
                kind("ConfigMap", 2, Extent::All),
                kind("Secret", 0, Extent::Unknown),
            ],
            served: vec![SnapshotResource::from_served(&scale)],
            discovered: true,
            unavailable: vec!["metrics.k8s.io".to_owned()],
            ..SnapshotIndex::new()
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let text = index().to_yaml().unwrap();
        let file = pratique_manifest::ManifestFile {
            path: FILE.to_owned(),
            content: text.clone().into_bytes(),
        };
        let contents = pratique_manifest::read_contents(&file);
        let source = &contents.documents[0].source;
        let value = pratique_manifest::convert::convert(source.tree(), source.root());
        assert!(SnapshotIndex::is_index(&value), "{text}");
        let read = SnapshotIndex::read(&value).unwrap();
        assert_eq!(read, index());
        assert_eq!(read.served().unwrap()[0].kind.kind, "Scale");
        assert_eq!(read.served().unwrap()[0].subresource, "scale");
    }

    #[test]
    fn removed_objects_are_not_known() {
        let config_map = GroupVersionKind::new("", "v1", "ConfigMap");
        let complete = |count| index().complete(&[(config_map.clone(), count)].into());
        for count in [2, 3] {
            assert_eq!(complete(count), std::slice::from_ref(&config_map));
        }
        assert_eq!(complete(1), []);
    }

    #[test]
    fn malformed_indexes_are_refused() {
        let read = |text: &str| SnapshotIndex::read(&pratique_json::parse(text.as_bytes()).unwrap());
        assert!(read(r#"{"kinds": [{"kind": "A", "apiVersion": "v1"}]}"#).is_ok());
        assert!(read(r#"{"kinds": [{"kind": "A", "apiVersion": "a/b/c"}]}"#).is_err());
        assert!(read(r#"{"kinds": 1}"#).is_err());
    }
}
