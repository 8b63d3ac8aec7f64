//! The resources that every Kubernetes API server serves: which kind goes with which resource, in which scope.

mod removed_versions;

use std::sync::OnceLock;

pub use removed_versions::{Removal, removal};

use pratique_json::same_name;

use crate::{GroupVersion, GroupVersionKind, GroupVersionResource};

/// A resource, or a part of one, as discovery shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedResource {
    /// The resource.
    pub resource: GroupVersionResource,
    /// The part of the resource, such as `status`; empty for the resource itself.
    pub subresource: String,
    /// The kind of the objects that requests for it carry.
    pub kind: GroupVersionKind,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// The names it is known by besides the plural: `pod`, `po`.
    pub short_names: Vec<String>,
}

/// The resources of the servers of a release.
#[derive(Debug)]
pub struct BuiltinResources {
    served: Vec<ServedResource>,
    optional: Vec<ServedResource>,
}

impl BuiltinResources {
    /// Reads the tables of a release, which have a line for each resource.
    pub fn read(served: &str, optional: &str) -> Self {
        let read = |table: &str| table.lines().filter_map(parse_line).collect();
        BuiltinResources {
            served: read(served),
            optional: read(optional),
        }
    }

    /// Those of the latest release, for what knows no release: a release has its own.
    pub fn latest() -> &'static BuiltinResources {
        static LATEST: OnceLock<BuiltinResources> = OnceLock::new();
        LATEST.get_or_init(|| BuiltinResources::read(SERVED_TABLE, OPTIONAL_TABLE))
    }

    /// All that every server serves, in the order of the API groups.
    pub fn served(&self) -> &[ServedResource] {
        &self.served
    }

    /// The resources of alpha and beta versions: an API server may serve them, and most do not.
    pub fn optional(&self) -> &[ServedResource] {
        &self.optional
    }

    /// The resource under which objects of a kind are created, an [optional](Self::optional) one too.
    pub fn resource_of(&self, kind: &GroupVersionKind) -> Option<&ServedResource> {
        let mut all = self.served.iter().chain(&self.optional);
        all.find(|served| served.kind == *kind && served.subresource.is_empty())
    }

    /// A resource, or a part of one.
    pub fn find(&self, resource: &GroupVersionResource, subresource: &str) -> Option<&ServedResource> {
        let mut served = self.served.iter();
        served.find(|served| served.resource == *resource && served.subresource == subresource)
    }

    /// A resource by any of its names: `pods`, `pod`, `po`, `deployments.apps`.
    pub fn named(&self, name: &str) -> Option<&ServedResource> {
        let (name, group) = match name.split_once('.') {
            Some((name, group)) => (name, Some(group)),
            None => (name, None),
        };
        self.served.iter().find(|served| {
            served.subresource.is_empty()
                && group.is_none_or(|group| served.resource.group == group)
                && (served.resource.resource == name || served.short_names.iter().any(|short| short == name))
        })
    }

    /// Whether a group is one of Kubernetes itself: nothing else serves kinds of its versions.
    pub fn has_group(&self, group: &str) -> bool {
        let mut served = self.served.iter().chain(&self.optional);
        served.any(|served| same_name(&served.resource.group, group)) || removed_versions::had_group(group)
    }

    /// Whether every API server serves a version of a group. It has no custom resources then.
    // Upstream: apiserver/pkg/server/handler.go, director.ServeHTTP: what lies below a version that is installed goes nowhere else
    pub fn serves_version(&self, group: &str, version: &str) -> bool {
        let mut served = self.served.iter();
        served.any(|served| served.resource.group == group && served.resource.version == version)
    }

    /// The built-in resource whose kind or name, in any version, a custom resource would have. The built-in one is served.
    pub fn claimed(&self, group: &str, kind: &str, plural: &str) -> Option<&ServedResource> {
        let mut served = self.served.iter().chain(&self.optional);
        served.find(|served| {
            let is_kind = served.kind.group == group && served.kind.kind == kind;
            served.subresource.is_empty()
                && served.resource.group == group
                && (is_kind || served.resource.resource == plural)
        })
    }

    /// Whether a custom resource can be served. The groups of custom resources have a dot, and some that have one are those of
    /// Kubernetes itself.
    pub fn may_be_custom(&self, resource: &GroupVersionResource, kind: &str) -> bool {
        let GroupVersionResource {
            group,
            version,
            resource,
        } = resource;
        group.contains('.')
            && !self.serves_version(group, version)
            && self.claimed(group, kind, resource).is_none()
    }
}

