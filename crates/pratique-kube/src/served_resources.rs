//! The resources that a cluster serves: their kinds, their scopes, and which of them are views of the same objects.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pratique::Release;
use pratique::cluster::{Equivalents, MergeSchema, ParamScope};
use pratique::types::builtin::ServedResource;
use pratique::types::{GroupVersionKind, GroupVersionResource};

use super::definitions::ServedDefinition;

/// The resources that a cluster serves.
#[derive(Debug, Default)]
pub(super) struct ServedResources {
    pub(super) equivalents: Equivalents,
    kinds: HashMap<GroupVersionKind, ServedKind>,
    /// Of custom resources, by group and version.
    schemas: HashMap<(String, String), Arc<MergeSchema>>,
}

/// How objects of a kind are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServedKind {
    pub(super) plural: String,
    pub(super) scope: ParamScope,
}

impl ServedResources {
    /// The resources of discovery and of definitions. Built-in resources come first, in their order, which counts where
    /// a rule fits several.
    pub(super) fn new<'d>(
        release: &'static Release,
        discovered: &[ServedResource],
        definitions: impl Iterator<Item = &'d ServedDefinition> + Clone,
    ) -> Self {
        let mut served = ServedResources::default();
        let mut seen = HashSet::new();
        let identities: HashSet<_> = discovered.iter().map(identity).collect();
        let builtin = release
            .resources()
            .served()
            .iter()
            .filter(|resource| identities.contains(&identity(resource)));
        let defined = definitions.clone().flat_map(|definition| &definition.served);
        for resource in builtin.chain(defined).chain(discovered) {
            if seen.insert(identity(resource)) {
                served.add(resource);
            }
        }
        for definition in definitions {
            let Some(schema) = &definition.schema else {
                continue;
            };
            for resource in &definition.served {
                let version = (resource.resource.group.clone(), resource.resource.version.clone());
                served.schemas.insert(version, schema.clone());
            }
        }
        served
    }

    pub(super) fn kind(&self, kind: &GroupVersionKind) -> Option<&ServedKind> {
        self.kinds.get(kind)
    }

    /// The schema of a custom resource.
    pub(super) fn schema(&self, kind: &GroupVersionKind) -> Option<&MergeSchema> {
        let version = (kind.group.clone(), kind.version.clone());
        self.schemas.get(&version).map(AsRef::as_ref)
    }

    fn add(&mut self, served: &ServedResource) {
        if served.subresource.is_empty() {
            let scope = if served.namespaced {
                ParamScope::Namespaced
            } else {
                ParamScope::Cluster
            };
            let plural = served.resource.resource.clone();
            let kind = self.kinds.entry(served.kind.clone());
            kind.or_insert(ServedKind { plural, scope });
        }
        self.equivalents
            .register(served.resource.clone(), &served.subresource, served.kind.clone());
    }
}

fn identity(served: &ServedResource) -> (&GroupVersionResource, &str) {
    (&served.resource, &served.subresource)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_served_counts() {
        let pods = Release::latest()
            .resources()
            .served()
            .iter()
            .find(|served| served.resource.resource == "pods");
        let metrics = ServedResource {
            resource: GroupVersionResource::new("metrics.k8s.io", "v1beta1", "nodes"),
            subresource: String::new(),
            kind: GroupVersionKind::new("metrics.k8s.io", "v1beta1", "NodeMetrics"),
            namespaced: false,
            short_names: Vec::new(),
        };
        let served = ServedResources::new(Release::latest(), &[metrics, pods.unwrap().clone()], [].iter());
        let kind = |group, version, kind| served.kind(&GroupVersionKind::new(group, version, kind)).cloned();
        assert_eq!(kind("", "v1", "Pod").unwrap().scope, ParamScope::Namespaced);
        assert_eq!(
            kind("metrics.k8s.io", "v1beta1", "NodeMetrics").unwrap().plural,
            "nodes"
        );
        assert_eq!(kind("", "v1", "ConfigMap"), None);
        let pods = GroupVersionResource::new("", "v1", "pods");
        assert_eq!(served.equivalents.list(&pods, "").len(), 1);
    }
}
