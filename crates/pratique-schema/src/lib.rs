//! The built-in types of Kubernetes: their fields, which of them are left out when empty, and how lists and maps of
//! them are merged.
//!
//! The tables are made by `cargo xtask codegen` from Go's types and OpenAPI documents, and parsed on first
//! use. [`merge`] has how values are merged, for custom resources as well; [`GivenFields`] says which fields are there before
//! admission sees an object.
//!
//! ```
//! use pratique_schema::Release;
//! use pratique_types::GroupVersionKind;
//!
//! let schema = Release::latest().schema();
//! let pod = schema.kind(&GroupVersionKind::new("", "v1", "Pod")).ok_or("not built in")?;
//! assert_eq!(schema.get(pod).name, "core/v1.Pod");
//! assert!(schema.get(pod).field("spec").is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod changes;
mod constraints;
mod deprecations;
mod fields;
mod gates;
mod given_fields;
mod layout;
pub mod merge;
mod patch_strategies;
mod read;
mod release;
mod release_cache;
mod server_version;
mod slots;

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use pratique_types::GroupVersionKind;

use read::TypeNames;

pub use changes::apply_changes;
pub use constraints::{Constraints, TypeConstraints};
pub use deprecations::{DeprecationTable, KindDeprecation};
pub use fields::{Fields, LazyFields};
pub use gates::{FeatureGate, FeatureGates, FeatureGatesError, GateStage, GateTable};
pub use given_fields::{FieldPresence, GivenFields};
pub use layout::{LayoutField, Layouts, names_in_order};
pub use patch_strategies::{PatchStrategies, PatchStrategy};
pub use release::{Release, ReleaseError, ReleaseTables};
pub use release_cache::ReleaseCache;
pub use server_version::ServerVersion;
pub use slots::{Named, Walk};

/// Types that refer to each other, and the kinds among them.
#[derive(Debug, Default)]
pub struct Schema {
    types: Vec<StructType>,
    names: Arc<TypeNames>,
    kinds: HashMap<GroupVersionKind, TypeId, RandomState>,
    /// The kinds that have no objects of their own.
    others: HashMap<GroupVersionKind, TypeId, RandomState>,
    hides_embedded: bool,
}

/// A type of a [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeId(u32);

/// A structured type.
#[derive(Debug, Default)]
pub struct StructType {
    /// Its name: `core/v1.PodSpec`.
    pub name: &'static str,
    /// Its fields, sorted by name, parsed on first use.
    pub fields: LazyFields,
    /// Whether it contains floating-point numbers, at any depth.
    pub has_floats: bool,
}

/// A field.
#[derive(Debug)]
pub struct Field {
    /// Its name, which lies in the [table](ReleaseTables::types).
    pub name: &'static str,
    /// When it is written.
    pub presence: Presence,
    /// The shape of its value.
    pub shape: Shape,
    go: Option<Box<str>>,
    embedded: Option<Box<str>>,
}

/// When a field is written by an API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Always: without a value it is written with the zero value.
    Always,
    /// Always, perhaps as null.
    Nullable,
    /// When it is not null.
    UnlessNull,
    /// When it is not empty: not null, `""`, 0, false, `[]` or `{}`.
    UnlessEmpty,
}

/// The shape of the value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Something without parts that a schema knows.
    Scalar(Scalar),
    /// A structured value.
    Struct(TypeId),
    /// A list of values of a shape.
    List(Box<Shape>),
    /// A map from strings to values of a shape.
    Map(Box<Shape>),
}

/// A value without parts that a schema knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// `true` or `false`
    Bool,
    /// An integer of 32 bits.
    Int32,
    /// An integer of 64 bits.
    Int64,
    /// A floating-point number.
    Float,
    /// A text.
    String,
    /// Bytes in base64.
    Bytes,
    /// A quantity of a resource.
    Quantity,
    /// An integer or a text.
    IntOrString,
    /// A point in time, in seconds.
    Time,
    /// A point in time, in microseconds.
    MicroTime,
    /// A span of time.
    Duration,
    /// Anything.
    Json,
}

impl Schema {
    /// The types of a table in the format of [`ReleaseTables::types`].
    pub fn read(table: &'static str) -> Schema {
        read::read(table)
    }

    /// Whether the path of a value that does not fit its type is told without the [structs that Go embeds](Field::embedded).
    pub fn hides_embedded(&self) -> bool {
        self.hides_embedded
    }

    /// The type of a kind that has objects.
    pub fn kind(&self, kind: &GroupVersionKind) -> Option<TypeId> {
        self.kinds.get(kind).copied()
    }

    /// The type of a kind, even one without objects of its own: a list, options, a status, a review of webhooks.
    pub fn registered(&self, kind: &GroupVersionKind) -> Option<TypeId> {
        self.kind(kind).or_else(|| self.others.get(kind).copied())
    }

