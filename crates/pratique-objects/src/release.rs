//! The release of Kubernetes whose objects these are: its types, their layout, its kinds.

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::RandomState;
use pratique_schema::{Layouts, Release, Schema, TypeId};
use pratique_types::GroupVersionKind;

use crate::plan::Plans;

/// The types of the release.
pub(crate) fn schema() -> &'static Schema {
    Release::latest().schema()
}

/// The text in which the names of fields of decoded objects lie, so that [copies](pratique_json::Value::owned_within) need
/// not own them.
pub fn field_names() -> &'static str {
    Release::latest().tables().types
}

/// In which order the fields of structs are written.
pub(crate) fn layouts() -> &'static Layouts {
    Release::latest().layouts()
}

/// The plans of defaulting.
pub(crate) fn plans() -> &'static Plans {
    static PLANS: OnceLock<Plans> = OnceLock::new();
    PLANS.get_or_init(|| Plans::read(Release::latest().tables().defaults))
}

/// The plans of the conversion to the internal version and back.
pub(crate) fn conversions() -> &'static Plans {
    static PLANS: OnceLock<Plans> = OnceLock::new();
    PLANS.get_or_init(|| Plans::read(Release::latest().tables().conversions))
}

/// The type of a kind of the servers' schemes.
pub(crate) fn type_of(kind: &GroupVersionKind) -> Option<TypeId> {
    schema().registered(kind)
}

/// The kinds in the schemes of the servers, and the feature gates.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    schemes: HashMap<&'static str, &'static str, RandomState>,
    internal: HashMap<GroupVersionKind, &'static str, RandomState>,
    gates: HashMap<&'static str, bool, RandomState>,
}

/// Whether a feature gate is on by default.
pub(crate) fn gate(name: &str) -> bool {
    kinds().gates.get(name).copied().unwrap_or_default()
}

/// The kinds of the release.
pub(crate) fn kinds() -> &'static Kinds {
    static KINDS: OnceLock<Kinds> = OnceLock::new();
    KINDS.get_or_init(|| Kinds::read(Release::latest().tables().kinds))
}

impl Kinds {
    fn read(table: &'static str) -> Self {
        let mut kinds = Kinds::default();
        for line in table.lines() {
            let mut columns = line.split(' ');
            match (columns.next(), columns.next(), columns.next()) {
                (Some("scheme"), Some(group), Some(name)) => {
                    let group = if group == "-" { "" } else { group };
                    kinds.schemes.insert(group, name);
                }
                (Some("gate"), Some(name), Some(state)) => {
                    kinds.gates.insert(name, state == "on");
                }
                (Some("internal"), Some(kind), Some(of)) => {
                    if let Some(kind) = GroupVersionKind::from_path(kind) {
                        kinds.internal.insert(kind, of);
                    }
                }
                _ => {}
            }
        }
        kinds
    }

    /// The name in messages of the scheme that has the kinds of a group.
    pub(crate) fn scheme(&self, group: &str) -> &'static str {
        let of_core = self.schemes.get("").copied().unwrap_or_default();
        self.schemes.get(group).copied().unwrap_or(of_core)
    }

    /// The type that all versions of a kind are converted to: `core.Pod`.
    pub(crate) fn internal(&self, kind: &GroupVersionKind) -> Option<&'static str> {
        self.internal.get(kind).copied()
    }
}
