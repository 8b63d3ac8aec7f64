//! Values during an evaluation: small, `Copy`, borrowed from the input or from the [`Arena`](crate::Arena).

use std::any::Any;
use std::fmt::Debug;

use pratique_json as json;

use crate::constant::Constant;
use crate::context::Context;
use crate::error::Fault;
use crate::time::{Duration, Timestamp};
use crate::unknown::Unknown;

/// What an evaluation gives: a value, or the error that took its place.
pub type Evaluation<'a> = Result<Value<'a>, Fault>;

/// A CEL value.
///
/// `'a` is the lifetime of the input and of the arena. JSON is not copied: its arrays and objects are seen
/// through [`List::Json`] and [`Map::Json`], and their members become values when they are read.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A floating-point number.
    Double(f64),
    /// A string.
    String(&'a str),
    /// A sequence of bytes.
    Bytes(&'a [u8]),
    /// A point in time.
    Timestamp(Timestamp),
    /// A span of time.
    Duration(Duration),
    /// A list.
    List(List<'a>),
    /// A map.
    Map(Map<'a>),
    /// A value of a structured type.
    Struct(&'a dyn Struct),
    /// An optional value.
    Optional(Option<&'a Value<'a>>),
    /// A type, by its name at run time.
    Type(&'a str),
    /// A value of an abstract type.
    Opaque(&'a dyn Opaque),
}

/// A list.
#[derive(Clone, Copy, Debug)]
pub enum List<'a> {
    /// An array of the input.
    Json(&'a [json::Value<'a>]),
    /// An array of an input that the reference sees through a type of its own: it is pickier about indices.
    Typed(&'a [json::Value<'a>]),
    /// A list that the evaluation made.
    Values(&'a [Value<'a>]),
    /// A list that a program holds.
    Constant(&'a [Constant]),
    /// Two lists in a row: adding lists costs nothing that grows with them.
    Joined(&'a Joined<'a>),
    /// The elements of two lists of which the left one is typed: in the reference a new list of its values, no view of two
    /// lists. It differs from [`List::Joined`] where lists are compared, and where they leave the language.
    Collected(&'a Joined<'a>),
}

/// Two lists in a row.
#[derive(Clone, Copy, Debug)]
pub struct Joined<'a> {
    left: List<'a>,
    right: List<'a>,
    len: usize,
}

/// A map.
#[derive(Clone, Copy, Debug)]
pub enum Map<'a> {
    /// An object of the input.
    Json(&'a json::Object<'a>),
    /// An object of an input that the reference sees through a type of its own: it is pickier about keys.
    Typed(&'a json::Object<'a>),
    /// A map that the evaluation made: unique keys, in the order they were written.
    Entries(&'a [(Value<'a>, Value<'a>)]),
    /// A map that a program holds.
    Constant(&'a [(Constant, Constant)]),
}

/// A value of a structured type: its fields are read by name, perhaps computed when they are first asked for.
pub trait Struct: Debug {
    /// The qualified name of its type.
    fn type_name(&self) -> &str;

    /// The value of a field; `None` where the field is not set (an error `no such key` for the reader).
    fn get<'a>(&'a self, context: &Context<'a>, field: &str) -> Result<Option<Value<'a>>, Fault>;

    /// Whether a field is set, as `has()` asks.
    fn has(&self, context: &Context<'_>, field: &str) -> Result<bool, Fault>;

    /// All fields that are set, in order, where the type can be listed: for iteration and for conversion to JSON.
    fn fields<'a>(&'a self, context: &Context<'a>) -> Result<Vec<(&'a str, Value<'a>)>, Fault>;

    /// Equality with another value that is not this very one.
    fn equal(&self, other: &Value<'_>) -> Result<bool, Fault> {
        let _ = other;
        Err(Fault::no_such_overload())
    }

    /// The name of the type that `type(x)` gives.
    fn runtime_type(&self) -> &str {
        self.type_name()
    }

    /// What it counts for in costs that go by size.
    fn size(&self) -> u64 {
        1
    }

    /// Whether fields can also be read as one reads a map's entries, where only the run time knows the type.
    fn is_indexable(&self) -> bool {
        true
    }

    /// Whether comprehensions can go over its fields.
    fn is_iterable(&self) -> bool {
        self.is_indexable()
    }

    /// What is not known of it, where the host knows only some of its fields. Only attributes look into such a value: one
    /// that ends at it has no value, and so has one at a field whose [`get`](Self::get) or [`has`](Self::has) says that
    /// it is [unknown](Fault::unknown).
    fn unknown(&self) -> Option<Unknown> {
        None
    }

    /// The error of an index that is no name.
    fn unfit_index(&self, _: &Value<'_>) -> Fault {
        Fault::no_such_overload()
    }
}

/// A value of an abstract type (quantities, addresses, URLs …).
///
/// `size`, ordering and the like are functions of the library that declares the type, not of the value.
pub trait Opaque: Any + Debug {
    /// The qualified name of its type.
    fn type_name(&self) -> &'static str;

    /// Equality with another value of any type; an error such as `no such overload` where the type knows none.
    fn equal(&self, other: &Value<'_>) -> Result<bool, Fault>;

    /// The string form that tools show.
    fn text(&self) -> String;

    /// The length that costs are computed from, where the type has one.
    fn size(&self) -> Option<u64> {
        None
    }

    /// How many bytes of heap memory it owns, about.
    fn owned_bytes(&self) -> usize {
        0
    }

    /// Itself, for libraries that look inside: `opaque.as_any().downcast_ref::<Quantity>()`.
    fn as_any(&self) -> &dyn Any;
}

impl<'a> Value<'a> {
    /// A JSON value as a CEL value, without a copy.
    #[inline]
    pub fn from_json(value: &'a json::Value<'a>) -> Self {
        match value {
            json::Value::Array(elements) => Value::List(List::Json(elements)),
            json::Value::Object(object) => Value::Map(Map::Json(object)),
            scalar => Value::from_scalar(scalar),
        }
    }

    /// The value as a comprehension begins with it: an empty list or map is no longer that of the expression, but one of
    /// this evaluation.
    pub(crate) fn of_its_own(self) -> Self {
        match self {
            Value::List(List::Constant([])) => Value::List(List::Values(&[])),
            Value::Map(Map::Constant([])) => Value::Map(Map::Entries(&[])),
            other => other,
        }
    }

    /// A JSON value as a CEL value, without a copy, of an input that the reference sees through a type of its own:
    /// lists take no index but an integer, maps no key but a string, and neither can be compared with other types.
    #[inline]
    pub fn from_typed_json(value: &'a json::Value<'a>) -> Self {
        match value {
            json::Value::Array(elements) => Value::List(List::Typed(elements)),
            json::Value::Object(object) => Value::Map(Map::Typed(object)),
            scalar => Value::from_scalar(scalar),
        }
    }

    /// A member of a [typed](Value::from_typed_json) object. The options of a request are no typed input.
    #[inline]
    pub(crate) fn from_typed_member(name: &str, value: &'a json::Value<'a>) -> Self {
        match value {
            json::Value::Object(object) if is_options(name, object) => Value::Map(Map::Json(object)),
            value => Value::from_typed_json(value),
        }
    }

    /// Lists and maps are none.
    fn from_scalar(value: &'a json::Value<'a>) -> Self {
        match value {
            json::Value::Bool(value) => Value::Bool(*value),
            json::Value::Int(number) => Value::Int(*number),
            json::Value::Float(number) => Value::Double(*number),
            json::Value::String(text) => Value::String(text),
            json::Value::Null | json::Value::Array(_) | json::Value::Object(_) => Value::Null,
        }
    }

    /// The name of the type of this value, as `type(x)` shows it.
    pub fn type_name(&self) -> &'a str {
        match self {
            Value::Null => "null_type",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Double(_) => "double",
            Value::String(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::Timestamp(_) => "google.protobuf.Timestamp",
            Value::Duration(_) => "google.protobuf.Duration",
            Value::List(_) => "list",
            Value::Map(_) => "map",
            Value::Struct(value) => value.type_name(),
            Value::Optional(_) => crate::types::OPTIONAL,
            Value::Type(_) => "type",
            Value::Opaque(value) => value.type_name(),
        }
    }

    /// The Rust value behind an opaque value.
    pub fn downcast<T: Opaque>(&self) -> Option<&'a T> {
        match self {
            Value::Opaque(value) => value.as_any().downcast_ref(),
            _ => None,
        }
    }
}

/// Whether a member is that of a request that holds options, of whatever kind they are (`CreateOptions` …).
#[inline]
pub(crate) fn is_options(name: &str, member: &json::Object<'_>) -> bool {
    name == "options"
        && matches!(member.get("kind"), Some(json::Value::String(kind)) if kind.ends_with("Options"))
}

impl<'a> List<'a> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            List::Json(elements) | List::Typed(elements) => elements.len(),
            List::Values(elements) => elements.len(),
            List::Constant(elements) => elements.len(),
            List::Joined(joined) | List::Collected(joined) => joined.len,
        }
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is that very list, made by one evaluation. Arrays of the input are made anew by each reading.
    pub(crate) fn is_very(&self, other: &List<'_>) -> bool {
        match (self, other) {
            (List::Values(own), List::Values(others)) => !own.is_empty() && is_very_slice(own, others),
            (List::Constant(own), List::Constant(others)) => is_very_slice(own, others),
            (List::Joined(own), List::Joined(others)) | (List::Collected(own), List::Collected(others)) => {
                std::ptr::addr_eq(*own, *others)
            }
            _ => false,
        }
    }

    /// The element at an index from 0.
    #[inline]
    pub fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            List::Json(elements) => elements.get(index).map(Value::from_json),
            List::Typed(elements) => elements.get(index).map(Value::from_typed_json),
            made => made.get_made(index),
        }
    }

    /// The element of a list that is not the input's.
    fn get_made(&self, index: usize) -> Option<Value<'a>> {
        match self {
            List::Values(elements) => elements.get(index).copied(),
            List::Constant(elements) => elements.get(index).map(Constant::value),
            List::Joined(joined) | List::Collected(joined) => joined.get(index),
            List::Json(_) | List::Typed(_) => None,
        }
    }

    /// The elements in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Value<'a>> + use<'a> {
        let list = *self;
        // Every index below len() has an element.
        (0..list.len()).map(move |index| list.get(index).unwrap_or(Value::Null))
    }
}

