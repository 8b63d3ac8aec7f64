//! How values are merged: types as structured merge sees them, from OpenAPI.
//!
//! A type says which of a scalar, a list and a map a value may be, and how the lists and maps are merged: element
//! by element, or as a whole. Types of built-in kinds come from a table made by `cargo xtask codegen`, those of
//! custom resources from their definitions.

mod custom;
mod openapi;
pub(crate) mod read;

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use pratique_json::Value;
use pratique_types::GroupVersionKind;

use crate::slots::{NameSlots, Named, Walk};

pub use openapi::{DEDUCED, InvalidSchema, OpenApi, UNTYPED};

/// Types that refer to each other, and the kinds among them.
#[derive(Debug, Default)]
pub struct MergeSchema {
    /// Types that come before the own ones.
    base: Option<&'static MergeSchema>,
    types: Vec<MergeType>,
    kinds: HashMap<GroupVersionKind, MergeTypeId, RandomState>,
    versions: HashSet<(String, String)>,
}

/// A type of a [`MergeSchema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MergeTypeId(u32);

/// The type of a value: at least one of the three.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergeType {
    /// A scalar of this kind.
    pub scalar: Option<ScalarKind>,
    /// A list.
    pub list: Option<ListType>,
    /// A map, or a struct.
    pub map: Option<MapType>,
}

/// Kinds of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarKind {
    /// An integer or a floating-point number.
    Numeric,
    /// A text.
    String,
    /// `true` or `false`
    Boolean,
    /// Any of them.
    Untyped,
}

/// A list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListType {
    /// The type of its elements.
    pub element: MergeTypeId,
    /// How it is merged.
    pub merging: ListMerging,
}

/// How a list is merged.
#[derive(Clone, Debug, PartialEq)]
pub enum ListMerging {
    /// As a whole.
    Atomic,
    /// As a set of scalars.
    Set,
    /// Element by element, which these fields identify.
    Keyed(Vec<ListKey>),
}

/// A field that identifies elements.
#[derive(Clone, Debug, PartialEq)]
pub struct ListKey {
    /// Its name.
    pub name: String,
    /// Its value in elements that do not have it.
    pub default: Option<Value<'static>>,
}

/// A map or a struct.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MapType {
    /// Declared fields, sorted by name.
    fields: Vec<(String, MergeTypeId)>,
    slots: NameSlots,
    /// The type of all other members; there may be none without it.
    pub element: Option<MergeTypeId>,
    /// Whether it is merged as a whole.
    pub atomic: bool,
}

/// Why a kind has no type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoMergeType {
    /// Nothing is known of its group and version. The API server answers such a request with 503.
    Version,
    /// Its group and version are known and do not have it.
    Kind,
}

impl MergeSchema {
    /// The type of a kind.
    pub fn kind(&self, kind: &GroupVersionKind) -> Result<MergeTypeId, NoMergeType> {
        let type_id = self.kinds.get(kind).copied();
        type_id.ok_or_else(|| {
            if self
                .versions
                .contains(&(kind.group.clone(), kind.version.clone()))
            {
                NoMergeType::Kind
            } else {
                NoMergeType::Version
            }
        })
    }

    /// A type; of a foreign id one that no value has.
    #[inline]
    pub fn get(&self, id: MergeTypeId) -> &MergeType {
        const NOTHING: &MergeType = &MergeType {
            scalar: None,
            list: None,
            map: None,
        };
        let at = id.index();
        let local = at.checked_sub(self.base.map_or(0, |base| base.types.len()));
        let merge_type = match (local, self.base) {
            (Some(local), _) => self.types.get(local),
            (None, base) => base.and_then(|base| base.types.get(at)),
        };
        merge_type.unwrap_or(NOTHING)
    }
}

impl MergeTypeId {
    /// Where it is among the types of its schema.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Named for (String, MergeTypeId) {
    #[inline]
    fn name(&self) -> &str {
        &self.0
    }
}

/// Goes through the types of members, see [`Walk`].
#[derive(Clone, Debug)]
pub struct MemberWalk<'m> {
    declared: Walk<'m, (String, MergeTypeId)>,
    element: Option<MergeTypeId>,
}

impl MemberWalk<'_> {
    /// The type of a member: of the declared field, or of members that are not declared.
    #[inline]
    pub fn member(&mut self, name: &str) -> Option<MergeTypeId> {
        self.declared.field(name).map(|(_, id)| *id).or(self.element)
    }
}

impl MapType {
    /// The declared fields, by name.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, MergeTypeId)> {
        self.fields.iter().map(|(name, id)| (name.as_str(), *id))
    }

    /// A map or struct with these fields, sorted by name.
    fn new(fields: Vec<(String, MergeTypeId)>, element: Option<MergeTypeId>, atomic: bool) -> Self {
        MapType {
            slots: if fields.is_empty() {
                NameSlots::NONE
            } else {
                NameSlots::new(fields.iter().map(|(name, _)| name.as_str()))
            },
            fields,
            element,
            atomic,
        }
    }

    /// The type of a declared field.
    pub fn field(&self, name: &str) -> Option<MergeTypeId> {
        let named = |at: usize| self.fields.get(at).map(|(known, _)| known.as_str());
        let at = self.slots.find(name, named)?;
        self.fields.get(at).map(|(_, id)| *id)
    }

    /// Looks types up for the members of a value, in the order of their names.
    #[inline]
    pub fn walk(&self) -> MemberWalk<'_> {
        MemberWalk {
            declared: Walk::new(&self.fields, &self.slots),
            element: self.element,
        }
    }

    /// The type of a member: of the declared field, or of members that are not declared.
    pub fn member(&self, name: &str) -> Option<MergeTypeId> {
        self.field(name).or(self.element)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Release;

    #[test]
    fn all_stored_kinds_are_merged() {
        let schema = Release::latest().merge_schema();
        // Subresources, such as those for connections, have no objects of their own.
        let resources = Release::latest().resources();
        let resources = resources.served().iter().chain(resources.optional());
        for served in resources.filter(|served| served.subresource.is_empty()) {
            let of = schema.kind(&served.kind).map(|of| schema.get(of));
            assert!(of.is_ok_and(|of| of.map.is_some()), "{:?}", served.kind);
        }
    }

    #[test]
    fn keys_of_betas() {
        let schema = Release::latest().merge_schema();
        let claim = GroupVersionKind::new("resource.k8s.io", "v1beta1", "ResourceClaim");
        let mut at = schema.kind(&claim).unwrap();
        for field in ["spec", "devices", "requests"] {
            at = schema.get(at).map.as_ref().unwrap().field(field).unwrap();
        }
        let list = schema.get(at).list.as_ref().unwrap();
        assert_eq!(list.merging, ListMerging::Atomic);
        let merged = schema.get(list.element).map.as_ref().unwrap();
        assert!(merged.field("deviceClassName").is_some() && merged.field("exactly").is_none());
    }
}
