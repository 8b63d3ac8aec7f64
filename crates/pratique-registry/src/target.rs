//! The target of a request: a resource, perhaps a part of it, by its path.

use pratique_schema::Release;
use pratique_types::builtin::ServedResource;
use pratique_types::{GroupVersionKind, GroupVersionResource};

/// A resource, or a part of one, as a request's path names it.
///
/// ```
/// use pratique_registry::Target;
///
/// let target = Target::parse("/apis/apps/v1/namespaces/web/deployments/shop/status").ok_or("not served")?;
/// assert_eq!(target.kind.kind, "Deployment");
/// assert_eq!((target.namespace.as_str(), target.name.as_str()), ("web", "shop"));
/// assert_eq!(target.subresource, "status");
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The resource.
    pub resource: GroupVersionResource,
    /// The part of the resource, such as `status`; empty for the resource itself.
    pub subresource: String,
    /// The kind of the objects that requests for it carry.
    pub kind: GroupVersionKind,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// The namespace of the path.
    pub namespace: String,
    /// The name of the path; empty where it names a collection.
    pub name: String,
    /// Of custom resources, the kind of the objects themselves, in the version of the request; `None` for built-in kinds.
    pub custom: Option<GroupVersionKind>,
}

impl Target {
    /// The target of a path, if its resource is built in.
    pub fn parse(path: &str) -> Option<Target> {
        Target::read(path, Target::part)
    }

    /// The target of a resource, or of a part of one, whatever its objects, if it is built in.
    pub fn part(resource: &GroupVersionResource, subresource: &str) -> Option<Target> {
        find(releases(), resource, subresource).map(|served| Target::new(served, "", ""))
    }

    /// The same, as a release has it; one that the release does not have is that of another.
    pub fn part_from(
        release: &'static Release,
        resource: &GroupVersionResource,
        subresource: &str,
    ) -> Option<Target> {
        let served = find(release.before_others(), resource, subresource)?;
        Some(Target::new(served, "", ""))
    }

    /// The target of a path, of which `find` knows the resource and its part.
    pub(crate) fn read(
        path: &str,
        find: impl FnOnce(&GroupVersionResource, &str) -> Option<Target>,
    ) -> Option<Target> {
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        let (group, version) = match parts.next()? {
            "api" => ("", parts.next()?),
            "apis" => (parts.next()?, parts.next()?),
            _ => return None,
        };
        let rest: Vec<&str> = parts.collect();
        // A namespace is an object as well as a part of paths.
        let (namespace, rest) = match rest.as_slice() {
            ["namespaces", namespace, rest @ ..] if !matches!(rest, [] | ["status" | "finalize"]) => {
                (*namespace, rest)
            }
            rest => ("", rest),
        };
        let (resource, name, subresource) = match *rest {
            [resource] => (resource, "", ""),
            [resource, name] => (resource, name, ""),
            [resource, name, subresource] => (resource, name, subresource),
            _ => return None,
        };
        let target = find(&GroupVersionResource::new(group, version, resource), subresource)?;
        Some(Target {
            namespace: match (resource, group) {
                // The namespace of a request about a namespace is that namespace.
                ("namespaces", "") => name.to_owned(),
                _ => namespace.to_owned(),
            },
            name: name.to_owned(),
            ..target
        })
    }

    /// The collection that objects of a built-in kind are created in.
    pub fn collection(kind: &GroupVersionKind, namespace: &str) -> Option<Target> {
        let mut releases = releases();
        let served = releases.find_map(|release| release.resources().resource_of(kind))?;
        let namespace = if served.namespaced { namespace } else { "" };
        Some(Target::new(served, namespace, ""))
    }

    fn new(served: &ServedResource, namespace: &str, name: &str) -> Target {
        Target {
            resource: served.resource.clone(),
            subresource: served.subresource.clone(),
            kind: served.kind.clone(),
            namespaced: served.namespaced,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            custom: None,
        }
    }

    /// Whether it is the resource of namespaces.
    pub(crate) fn is_namespaces(&self) -> bool {
        self.resource.group.is_empty() && self.resource.resource == "namespaces"
    }

    /// The kind of the object whose part it is.
    pub(crate) fn parent(&self) -> Option<GroupVersionKind> {
        match &self.custom {
            Some(kind) => Some(kind.clone()),
            None if self.subresource.is_empty() => Some(self.kind.clone()),
            None => find(releases(), &self.resource, "").map(|served| served.kind.clone()),
        }
    }

    /// The namespace of its objects in storage; empty where they have none.
    pub fn storage_namespace(&self) -> &str {
        if self.namespaced { &self.namespace } else { "" }
    }
}

/// The latest release, and all others: paths and kinds say the same in all that have them.
fn releases() -> impl Iterator<Item = &'static Release> {
    Release::latest().before_others()
}

fn find(
    mut releases: impl Iterator<Item = &'static Release>,
    resource: &GroupVersionResource,
    subresource: &str,
) -> Option<&'static ServedResource> {
    let is = |served: &&ServedResource| served.resource == *resource && served.subresource == subresource;
    releases.find_map(|release| {
        let resources = release.resources();
        resources.served().iter().chain(resources.optional()).find(is)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_those_of_a_release_or_of_others() {
        let release = |version: &str| Release::by_version(version).unwrap();
        let part = |of: &str, resource: &str| {
            let resource = GroupVersionResource::new("resource.k8s.io", "v1alpha3", resource);
            Target::part_from(release(of), &resource, "").map(|target| target.kind.kind)
        };
        for of in ["1.34", "1.37", "1.38"] {
            assert_eq!(
                part(of, "devicetaintrules").as_deref(),
                Some("DeviceTaintRule"),
                "{of}"
            );
            assert_eq!(part(of, "nothing"), None);
        }
        let scale = GroupVersionResource::new("apps", "v1", "deployments");
        let target = Target::part_from(release("1.34"), &scale, "scale").unwrap();
        assert_eq!(target.kind.kind, "Scale");
    }

    #[test]
    fn paths_name_resources() {
        let shown = |path: &str| {
            let target = Target::parse(path)?;
            Some(format!(
                "{} {} {}/{} {}",
                target.resource.resource, target.kind.kind, target.namespace, target.name, target.subresource
            ))
        };
        for (path, expected) in [
            ("/api/v1/namespaces/a/pods", Some("pods Pod a/ ")),
            ("/api/v1/namespaces/a/pods/b/resize", Some("pods Pod a/b resize")),
            ("/api/v1/namespaces/a", Some("namespaces Namespace a/a ")),
            ("/api/v1/namespaces", Some("namespaces Namespace / ")),
            (
                "/api/v1/namespaces/a/finalize",
                Some("namespaces Namespace a/a finalize"),
            ),
            (
                "/apis/apps/v1/namespaces/a/deployments/b/scale",
                Some("deployments Scale a/b scale"),
            ),
            ("/api/v1/nodes/n", Some("nodes Node /n ")),
            ("/apis/example.com/v1/things", None),
            ("/healthz", None),
            ("", None),
        ] {
            assert_eq!(shown(path).as_deref(), expected, "{path}");
        }
    }
}
