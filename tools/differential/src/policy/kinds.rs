//! The kinds of objects that requests are about.

use pratique_harness::RandomDice;
use serde_json::{Value, json};

use crate::sketch::OF_POLICIES;

/// A resource, with the kind of its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResourceKind {
    /// The group of the resource and of its kind.
    pub(crate) group: &'static str,
    /// Likewise the version.
    pub(crate) version: &'static str,
    /// The resource.
    pub(crate) resource: &'static str,
    /// The kind.
    pub(crate) kind: &'static str,
    /// Whether its objects are in namespaces.
    pub(crate) namespaced: bool,
    /// The subresources with objects of the same kind.
    pub(crate) subresources: &'static [&'static str],
}

const fn kind(
    group: &'static str,
    version: &'static str,
    resource: &'static str,
    kind: &'static str,
    namespaced: bool,
    subresources: &'static [&'static str],
) -> ResourceKind {
    ResourceKind {
        group,
        version,
        resource,
        kind,
        namespaced,
        subresources,
    }
}

/// All kinds; those that say more come more often.
pub(crate) const KINDS: &[ResourceKind] = &[
    POD,
    POD,
    POD,
    DEPLOYMENT,
    DEPLOYMENT,
    kind("", "v1", "configmaps", "ConfigMap", true, &[]),
    kind("", "v1", "namespaces", "Namespace", false, &["status"]),
    WIDGET,
    WIDGET,
    kind("example.com", "v2", "widgets", "Widget", true, &["status"]),
    kind("example.com", "v1", "gadgets", "Gadget", false, &[]),
];

/// Pods.
pub(crate) const POD: ResourceKind = kind("", "v1", "pods", "Pod", true, &["status", "ephemeralcontainers"]);
/// Deployments.
pub(crate) const DEPLOYMENT: ResourceKind =
    kind("apps", "v1", "deployments", "Deployment", true, &["status"]);
/// Custom resources.
pub(crate) const WIDGET: ResourceKind = kind("example.com", "v1", "widgets", "Widget", true, &["status"]);

impl ResourceKind {
    /// The `apiVersion` of its objects.
    pub(crate) fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// As the `kind` of a request.
    pub(crate) fn as_kind(&self) -> Value {
        json!({"group": self.group, "version": self.version, "kind": self.kind})
    }

    /// As the `resource` of a request.
    pub(crate) fn as_resource(&self) -> Value {
        json!({"group": self.group, "version": self.version, "resource": self.resource})
    }
}

/// The definitions of the custom resources.
pub(crate) fn definitions() -> Vec<Value> {
    // Nothing of them is left to chance.
    let definitions = OF_POLICIES.draw("definitions", &mut RandomDice::new(0));
    definitions.as_array().cloned().unwrap_or_default()
}
