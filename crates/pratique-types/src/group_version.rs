//! The names of kinds and resources.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use pratique_json::same_name;
use serde::{Deserialize, Serialize};

use crate::null::or_default;

/// An API group and one of its versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupVersion {
    /// The group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
}

/// A text that is no `apiVersion`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidGroupVersion(String);

/// A kind of objects.
#[derive(Clone, Debug, Default, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default)]
#[expect(
    clippy::derived_hash_with_manual_eq,
    reason = "what is equal is what would be derived"
)]
pub struct GroupVersionKind {
    /// The group; empty for the core group.
    #[serde(deserialize_with = "or_default")]
    pub group: String,
    /// The version.
    #[serde(deserialize_with = "or_default")]
    pub version: String,
    /// The kind.
    #[serde(deserialize_with = "or_default")]
    pub kind: String,
}

/// A resource, under which objects of a kind are served.
#[derive(Clone, Debug, Default, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default)]
#[expect(
    clippy::derived_hash_with_manual_eq,
    reason = "what is equal is what would be derived"
)]
pub struct GroupVersionResource {
    /// The group; empty for the core group.
    #[serde(deserialize_with = "or_default")]
    pub group: String,
    /// The version.
    #[serde(deserialize_with = "or_default")]
    pub version: String,
    /// The resource's plural name.
    #[serde(deserialize_with = "or_default")]
    pub resource: String,
}

/// A kind in any version.
#[derive(Clone, Debug, Default, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::derived_hash_with_manual_eq,
    reason = "what is equal is what would be derived"
)]
pub struct GroupKind {
    /// The group; empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
}

/// A resource in any version.
#[derive(Clone, Debug, Default, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::derived_hash_with_manual_eq,
    reason = "what is equal is what would be derived"
)]
pub struct GroupResource {
    /// The group; empty for the core group.
    pub group: String,
    /// The resource's plural name.
    pub resource: String,
}

/// Compares the parts that differ most often first, and groups, which are often empty, without a call.
macro_rules! equal_by {
    ($($of:ty: $($field:ident),+;)+) => {$(
        impl PartialEq for $of {
            fn eq(&self, other: &Self) -> bool {
                $(same_name(&self.$field, &other.$field))&&+
            }
        }
    )+};
}

equal_by! {
    GroupVersionKind: kind, group, version;
    GroupVersionResource: resource, group, version;
    GroupKind: kind, group;
    GroupResource: resource, group;
}

impl FromStr for GroupVersion {
    type Err = InvalidGroupVersion;

    fn from_str(api_version: &str) -> Result<Self, InvalidGroupVersion> {
        GroupVersion::parse(api_version)
    }
}

impl GroupVersion {
    /// Reads an `apiVersion`: `v1`, `apps/v1`; empty is the empty group and version.
    pub fn parse(api_version: &str) -> Result<Self, InvalidGroupVersion> {
        let mut parts = api_version.split('/');
        let (group, version) = match (parts.next(), parts.next(), parts.next()) {
            (Some("" | "/"), None, None) => ("", ""),
            (Some(version), None, None) => ("", version),
            (Some(group), Some(version), None) => (group, version),
            _ => return Err(InvalidGroupVersion(api_version.to_owned())),
        };
        Ok(GroupVersion {
            group: group.to_owned(),
            version: version.to_owned(),
        })
    }

    /// The kind of that name in this group and version.
    pub fn with_kind(self, kind: &str) -> GroupVersionKind {
        GroupVersionKind {
            group: self.group,
            version: self.version,
            kind: kind.to_owned(),
        }
    }

    /// The resource of that name in this group and version.
    pub fn with_resource(self, resource: &str) -> GroupVersionResource {
        GroupVersionResource {
            group: self.group,
            version: self.version,
            resource: resource.to_owned(),
        }
    }
}

impl GroupVersionKind {
    /// Names a kind.
    pub fn new(group: &str, version: &str, kind: &str) -> Self {
        GroupVersionKind {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
        }
    }

    /// Whether it is a kind of the core group, in whichever version.
    pub fn is_core(&self, kind: &str) -> bool {
        self.group.is_empty() && self.kind == kind
    }

    /// The kind of definitions of custom resources, in the version that API servers serve.
    pub fn custom_resource_definition() -> Self {
        GroupVersionKind::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    }

    /// Whether it is that of definitions of custom resources, in any version.
    pub fn is_custom_resource_definition(&self) -> bool {
        self.kind == "CustomResourceDefinition" && self.group == "apiextensions.k8s.io"
    }

