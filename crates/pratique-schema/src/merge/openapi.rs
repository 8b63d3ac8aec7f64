//! From OpenAPI schemas to types.

use std::collections::{BTreeMap, HashMap};

use pratique_json::Value;

use super::{ListKey, ListMerging, ListType, MapType, MergeType, MergeTypeId, ScalarKind};

/// Reads OpenAPI schemas into types.
#[derive(Debug)]
pub struct OpenApi<'v> {
    schemas: HashMap<&'v str, &'v Value<'v>>,
    types: Vec<MergeType>,
    /// How many types come before these.
    first: u32,
    names: HashMap<String, MergeTypeId>,
    /// Copies of other types that are merged in their own way.
    overridden: Vec<(MergeTypeId, MergeTypeId, bool)>,
}

/// The type of any value, merged as a whole.
pub const UNTYPED: MergeTypeId = MergeTypeId(0);

/// The type of any value, merged as the value suggests: maps member by member, all else as a whole.
pub const DEDUCED: MergeTypeId = MergeTypeId(1);

/// The types above.
pub(super) fn common() -> [MergeType; 2] {
    [free(true, UNTYPED), free(false, DEDUCED)]
}

fn free(atomic: bool, member: MergeTypeId) -> MergeType {
    MergeType {
        scalar: Some(ScalarKind::Untyped),
        list: Some(ListType {
            element: UNTYPED,
            merging: ListMerging::Atomic,
        }),
        map: Some(MapType::new(Vec::new(), Some(member), atomic)),
    }
}

const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const RAW_EXTENSION: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";
const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// Why a schema cannot be read into types.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSchema(String);