impl<'a> Joined<'a> {
    pub(crate) fn new(left: List<'a>, right: List<'a>) -> Self {
        let len = left.len().saturating_add(right.len());
        Joined { left, right, len }
    }

    /// Lists may be joined any number of times, so this does not recurse.
    fn get(&self, mut index: usize) -> Option<Value<'a>> {
        let mut joined = self;
        loop {
            let within = joined.left.len();
            let part = if index < within {
                joined.left
            } else {
                index -= within;
                joined.right
            };
            match part {
                List::Joined(inner) | List::Collected(inner) => joined = inner,
                part => return part.get(index),
            }
        }
    }
}

impl<'a> Map<'a> {
    /// The number of entries.
    pub fn len(&self) -> usize {
        match self {
            Map::Json(object) | Map::Typed(object) => object.len(),
            Map::Entries(entries) => entries.len(),
            Map::Constant(entries) => entries.len(),
        }
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a string key.
    pub fn get_str(&self, key: &str) -> Option<Value<'a>> {
        match self {
            Map::Json(object) => object.get(key).map(Value::from_json),
            Map::Typed(object) => object.get(key).map(|value| Value::from_typed_member(key, value)),
            Map::Entries(entries) => entries
                .iter()
                .find(|(own, _)| matches!(own, Value::String(own) if *own == key))
                .map(|(_, value)| *value),
            Map::Constant(entries) => entries
                .iter()
                .find(|(own, _)| matches!(own, Constant::String(own) if **own == *key))
                .map(|(_, value)| value.value()),
        }
    }