    /// Reads a kind as tables write it: `apps/v1/Deployment`, `/v1/Pod`.
    pub fn from_path(path: &str) -> Option<Self> {
        let (group_version, kind) = path.rsplit_once('/')?;
        let (group, version) = group_version.rsplit_once('/')?;
        Some(GroupVersionKind::new(group, version, kind))
    }

    /// The group and version as objects write them: `v1`, `apps/v1`.
    pub fn api_version(&self) -> String {
        join(&self.group, &self.version)
    }

    /// Whether objects of this group and version write them like this.
    pub fn is_of_version(&self, api_version: &str) -> bool {
        match (self.group.as_str(), self.version.as_str()) {
            ("", version) => api_version == version,
            (group, version) => {
                let rest = api_version.strip_prefix(group);
                rest.and_then(|rest| rest.strip_prefix('/')) == Some(version)
            }
        }
    }

    /// The kind without its version.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind {
            group: self.group.clone(),
            kind: self.kind.clone(),
        }
    }

    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.group.is_empty() && self.version.is_empty() && self.kind.is_empty()
    }
}

impl GroupVersionResource {
    /// Names a resource.
    pub fn new(group: &str, version: &str, resource: &str) -> Self {
        GroupVersionResource {
            group: group.to_owned(),
            version: version.to_owned(),
            resource: resource.to_owned(),
        }
    }

    /// The resource without its version.
    pub fn group_resource(&self) -> GroupResource {
        GroupResource {
            group: self.group.clone(),
            resource: self.resource.clone(),
        }
    }
}

impl GroupKind {
    /// Names a kind.
    pub fn new(group: &str, kind: &str) -> Self {
        GroupKind {
            group: group.to_owned(),
            kind: kind.to_owned(),
        }
    }
}

impl GroupResource {
    /// Names a resource.
    pub fn new(group: &str, resource: &str) -> Self {
        GroupResource {
            group: group.to_owned(),
            resource: resource.to_owned(),
        }
    }
}

impl From<&GroupVersionKind> for GroupKind {
    fn from(kind: &GroupVersionKind) -> Self {
        kind.group_kind()
    }
}

impl From<&GroupVersionResource> for GroupResource {
    fn from(resource: &GroupVersionResource) -> Self {
        resource.group_resource()
    }
}

impl Display for GroupVersion {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&join(&self.group, &self.version))
    }
}

/// As API server messages show it: `apps/v1, Kind=Deployment`.
impl Display for GroupVersionKind {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}

/// As API server messages show it: `apps/v1, Resource=deployments`.
impl Display for GroupVersionResource {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}/{}, Resource={}",
            self.group, self.version, self.resource
        )
    }
}

/// As API server messages show it: `deployments.apps`, `pods`.
impl Display for GroupResource {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        dotted(formatter, &self.resource, &self.group)
    }
}

/// As API server messages show it: `Deployment.apps`, `Pod`.
impl Display for GroupKind {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        dotted(formatter, &self.kind, &self.group)
    }
}

impl Display for InvalidGroupVersion {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "unexpected GroupVersion string: {}", self.0)
    }
}

impl std::error::Error for InvalidGroupVersion {}

fn join(group: &str, version: &str) -> String {
    match group {
        "" => version.to_owned(),
        _ => format!("{group}/{version}"),
    }
}

fn dotted(formatter: &mut Formatter<'_>, name: &str, group: &str) -> fmt::Result {
    match group {
        "" => formatter.write_str(name),
        _ => write!(formatter, "{name}.{group}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_versions() {
        for (text, group, version) in [("v1", "", "v1"), ("apps/v1", "apps", "v1"), ("", "", "")] {
            let parsed = GroupVersion::parse(text).unwrap();
            assert_eq!((parsed.group.as_str(), parsed.version.as_str()), (group, version));
            assert_eq!(parsed.to_string(), text);
        }
        let error = "a/b/c".parse::<GroupVersion>().unwrap_err();
        assert_eq!(error.to_string(), "unexpected GroupVersion string: a/b/c");
    }

    #[test]
    fn names_in_messages() {
        let kind = GroupVersionKind::new("apps", "v1", "Deployment");
        assert_eq!(
            GroupVersionKind::from_path("apps/v1/Deployment").as_ref(),
            Some(&kind)
        );
        assert_eq!(kind.to_string(), "apps/v1, Kind=Deployment");
        assert_eq!(kind.group_kind().to_string(), "Deployment.apps");
        let resource = GroupVersionResource::new("", "v1", "pods");
        assert_eq!(resource.to_string(), "/v1, Resource=pods");
        assert_eq!(resource.group_resource().to_string(), "pods");
    }
}