impl<'v> OpenApi<'v> {
    /// Reads named schemas that refer to each other.
    pub fn read(schemas: impl IntoIterator<Item = (&'v str, &'v Value<'v>)>) -> Result<Self, InvalidSchema> {
        let schemas: BTreeMap<&str, &Value<'_>> = schemas.into_iter().collect();
        let mut of = OpenApi {
            schemas: schemas.iter().map(|(name, schema)| (*name, *schema)).collect(),
            types: common().to_vec(),
            first: 0,
            names: HashMap::new(),
            overridden: Vec::new(),
        };
        for name in schemas.keys() {
            let id = of.push(MergeType::default());
            of.names.insert((*name).to_owned(), id);
        }
        for (name, schema) in schemas {
            let merge_type = match name {
                QUANTITY => scalar(ScalarKind::Untyped),
                RAW_EXTENSION => free(true, UNTYPED),
                _ => of.schema(schema, false)?,
            };
            if let Some(id) = of.names.get(name).copied() {
                of.set(id, merge_type);
            }
        }
        of.copy_overridden()?;
        Ok(of)
    }

    /// The types, and the names of those that have one.
    pub fn into_parts(self) -> (Vec<MergeType>, HashMap<String, MergeTypeId>) {
        (self.types, self.names)
    }

    /// Reads the schema of a custom resource. Its types come after `first` others, one of which is that of
    /// `metadata`; its own is the last.
    pub(super) fn read_custom(
        schema: &'v Value<'v>,
        first: u32,
        object_meta: MergeTypeId,
    ) -> Result<Vec<MergeType>, InvalidSchema> {
        let mut of = OpenApi {
            schemas: HashMap::new(),
            types: Vec::new(),
            first,
            names: HashMap::from([(OBJECT_META.to_owned(), object_meta)]),
            overridden: Vec::new(),
        };
        let open = flag(schema, PRESERVE);
        let root = MergeType {
            map: Some(of.map(schema, open, true)?),
            ..MergeType::default()
        };
        of.push(root);
        Ok(of.types)
    }

    fn push(&mut self, of: MergeType) -> MergeTypeId {
        let id = MergeTypeId(self.first + self.types.len() as u32);
        self.types.push(of);
        id
    }

    fn set(&mut self, id: MergeTypeId, of: MergeType) {
        let at = id.0.checked_sub(self.first).map(|at| at as usize);
        if let Some(place) = at.and_then(|at| self.types.get_mut(at)) {
            *place = of;
        }
    }

    /// `open`: members that are not declared are kept, here and below.
    fn schema(&mut self, schema: &'v Value<'v>, open: bool) -> Result<MergeType, InvalidSchema> {
        let open = open || flag(schema, PRESERVE);
        let text = |key| schema.get(key).and_then(Value::as_str).unwrap_or_default();
        Ok(match text("type") {
            "" => MergeType {
                scalar: Some(ScalarKind::Untyped),
                list: Some(self.list(schema, open, false)?),
                map: Some(self.map(schema, open, flag(schema, EMBEDDED))?),
            },
            "object" => MergeType {
                map: Some(self.map(schema, open, flag(schema, EMBEDDED))?),
                ..MergeType::default()
            },
            "array" => MergeType {
                list: Some(self.list(schema, open, true)?),
                ..MergeType::default()
            },
            "integer" | "number" => scalar(ScalarKind::Numeric),
            "boolean" => scalar(ScalarKind::Boolean),
            "string" if matches!(text("format"), "" | "byte") => scalar(ScalarKind::String),
            "string" => scalar(ScalarKind::Untyped),
            other => return Err(InvalidSchema(format!("unrecognized type: '{other}'"))),
        })
    }

    /// A schema inside another: a reference, perhaps with its own way of merging, or an inline one.
    fn nested(&mut self, schema: &'v Value<'v>, open: bool) -> Result<MergeTypeId, InvalidSchema> {
        let Some(name) = reference(schema) else {
            let inline = self.schema(schema, open)?;
            return Ok(self.push(inline));
        };
        let target = self.names.get(name).copied();
        let target = target.ok_or_else(|| InvalidSchema(format!("no schema {name:?}")))?;
        match map_type(schema)? {
            None => Ok(target),
            Some(atomic) => {
                let id = self.push(MergeType::default());
                self.overridden.push((id, target, atomic));
                Ok(id)
            }
        }
    }

    /// `object`: it has what every object has.
    fn map(&mut self, schema: &'v Value<'v>, open: bool, object: bool) -> Result<MapType, InvalidSchema> {
        let mut fields = Vec::new();
        for (name, property) in properties(schema) {
            fields.push((name.to_owned(), self.nested(property, open)?));
        }
        if object {
            self.add_object_fields(&mut fields);
        }
        let element = match schema.get("additionalProperties") {
            Some(Value::Bool(allowed)) => allowed.then_some(DEDUCED),
            Some(element @ Value::Object(_)) => Some(self.nested(element, open)?),
            _ => (open || fields.is_empty()).then_some(DEDUCED),
        };
        Ok(MapType::new(fields, element, map_type(schema)? == Some(true)))
    }

    fn add_object_fields(&mut self, fields: &mut Vec<(String, MergeTypeId)>) {
        let text = self.push(scalar(ScalarKind::String));
        let metadata = self.names.get(OBJECT_META).copied().unwrap_or(DEDUCED);
        let every = [("apiVersion", text), ("kind", text), ("metadata", metadata)];
        fields.retain(|(name, _)| every.iter().all(|(known, _)| known != name));
        fields.extend(every.map(|(name, id)| (name.to_owned(), id)));
        fields.sort_by(|(a, _), (b, _)| a.cmp(b));
    }

    fn list(&mut self, schema: &'v Value<'v>, open: bool, typed: bool) -> Result<ListType, InvalidSchema> {
        let items = schema.get("items");
        let element = match items {
            Some(items) => self.nested(items, open)?,
            None if typed => return Err(InvalidSchema("`items` must be specified on arrays".to_owned())),
            None => UNTYPED,
        };
        let merging = match list_type(schema)? {
            ListMerging::Keyed(keys) => ListMerging::Keyed(self.with_defaults(keys, items)),
            other => other,
        };
        Ok(ListType { element, merging })
    }

    fn with_defaults(&self, keys: Vec<ListKey>, items: Option<&'v Value<'v>>) -> Vec<ListKey> {
        let named = items
            .and_then(reference)
            .and_then(|name| self.schemas.get(name).copied());
        let element = named.or(items);
        let default = |name: &str| {
            let default = element?.at(&["properties", name, "default"])?;
            (!default.is_null()).then(|| default.clone().into_owned())
        };
        let complete = |key: ListKey| ListKey {
            default: default(&key.name),
            ..key
        };
        keys.into_iter().map(complete).collect()
    }

    fn copy_overridden(&mut self) -> Result<(), InvalidSchema> {
        for (id, target, atomic) in std::mem::take(&mut self.overridden) {
            let mut copy = self.types.get(target.0 as usize).cloned().unwrap_or_default();
            match (&mut copy.map, &mut copy.list) {
                (Some(map), _) => map.atomic = atomic,
                (None, Some(list)) if atomic => list.merging = ListMerging::Atomic,
                _ => return Err(InvalidSchema("a map type on what is no map".to_owned())),
            }
            self.set(id, copy);
        }
        Ok(())
    }
}

fn scalar(kind: ScalarKind) -> MergeType {
    MergeType {
        scalar: Some(kind),
        ..MergeType::default()
    }
}

fn flag(schema: &Value<'_>, name: &str) -> bool {
    schema.get(name).and_then(Value::as_bool) == Some(true)
}

fn properties<'v>(schema: &'v Value<'v>) -> impl Iterator<Item = (&'v str, &'v Value<'v>)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(|properties| properties.iter())
}

