//! The uses of a cluster's CustomResourceDefinitions besides merging.

use std::sync::Arc;

use pratique::api_objects::ObjectDefaults;
use pratique::plugins::ObjectList;

use super::definitions::ServedDefinition;
use super::store::ByName;

/// The definitions of a cluster at one moment.
#[derive(Debug, Default)]
pub(super) struct DefinedKinds {
    made_of: Arc<ByName<ServedDefinition>>,
    /// The definitions as plugins see them, by name; `None` while definitions were not listed.
    outlines: Option<ObjectList>,
    pub(super) defaults: Arc<ObjectDefaults>,
}

impl DefinedKinds {
    pub(super) fn new(definitions: Arc<ByName<ServedDefinition>>, is_known: bool) -> Self {
        let all = || definitions.values().flat_map(|definitions| definitions.values());
        let outlines = is_known.then(|| all().map(|definition| definition.outline.clone()).collect());
        let defaults = ObjectDefaults::new(all().filter_map(|definition| definition.defaults.clone()));
        DefinedKinds {
            outlines,
            defaults: Arc::new(defaults),
            made_of: definitions,
        }
    }

    pub(super) fn is_of(&self, definitions: &Arc<ByName<ServedDefinition>>) -> bool {
        Arc::ptr_eq(&self.made_of, definitions)
    }

    /// Whether definitions were listed.
    pub(super) fn is_known(&self) -> bool {
        self.outlines.is_some()
    }

    /// The definitions as plugins see them, by name.
    pub(super) fn outlines(&self) -> Option<&ObjectList> {
        self.outlines.as_ref()
    }
}
