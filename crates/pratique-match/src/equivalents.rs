//! Resources that are views of the same stored objects.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use pratique_json::same_name;
use pratique_types::builtin::BuiltinResources;
use pratique_types::{GroupResource, GroupVersionKind, GroupVersionResource};

/// The resources that a cluster serves, grouped by their stored objects: all versions of a resource, and resources that are
/// served in two groups.
#[derive(Clone, Debug, Default)]
pub struct Equivalents {
    /// By resource, then by group: most resources are of one group.
    families: HashMap<Box<str>, GroupFamilies, RandomState>,
    storages: HashMap<String, usize>,
    served: Vec<ResourceFamily>,
}

/// The resources of a family.
#[derive(Clone, Debug, Default)]
struct ResourceFamily {
    resources: Vec<Equivalent>,
    /// Their parts, by subresource.
    parts: HashMap<String, Vec<Equivalent>, RandomState>,
}

/// Groups, with the family of their resource.
type GroupFamilies = Vec<(Box<str>, usize)>;

/// A served resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equivalent {
    /// The resource.
    pub resource: GroupVersionResource,
    /// The kind of the objects that requests for it carry.
    pub kind: GroupVersionKind,
}

impl Equivalents {
    /// No resource at all.
    pub fn new() -> Self {
        Equivalents::default()
    }

    /// The resources that every API server of a release serves.
    pub fn of_release(resources: &BuiltinResources) -> Self {
        let mut equivalents = Equivalents::new();
        for served in resources.served() {
            equivalents.register(served.resource.clone(), &served.subresource, served.kind.clone());
        }
        equivalents
    }

    /// Adds a resource or, with a `subresource`, a part of one. The order counts: a rule that matches several
    /// matches the first.
    pub fn register(&mut self, resource: GroupVersionResource, subresource: &str, kind: GroupVersionKind) {
        let family = self.family(&resource.group_resource());
        self.add(resource, subresource, kind, family);
    }

    /// Adds a resource as [`register`](Self::register) does, as a view of a storage that resources of other names may
    /// share.
    pub fn register_stored(
        &mut self,
        resource: GroupVersionResource,
        subresource: &str,
        kind: GroupVersionKind,
        storage: &str,
    ) {
        let family = self.storages.get(storage).copied();
        let at = self.add(resource, subresource, kind, family);
        self.storages.insert(storage.to_owned(), at);
    }

    /// Adds a resource to a family, or to a new one.
    fn add(
        &mut self,
        resource: GroupVersionResource,
        subresource: &str,
        kind: GroupVersionKind,
        family: Option<usize>,
    ) -> usize {
        let next = self.served.len();
        let at = family.unwrap_or(next);
        self.set_family(&resource, at);
        if at == next {
            self.served.push(ResourceFamily::default());
        }
        if let Some(family) = self.served.get_mut(at) {
            let equivalents = match subresource {
                "" => &mut family.resources,
                part => family.parts.entry(part.to_owned()).or_default(),
            };
            equivalents.push(Equivalent { resource, kind });
        }
        at
    }

    /// The resources that are equivalent to a resource, itself included, in the order of registration.
    pub fn list(&self, resource: &GroupVersionResource, subresource: &str) -> &[Equivalent] {
        let family = self.known_family(&resource.group, &resource.resource);
        let Some(family) = family.and_then(|at| self.served.get(at)) else {
            return &[];
        };
        match subresource {
            "" => &family.resources,
            part => family.parts.get(part).map_or(&[], Vec::as_slice),
        }
    }

    /// Whether a resource of a name is known, in a group or in any, and has no objects of a kind of this name.
    pub fn know_as_another(&self, group: Option<&str>, resource: &str, kind: &str) -> bool {
        let Some(groups) = self.families.get(resource) else {
            return false;
        };
        let mut families = groups
            .iter()
            .filter(|(known, _)| group.is_none_or(|group| same_name(known, group)))
            .filter_map(|(_, at)| self.served.get(*at))
            .peekable();
        let has_kind =
            |family: &ResourceFamily| family.resources.iter().any(|served| served.kind.kind == kind);
        families.peek().is_some() && !families.any(has_kind)
    }

    /// Whether a resource is served in this very version.
    pub fn serve(&self, resource: &GroupVersionResource, subresource: &str) -> bool {
        self.list(resource, subresource)
            .iter()
            .any(|served| served.resource == *resource)
    }

    /// The family of a resource that is registered, or of its twin in another group.
    fn family(&self, wanted: &GroupResource) -> Option<usize> {
        let twins = TWINS.iter().filter(|(resource, groups)| {
            *resource == wanted.resource && groups.contains(&wanted.group.as_str())
        });
        let others = twins.flat_map(|(resource, groups)| groups.iter().map(move |group| (resource, group)));
        let mut families = others.filter_map(|(resource, group)| self.known_family(group, resource));
        let exact = self.known_family(&wanted.group, &wanted.resource);
        exact.or_else(|| families.next())
    }

    fn known_family(&self, group: &str, resource: &str) -> Option<usize> {
        let groups = self.families.get(resource)?;
        let family = groups.iter().find(|(known, _)| same_name(known, group));
        family.map(|(_, at)| *at)
    }

    fn set_family(&mut self, resource: &GroupVersionResource, family: usize) {
        let groups = self
            .families
            .entry(resource.resource.as_str().into())
            .or_default();
        match groups.iter_mut().find(|(known, _)| **known == *resource.group) {
            Some((_, known)) => *known = family,
            None => groups.push((resource.group.as_str().into(), family)),
        }
    }
}

/// Resources that are served in several groups from one storage.
const TWINS: [(&str, [&str; 2]); 6] = [
    ("deployments", ["apps", "extensions"]),
    ("daemonsets", ["apps", "extensions"]),
    ("replicasets", ["apps", "extensions"]),
    ("networkpolicies", ["networking.k8s.io", "extensions"]),
    ("ingresses", ["networking.k8s.io", "extensions"]),
    ("events", ["", "events.k8s.io"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(group: &str, version: &str, resource: &str, subresource: &str, expected: &[&str]) {
        let mut equivalents = Equivalents::of_release(BuiltinResources::latest());
        equivalents.register(
            GroupVersionResource::new("extensions", "v1beta1", "deployments"),
            "",
            GroupVersionKind::new("extensions", "v1beta1", "Deployment"),
        );
        let resource = GroupVersionResource::new(group, version, resource);
        let found = equivalents.list(&resource, subresource).iter();
        let found: Vec<String> = found.map(|served| served.resource.to_string()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn versions_and_twins_are_equivalent() {
        check("", "v1", "pods", "", &["/v1, Resource=pods"]);
        check("", "v1", "pods", "nonsense", &[]);
        check(
            "autoscaling",
            "v1",
            "horizontalpodautoscalers",
            "status",
            &[
                "autoscaling/v1, Resource=horizontalpodautoscalers",
                "autoscaling/v2, Resource=horizontalpodautoscalers",
            ],
        );
        check(
            "apps",
            "v1",
            "deployments",
            "",
            &[
                "apps/v1, Resource=deployments",
                "extensions/v1beta1, Resource=deployments",
            ],
        );
        check(
            "events.k8s.io",
            "v1",
            "events",
            "",
            &["/v1, Resource=events", "events.k8s.io/v1, Resource=events"],
        );
    }
}