/// The name that a schema refers to: itself, or as the only part of an `allOf`.
fn reference<'v>(schema: &'v Value<'v>) -> Option<&'v str> {
    let target = |schema: &'v Value<'v>| schema.get("$ref").and_then(Value::as_str);
    let path = target(schema).or_else(|| match schema.get("allOf")?.as_array()? {
        [only] => target(only),
        _ => None,
    })?;
    path.rsplit('/').next().filter(|name| !name.is_empty())
}

/// Whether a map is declared to be merged as a whole, or member by member.
fn map_type(schema: &Value<'_>) -> Result<Option<bool>, InvalidSchema> {
    match schema.get("x-kubernetes-map-type").map(Value::as_str) {
        None => Ok(None),
        Some(Some("atomic")) => Ok(Some(true)),
        Some(Some("granular")) => Ok(Some(false)),
        Some(other) => Err(InvalidSchema(format!(
            "unknown map type {}",
            other.unwrap_or_default()
        ))),
    }
}

/// How a list is declared to be merged; older declarations call it a patch strategy.
fn list_type(schema: &Value<'_>) -> Result<ListMerging, InvalidSchema> {
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    let keys = || schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
    if let Some(list_type) = text("x-kubernetes-list-type") {
        return match list_type {
            "atomic" => Ok(ListMerging::Atomic),
            "set" => Ok(ListMerging::Set),
            "map" => match keys() {
                Some(keys) => Ok(keyed(keys.iter().filter_map(Value::as_str))),
                None => Err(InvalidSchema("missing map keys".to_owned())),
            },
            other => Err(InvalidSchema(format!("unknown list type {other}"))),
        };
    }
    match text("x-kubernetes-patch-strategy") {
        None | Some("retainKeys") => Ok(ListMerging::Atomic),
        Some("merge" | "merge,retainKeys") => Ok(keyed(text("x-kubernetes-patch-merge-key").into_iter())),
        Some(other) => Err(InvalidSchema(format!("unknown patch strategy {other}"))),
    }
}

/// Without a key a list is a set.
fn keyed<'v>(names: impl Iterator<Item = &'v str>) -> ListMerging {
    let keys: Vec<ListKey> = names
        .map(|name| ListKey {
            name: name.to_owned(),
            default: None,
        })
        .collect();
    if keys.is_empty() {
        ListMerging::Set
    } else {
        ListMerging::Keyed(keys)
    }
}
