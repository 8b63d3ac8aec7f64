//! The kinds of objects that requests are about.

use serde_json::{Value, json};

/// A resource, with the kind of its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
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
) -> Kind {
    Kind {
        group,
        version,
        resource,
        kind,
        namespaced,
        subresources,
    }
}

/// All kinds; those that say more come more often.
pub(crate) const KINDS: &[Kind] = &[
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
pub(crate) const POD: Kind = kind("", "v1", "pods", "Pod", true, &["status", "ephemeralcontainers"]);
/// Deployments.
pub(crate) const DEPLOYMENT: Kind = kind("apps", "v1", "deployments", "Deployment", true, &["status"]);
/// Custom resources.
pub(crate) const WIDGET: Kind = kind("example.com", "v1", "widgets", "Widget", true, &["status"]);

impl Kind {
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
pub(crate) fn definitions() -> [Value; 4] {
    [
        definition("widgets", "Widget", "Namespaced", &["v1", "v2"]),
        definition("gadgets", "Gadget", "Cluster", &["v1"]),
        definition("limits", "Limit", "Namespaced", &["v1"]),
        definition("clusterlimits", "ClusterLimit", "Cluster", &["v1"]),
    ]
}

fn definition(plural: &str, kind: &str, scope: &str, versions: &[&str]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .enumerate()
        .map(|(index, version)| {
            json!({
                "name": version, "served": true, "storage": index == 0,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": schema()},
            })
        })
        .collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {
            "group": "example.com", "scope": scope, "versions": versions,
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List")},
            "conversion": {"strategy": "None"},
        },
    })
}

fn schema() -> Value {
    let part = json!({
        "type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "count": {"type": "integer"}, "note": {"type": "string"}},
    });
    json!({
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "color": {"type": "string"},
                    "mode": {"type": "string"},
                    "size": {"type": "integer"},
                    "replicas": {"type": "integer", "format": "int32"},
                    "ratio": {"type": "number"},
                    "on": {"type": "boolean"},
                    "port": {"x-kubernetes-int-or-string": true},
                    "limit": {"x-kubernetes-preserve-unknown-fields": true},
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                    "names": {"type": "array", "items": {"type": "string"}},
                    "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                    "parts": {
                        "type": "array", "items": part,
                        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                    },
                    "whole": {
                        "type": "object", "x-kubernetes-map-type": "atomic",
                        "additionalProperties": {"type": "string"},
                    },
                },
            },
            "status": {"type": "object", "properties": {"phase": {"type": "string"}, "replicas": {"type": "integer"}}},
        },
    })
}
