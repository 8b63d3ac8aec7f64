//! Defaults for the requests of an API server.

use std::collections::HashMap;
use std::sync::Arc;

use pratique_apiextensions::CustomDefaults;
use pratique_json::Value;
use pratique_policy::object_model::{ConversionError, Mutator, ObjectModel};
use pratique_types::GroupVersionKind;

use super::ApiObjects;

/// Defaults objects of built-in kinds and of custom resources again after each mutation: the [`ObjectModel`] for requests of
/// an API server, which decoded and defaulted their objects before, and validates them afterwards.
#[derive(Clone, Debug, Default)]
pub struct ObjectDefaults {
    builtin: ApiObjects,
    custom: HashMap<GroupVersionKind, Arc<CustomDefaults>>,
}

impl ObjectDefaults {
    /// Built-in kinds, and custom resources with these defaults.
    pub fn new(custom: impl IntoIterator<Item = Arc<CustomDefaults>>) -> Self {
        let mut all = HashMap::new();
        for defaults in custom {
            for version in defaults.versions() {
                let kind = GroupVersionKind::new(defaults.group(), version, defaults.kind());
                all.insert(kind, defaults.clone());
            }
        }
        ObjectDefaults {
            builtin: ApiObjects::default(),
            custom: all,
        }
    }
}

impl ObjectModel for ObjectDefaults {
    fn set_defaults(&self, kind: &GroupVersionKind, object: &mut Value<'_>, mutator: Mutator<'_>) {
        match self.custom.get(kind) {
            Some(defaults) => defaults.set(&kind.version, object),
            None => self.builtin.set_defaults(kind, object, mutator),
        }
    }

    fn convert(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), ConversionError> {
        self.builtin.convert(kind, object)
    }
}