    /// All kinds that have objects.
    pub fn kinds(&self) -> impl Iterator<Item = &GroupVersionKind> {
        self.kinds.keys()
    }

    /// A type by its name: `core/v1.PodSpec`.
    pub fn named(&self, name: &str) -> Option<TypeId> {
        self.names.get(name).copied()
    }

    /// A type; of a foreign id one without fields.
    pub fn get(&self, id: TypeId) -> &StructType {
        static NOTHING: StructType = StructType {
            name: "",
            fields: LazyFields::empty(),
            has_floats: false,
        };
        self.types.get(id.0 as usize).unwrap_or(&NOTHING)
    }

    /// All types.
    pub fn types(&self) -> impl Iterator<Item = &StructType> {
        self.types.iter()
    }

    /// The number of types.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether there are no types.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }
}

impl Field {
    /// Whether it is always written.
    #[inline]
    pub fn is_always(&self) -> bool {
        matches!(self.presence, Presence::Always | Presence::Nullable)
    }

    /// The name of the struct that Go embeds for the sake of this field, if it does.
    pub fn embedded(&self) -> Option<&str> {
        self.embedded.as_deref()
    }

    /// Go's name of the field's type, as messages of an API server show it: `v1.RestartPolicy`.
    pub fn go_type(&self, schema: &Schema) -> String {
        let go_type = self.go.as_deref().map(str::to_owned);
        go_type.unwrap_or_else(|| self.shape.go_type(schema))
    }
}

impl Shape {
    /// Go's name of the type, as far as the shape determines it: `[]v1.Container`.
    pub fn go_type(&self, schema: &Schema) -> String {
        match self {
            Shape::Scalar(scalar) => scalar.go_type().to_owned(),
            Shape::Struct(id) => schema.get(*id).go_type().to_owned(),
            Shape::List(element) => format!("[]{}", element.go_type(schema)),
            Shape::Map(value) => format!("map[string]{}", value.go_type(schema)),
        }
    }
}

impl Scalar {
    fn go_type(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::Int32 => "int32",
            Scalar::Int64 => "int64",
            Scalar::Float => "float64",
            Scalar::String => "string",
            Scalar::Bytes => "[]uint8",
            Scalar::Quantity => "resource.Quantity",
            Scalar::IntOrString => "intstr.IntOrString",
            Scalar::Time => "v1.Time",
            Scalar::MicroTime => "v1.MicroTime",
            Scalar::Duration => "v1.Duration",
            Scalar::Json => "runtime.RawExtension",
        }
    }
}

impl StructType {
    /// Its name in Go: `v1.PodSpec`.
    pub fn go_type(&self) -> &str {
        self.name.rsplit_once('/').map_or(self.name, |(_, local)| local)
    }

    /// A field by its name.
    #[inline]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(kind: GroupVersionKind, path: &[&str]) -> &'static Field {
        let schema = Release::latest().schema();
        let mut at = schema.kind(&kind).unwrap();
        let (last, path) = path.split_last().unwrap();
        for name in path {
            let mut shape = &schema.get(at).field(name).unwrap().shape;
            while let Shape::List(inner) | Shape::Map(inner) = shape {
                shape = inner;
            }
            let Shape::Struct(id) = shape else {
                panic!("{name} has no fields")
            };
            at = *id;
        }
        schema.get(at).field(last).unwrap()
    }

    #[test]
    fn fields_are_found() {
        let pod = || GroupVersionKind::new("", "v1", "Pod");
        assert_eq!(field(pod(), &["status"]).presence, Presence::Always);
        assert_eq!(
            field(pod(), &["spec", "hostNetwork"]).presence,
            Presence::UnlessEmpty
        );
        assert_eq!(field(pod(), &["spec", "containers"]).presence, Presence::Nullable);
        let privileged = field(pod(), &["spec", "containers", "securityContext", "privileged"]);
        assert_eq!(privileged.presence, Presence::UnlessNull);
        assert_eq!(privileged.shape, Shape::Scalar(Scalar::Bool));
        let limits = field(pod(), &["spec", "containers", "resources", "limits"]);
        assert_eq!(
            limits.shape,
            Shape::Map(Box::new(Shape::Scalar(Scalar::Quantity)))
        );
    }

    #[test]
    fn every_type_is_known() {
        let schema = Release::latest().schema();
        for of in &schema.types {
            for field in of.fields.iter() {
                let mut shape = &field.shape;
                while let Shape::List(inner) | Shape::Map(inner) = shape {
                    shape = inner;
                }
                if let Shape::Struct(id) = shape {
                    assert!((id.0 as usize) < schema.len(), "{}.{}", of.name, field.name);
                }
            }
        }
    }
}
