//! The release of Kubernetes whose objects these are: its types, their layout, its kinds.

use std::collections::HashMap;
use std::sync::OnceLock;

use foldhash::fast::RandomState;
use pratique_schema::{Layouts, Release, ReleaseCache, Schema, TypeId};
use pratique_types::GroupVersionKind;

use crate::plan::ReleasePlans;

/// The tables of a release, as objects need them: read on first use, and kept.
#[derive(Debug)]
pub(crate) struct ObjectTables {
    release: &'static Release,
    defaults: OnceLock<ReleasePlans>,
    conversions: OnceLock<ReleasePlans>,
    kinds: OnceLock<SchemeKinds>,
}

impl ObjectTables {
    /// Those of a release.
    pub(crate) fn find(release: &'static Release) -> &'static ObjectTables {
        static TABLES: ReleaseCache<(u32, u32), &ObjectTables> = ReleaseCache::new();
        TABLES.get_or_make(release.version(), || {
            Box::leak(Box::new(ObjectTables {
                release,
                defaults: OnceLock::new(),
                conversions: OnceLock::new(),
                kinds: OnceLock::new(),
            }))
        })
    }

    /// The release.
    pub(crate) fn release(&self) -> &'static Release {
        self.release
    }

    /// The types.
    pub(crate) fn schema(&self) -> &'static Schema {
        self.release.schema()
    }

    /// The text in which the names of fields of decoded objects lie.
    pub(crate) fn field_names(&self) -> &'static str {
        self.release.tables().types
    }

    /// In which order the fields of structs are written.
    pub(crate) fn layouts(&self) -> &'static Layouts {
        self.release.layouts()
    }

    /// The plans of defaulting.
    pub(crate) fn defaults(&self) -> &ReleasePlans {
        self.defaults
            .get_or_init(|| ReleasePlans::read(self.release.tables().defaults, self.release.version()))
    }

    /// The plans of the conversion to the internal version and back.
    pub(crate) fn conversions(&self) -> &ReleasePlans {
        self.conversions
            .get_or_init(|| ReleasePlans::read(self.release.tables().conversions, self.release.version()))
    }

    /// The type of a kind of the servers' schemes.
    pub(crate) fn type_of(&self, kind: &GroupVersionKind) -> Option<TypeId> {
        self.schema().registered(kind)
    }

    /// What the schemes know of kinds.
    pub(crate) fn kinds(&self) -> &SchemeKinds {
        self.kinds
            .get_or_init(|| SchemeKinds::read(self.release.tables().kinds))
    }
}

/// The kinds in the schemes of the servers.
#[derive(Debug, Default)]
pub(crate) struct SchemeKinds {
    schemes: HashMap<&'static str, &'static str, RandomState>,
    internal: HashMap<GroupVersionKind, &'static str, RandomState>,
}

impl SchemeKinds {
    fn read(table: &'static str) -> Self {
        let mut kinds = SchemeKinds::default();
        for line in table.lines() {
            let mut columns = line.split(' ');
            match (columns.next(), columns.next(), columns.next()) {
                (Some("scheme"), Some(group), Some(name)) => {
                    let group = if group == "-" { "" } else { group };
                    kinds.schemes.insert(group, name);
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
