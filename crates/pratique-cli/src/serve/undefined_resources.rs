//! Custom resources that are not defaulted again after a mutation, because their definition is not known: a log line for each
//! kind.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use pratique::ObjectModel;
use pratique::api_objects::{ObjectDefaults, OverlaidDefaults};
use pratique::object_model::{ConversionError, ObjectMutator};
use pratique_json::Value;
use pratique_types::GroupVersionKind;

/// How many kinds are remembered, and reported.
const MAX_KINDS: usize = 100;

/// The kinds that were reported.
#[derive(Clone, Default)]
pub(super) struct UndefinedKinds(Arc<Mutex<HashSet<GroupVersionKind>>>);

/// A model that logs which kinds it does not know.
struct ReportingModel {
    defaults: OverlaidDefaults,
    undefined: UndefinedKinds,
}

impl UndefinedKinds {
    /// A model of a cluster and of objects of files, which logs each kind that neither defines once.
    pub(super) fn model(
        &self,
        cluster: Arc<ObjectDefaults>,
        of_files: Arc<ObjectDefaults>,
    ) -> Arc<dyn ObjectModel + Send + Sync> {
        Arc::new(ReportingModel {
            defaults: OverlaidDefaults {
                cluster,
                beside: of_files,
            },
            undefined: self.clone(),
        })
    }

    /// Whether a kind was not met before, and is to be reported.
    fn is_new(&self, kind: &GroupVersionKind) -> bool {
        let mut reported = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reported.len() < MAX_KINDS && !reported.contains(kind) && reported.insert(kind.clone())
    }
}

impl ObjectModel for ReportingModel {
    fn set_defaults(&self, kind: &GroupVersionKind, object: &mut Value<'_>, mutator: ObjectMutator<'_>) {
        if !self.defaults.knows(kind) && self.undefined.is_new(kind) {
            tracing::warn!(
                version = kind.api_version(),
                kind = kind.kind,
                "Objects of this kind are not defaulted after mutations: their CustomResourceDefinition is not known"
            );
        }
        self.defaults.set_defaults(kind, object, mutator);
    }

    fn convert(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), ConversionError> {
        self.defaults.convert(kind, object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_reported_once() {
        let undefined = UndefinedKinds::default();
        let kind = |name: &str| GroupVersionKind::new("example.com", "v1", name);
        assert!(undefined.is_new(&kind("Widget")));
        assert!(!undefined.clone().is_new(&kind("Widget")));
        assert!(undefined.is_new(&kind("Gadget")));
        for number in 0..2 * MAX_KINDS {
            undefined.is_new(&kind(&number.to_string()));
        }
        assert!(!undefined.is_new(&kind("Other")));
    }
}