    /// Whether it is that very map, made by one evaluation. Objects of the input are made anew by each reading.
    pub(crate) fn is_very(&self, other: &Map<'_>) -> bool {
        match (self, other) {
            (Map::Entries(own), Map::Entries(others)) => !own.is_empty() && is_very_slice(own, others),
            (Map::Constant(own), Map::Constant(others)) => is_very_slice(own, others),
            _ => false,
        }
    }

    /// The entry at a position in the map's own order.
    pub fn entry(&self, index: usize) -> Option<(Value<'a>, Value<'a>)> {
        match self {
            Map::Json(object) => object
                .members()
                .get(index)
                .map(|(key, value)| (Value::String(key), Value::from_json(value))),
            Map::Typed(object) => object
                .members()
                .get(index)
                .map(|(key, value)| (Value::String(key), Value::from_typed_member(key, value))),
            Map::Entries(entries) => entries.get(index).copied(),
            Map::Constant(entries) => entries
                .get(index)
                .map(|(key, value)| (key.value(), value.value())),
        }
    }

    /// The entries, in the map's own order: sorted by key where the map came from JSON.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Value<'a>, Value<'a>)> + use<'a> {
        let map = *self;
        // Every index below len() has an entry.
        (0..map.len()).map(move |index| map.entry(index).unwrap_or((Value::Null, Value::Null)))
    }
}

/// Whether two slices are one in memory. Empty ones take none, and seem so.
fn is_very_slice<T, U>(left: &[T], right: &[U]) -> bool {
    left.len() == right.len() && std::ptr::addr_eq(left.as_ptr(), right.as_ptr())
}