/// The table of the resources that every server of the latest release serves.
pub const SERVED_TABLE: &str = include_str!("../data/resources.txt");
/// The table of those that a server of the latest release serves if it is asked to.
pub const OPTIONAL_TABLE: &str = include_str!("../data/optional.txt");

/// `apps/v1 deployments/scale Scale@autoscaling/v1 namespaced …`; `None` for a comment.
fn parse_line(line: &str) -> Option<ServedResource> {
    let mut columns = line.split(' ').filter(|_| !line.starts_with('#'));
    let served = GroupVersion::parse(columns.next()?).ok()?;
    let (resource, subresource) = split(columns.next()?, '/');
    let kind = match split(columns.next()?, '@') {
        (kind, "") => served.clone().with_kind(kind),
        (kind, version) => GroupVersion::parse(version).ok()?.with_kind(kind),
    };
    Some(ServedResource {
        resource: served.with_resource(resource),
        subresource: subresource.to_owned(),
        kind,
        namespaced: columns.next()? == "namespaced",
        short_names: columns
            .flat_map(|names| names.split(','))
            .map(str::to_owned)
            .collect(),
    })
}

fn split(text: &str, separator: char) -> (&str, &str) {
    text.split_once(separator).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latest() -> &'static BuiltinResources {
        BuiltinResources::latest()
    }

    #[test]
    fn every_line_of_the_table_is_read() {
        assert_eq!(latest().served().len() + 2, SERVED_TABLE.lines().count());
        assert_eq!(latest().optional().len() + 2, OPTIONAL_TABLE.lines().count());
    }

    #[test]
    fn what_is_optional_is_not_served_by_all() {
        for optional in latest().optional() {
            assert_eq!(
                latest().find(&optional.resource, &optional.subresource),
                None,
                "{optional:?}"
            );
        }
        let kind = GroupVersionKind::new("certificates.k8s.io", "v1beta1", "ClusterTrustBundle");
        let bundles = latest().resource_of(&kind).unwrap();
        assert_eq!(bundles.resource.resource, "clustertrustbundles");
        assert!(!bundles.namespaced);
    }

    #[test]
    fn kinds_and_resources_find_each_other() {
        let deployments = latest()
            .resource_of(&GroupVersionKind::new("apps", "v1", "Deployment"))
            .unwrap();
        assert_eq!(
            deployments.resource,
            GroupVersionResource::new("apps", "v1", "deployments")
        );
        assert!(deployments.namespaced);
        let scale = latest().find(&deployments.resource, "scale").unwrap();
        assert_eq!(scale.kind, GroupVersionKind::new("autoscaling", "v1", "Scale"));
        assert_eq!(
            latest().resource_of(&GroupVersionKind::new("", "v1", "Sidecar")),
            None
        );
    }

    #[test]
    fn custom_resources_take_nothing_that_is_built_in() {
        let check = |group, version, plural, kind, expected| {
            let resource = GroupVersionResource::new(group, version, plural);
            assert_eq!(
                latest().may_be_custom(&resource, kind),
                expected,
                "{resource} {kind}"
            );
        };
        check("example.com", "v1", "widgets", "Widget", true);
        check("gateway.networking.k8s.io", "v1", "gateways", "Gateway", true);
        check("networking.k8s.io", "v2", "widgets", "Widget", true);
        check("networking.k8s.io", "v1", "widgets", "Widget", false);
        check("networking.k8s.io", "v2", "foos", "Ingress", false);
        check("networking.k8s.io", "v2", "ingresses", "Foo", false);
        check("apps", "v2", "foos", "Foo", false);
        check("", "v1", "foos", "Pod", false);
        for group in ["", "extensions", "storage.k8s.io"] {
            assert!(latest().has_group(group), "{group}");
        }
        assert!(!latest().has_group("example.com") && !latest().has_group("metrics.k8s.io"));
    }

    #[test]
    fn names() {
        for name in ["nodes", "node", "no"] {
            assert_eq!(latest().named(name).unwrap().kind.kind, "Node", "{name}");
            assert!(!latest().named(name).unwrap().namespaced);
        }
        assert_eq!(
            latest().named("events.events.k8s.io").unwrap().resource.group,
            "events.k8s.io"
        );
        assert_eq!(latest().named("nonsense"), None);
    }
}
