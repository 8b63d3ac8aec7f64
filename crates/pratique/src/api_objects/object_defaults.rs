//! Defaults for the requests of an API server.

use std::collections::HashMap;
use std::sync::Arc;

use pratique_apiextensions::CustomDefaults;
use pratique_json::Value;
use pratique_policy::object_model::{ConversionError, ObjectModel, ObjectMutator};
use pratique_schema::FeatureGates;
use pratique_types::GroupVersionKind;

use super::ApiObjects;

/// Defaults objects of built-in kinds and of custom resources again after each mutation: the [`ObjectModel`] for requests of
/// an API server, which decoded and defaulted their objects before, and validates them afterwards.
#[derive(Clone, Debug, Default)]
pub struct ObjectDefaults {
    builtin: ApiObjects,
    /// Of all definitions that were given.
    defined: Vec<Arc<CustomDefaults>>,
    /// Of those whose resources the release does not serve itself.
    custom: HashMap<GroupVersionKind, Arc<CustomDefaults>>,
}

impl ObjectDefaults {
    /// Built-in kinds as in a server of the newest release, and custom resources with these defaults.
    pub fn new(custom: impl IntoIterator<Item = Arc<CustomDefaults>>) -> Self {
        let defined: Vec<_> = custom.into_iter().collect();
        ObjectDefaults {
            defined,
            ..ObjectDefaults::default()
        }
        .with_gates(FeatureGates::default())
    }

    /// Built-in kinds as in a server of a release with its feature gates, and the custom resources that it does not serve itself.
    #[must_use]
    pub fn with_gates(self, gates: FeatureGates) -> Self {
        let mut custom = HashMap::new();
        let resources = gates.release().resources();
        for defaults in &self.defined {
            if defaults.is_served_by(resources) {
                continue;
            }
            for version in defaults.versions() {
                let kind = GroupVersionKind::new(defaults.group(), version, defaults.kind());
                custom.insert(kind, defaults.clone());
            }
        }
        ObjectDefaults {
            builtin: self.builtin.with_gates(gates),
            defined: self.defined,
            custom,
        }
    }

    /// Whether objects of a kind are defaulted.
    pub fn knows(&self, kind: &GroupVersionKind) -> bool {
        self.custom.contains_key(kind) || self.builtin.knows(kind)
    }
}

impl ObjectModel for ObjectDefaults {
    fn set_defaults(&self, kind: &GroupVersionKind, object: &mut Value<'_>, mutator: ObjectMutator<'_>) {
        match self.custom.get(kind) {
            Some(defaults) => defaults.set(&kind.version, object),
            None => self.builtin.set_defaults(kind, object, mutator),
        }
    }

    fn convert(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), ConversionError> {
        self.builtin.convert(kind, object)
    }
}

/// The defaults of a cluster, with others for custom resources that it does not define.
#[derive(Clone, Debug)]
pub struct OverlaidDefaults {
    /// Those of the cluster.
    pub cluster: Arc<ObjectDefaults>,
    /// The defaults for custom resources that the cluster does not define.
    pub beside: Arc<ObjectDefaults>,
}

impl OverlaidDefaults {
    /// Whether objects of a kind are defaulted.
    pub fn knows(&self, kind: &GroupVersionKind) -> bool {
        self.cluster.knows(kind) || self.beside.knows(kind)
    }
}

impl ObjectModel for OverlaidDefaults {
    fn set_defaults(&self, kind: &GroupVersionKind, object: &mut Value<'_>, mutator: ObjectMutator<'_>) {
        let defaults = if self.cluster.knows(kind) {
            &self.cluster
        } else {
            &self.beside
        };
        defaults.set_defaults(kind, object, mutator);
    }

    fn convert(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), ConversionError> {
        self.cluster.convert(kind, object)
    }
}

#[cfg(test)]
mod tests {
    use pratique_schema::Release;

    use super::*;

    fn definitions(group: &str, kind: &str, size: &str) -> ObjectDefaults {
        let text = format!(
            r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
                "metadata":{{"name":"{plural}.{group}"}},
                "spec":{{"group":"{group}","scope":"Namespaced","names":{{"kind":"{kind}","plural":"{plural}"}},
                "versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"type":"object",
                    "properties":{{"size":{{"type":"string","default":"{size}"}}}}}}}}}}]}}}}"#,
            plural = kind.to_lowercase() + "s",
        );
        let definition = pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        ObjectDefaults::new(CustomDefaults::read(&definition).unwrap().map(Arc::new))
    }

    #[test]
    fn the_cluster_counts_first() {
        let both = OverlaidDefaults {
            cluster: Arc::new(definitions("example.com", "Widget", "cluster")),
            beside: Arc::new(definitions("example.com", "Gadget", "file")),
        };
        let size = |both: &OverlaidDefaults, kind: &str| {
            let mut object = pratique_json::parse(b"{}").unwrap().into_owned();
            let kind = GroupVersionKind::new("example.com", "v1", kind);
            both.set_defaults(&kind, &mut object, ObjectMutator::Policy("p"));
            let size = object.get("size").and_then(Value::as_str).map(str::to_owned);
            (size, both.knows(&kind))
        };
        assert_eq!(size(&both, "Widget"), (Some("cluster".to_owned()), true));
        assert_eq!(size(&both, "Gadget"), (Some("file".to_owned()), true));
        assert_eq!(size(&both, "Other"), (None, false));
        let other = OverlaidDefaults {
            beside: Arc::new(definitions("example.com", "Widget", "file")),
            ..both
        };
        assert_eq!(size(&other, "Widget"), (Some("cluster".to_owned()), true));
    }

    #[test]
    fn a_definition_counts_where_the_release_does_not_serve_the_resource() {
        let defaults = definitions("lifecycle.k8s.io", "EvictionRequest", "custom");
        let kind = GroupVersionKind::new("lifecycle.k8s.io", "v1", "EvictionRequest");
        for (release, expected) in [("1.34", Some("custom")), ("1.37", None)] {
            let gates = FeatureGates::new(Release::by_version(release).unwrap());
            let defaults = defaults.clone().with_gates(gates);
            let mut object = pratique_json::parse(b"{}").unwrap().into_owned();
            defaults.set_defaults(&kind, &mut object, ObjectMutator::Policy("p"));
            let size = object.get("size").and_then(Value::as_str);
            assert_eq!(
                (size, defaults.knows(&kind)),
                (expected, expected.is_some()),
                "{release}"
            );
        }
        // Of the newest release, where none is named.
        assert!(!defaults.knows(&kind));
    }
}
