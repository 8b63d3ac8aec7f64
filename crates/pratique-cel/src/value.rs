//! Values during an evaluation: small, `Copy`, borrowed from the input or from the [`Arena`](crate::Arena).

use std::any::Any;
use std::fmt::Debug;

use pratique_json as json;

use crate::constant::Constant;
use crate::context::Context;
use crate::error::Fault;
use crate::time::{Duration, Timestamp};
use crate::unknown_value::UnknownValue;

/// The result of an evaluation: a value or an error.
pub type Evaluation<'a> = Result<Value<'a>, Fault>;

/// A CEL value.
///
/// `'a` is the lifetime of the input and of the arena. JSON is not copied: its arrays and objects are [`List`]s and [`Map`]s,
/// whose members become values when they are read.
// Words only: with a tag of one byte, a copy is made of pieces, which a processor cannot read as a whole before they are
// in its cache.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
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

/// A list: of the input, of the evaluation, or of the host, which makes [`List::Values`]. The other variants are how the evaluator
/// keeps lists, and may change: [`get`](Self::get), [`len`](Self::len) and [`iter`](Self::iter) are the same for all.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[repr(u64)]
pub enum List<'a> {
    /// An array of the input.
    #[doc(hidden)]
    Json(&'a [json::Value<'a>]),
    /// An array of an input that the reference sees through a typed wrapper, which takes only integers as indices.
    #[doc(hidden)]
    Typed(&'a [json::Value<'a>]),
    /// A list that the evaluation allocated.
    Values(&'a [Value<'a>]),
    /// A list of texts that a function made, which the reference keeps as Go's strings: it becomes plain data where others do not.
    #[doc(hidden)]
    Texts(&'a [Value<'a>]),
    /// A constant list of a program.
    #[doc(hidden)]
    Constant(&'a [Constant]),
    /// Two concatenated lists. Concatenation takes constant time.
    #[doc(hidden)]
    Joined(&'a JoinedList<'a>),
    /// Two concatenated lists of which the left one is typed. The reference copies the elements into a new list, which compares and
    /// converts differently from [`List::Joined`].
    #[doc(hidden)]
    Collected(&'a JoinedList<'a>),
    /// A set, or a list by keys.
    #[doc(hidden)]
    Associative(&'a Associative<'a>),
}

/// A list whose items are told apart by keys, or by themselves. Their order does not count for equality, and addition is a union:
/// an item of the right list takes the place of one on the left that has its keys.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Associative<'a> {
    /// The items.
    pub elements: &'a [Value<'a>],
    /// The names of the keys; `None` for a set.
    pub keys: Option<&'a [&'a str]>,
}

/// Two concatenated lists.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct JoinedList<'a> {
    left: List<'a>,
    right: List<'a>,
    len: usize,
}

/// A map: of the input, of the evaluation, or of the host, which makes [`Map::Entries`]. The other variants are how the evaluator
/// keeps maps, and may change.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[repr(u64)]
pub enum Map<'a> {
    /// An object of the input.
    #[doc(hidden)]
    Json(&'a json::Object<'a>),
    /// An object of an input that the reference sees through a typed wrapper, which takes only strings as keys.
    #[doc(hidden)]
    Typed(&'a json::Object<'a>),
    /// A map that the evaluation allocated: unique keys, in the order in which they were added.
    Entries(&'a [(Value<'a>, Value<'a>)]),
    /// A constant map of a program.
    #[doc(hidden)]
    Constant(&'a [(Constant, Constant)]),
}

/// A value of a structured type, whose fields are read by name. They may be computed when they are first read.
pub trait Struct: Debug {
    /// The qualified name of its type.
    fn type_name(&self) -> &str;

    /// The value of a field; `None` if the field is not set, which is the error `no such key`.
    fn get<'a>(&'a self, context: &Context<'a>, field: &str) -> Result<Option<Value<'a>>, Fault>;

    /// Whether a field is set, as `has()` asks.
    fn has(&self, context: &Context<'_>, field: &str) -> Result<bool, Fault>;

    /// All fields that are set, in order, for iteration and conversion to JSON, if the type supports it.
    fn fields<'a>(&'a self, context: &Context<'a>) -> Result<Vec<(&'a str, Value<'a>)>, Fault>;

    /// Equality with another value that is not identical.
    fn equal(&self, other: &Value<'_>) -> Result<bool, Fault> {
        let _ = other;
        Err(Fault::no_such_overload())
    }

    /// The name of the type that `type(x)` gives.
    fn runtime_type(&self) -> &str {
        self.type_name()
    }

    /// The size that costs are computed from.
    fn size(&self) -> u64 {
        1
    }

    /// Whether fields can also be read like the entries of a map, if the checker does not know the type.
    fn is_indexable(&self) -> bool {
        true
    }

    /// Whether comprehensions can iterate over its fields.
    fn is_iterable(&self) -> bool {
        self.is_indexable()
    }

    /// The unknown part of the value, if the host knows only some of its fields. An attribute that ends at such a value is unknown,
    /// and so is one at a field whose [`get`](Self::get) or [`has`](Self::has) returns [unknown](Fault::unknown). Functions never
    /// get such a value.
    fn unknown(&self) -> Option<UnknownValue> {
        None
    }

    /// The error of an index that is not a name.
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

    /// Equality with another value of any type; an error such as `no such overload` if the type does not support it.
    fn equal(&self, other: &Value<'_>) -> Result<bool, Fault>;

    /// The form that tools show.
    fn to_text(&self) -> String;

    /// The length that costs are computed from, where the type has one.
    fn size(&self) -> Option<u64> {
        None
    }

    /// The approximate number of bytes of heap memory that it owns.
    fn owned_bytes(&self) -> usize {
        0
    }
}

impl<'a> Value<'a> {
    /// A JSON value as a CEL value, without a copy.
    #[inline]
    pub fn from_json(value: &'a json::Value<'a>) -> Self {
        match value {
            json::Value::Array(elements) => Value::List(List::Json(elements)),
            json::Value::NilArray => Value::List(List::Json(&[])),
            json::Value::Object(object) => Value::Map(Map::Json(object)),
            scalar => Value::from_scalar(scalar),
        }
    }

    /// A value that stands for an error, which it is where it is read out of a list or map.
    pub fn failed(arena: &'a crate::Arena, fault: Fault) -> Self {
        crate::ops::wrong(arena, fault)
    }

    /// The value as the initial value of a comprehension: an empty list or map is allocated by the evaluation rather than a
    /// constant of the program.
    pub(crate) fn without_constants(self) -> Self {
        match self {
            Value::List(List::Constant([])) => Value::List(List::Values(&[])),
            Value::Map(Map::Constant([])) => Value::Map(Map::Entries(&[])),
            other => other,
        }
    }

    /// A JSON value as a CEL value, without a copy, of an input that the reference sees through a typed wrapper: lists take only
    /// integers as indices, maps only strings as keys, and neither can be compared with other types.
    #[inline]
    pub fn from_typed_json(value: &'a json::Value<'a>) -> Self {
        match value {
            json::Value::Array(elements) => Value::List(List::Typed(elements)),
            json::Value::NilArray => Value::List(List::Typed(&[])),
            json::Value::Object(object) => Value::Map(Map::Typed(object)),
            scalar => Value::from_scalar(scalar),
        }
    }

    /// A member of a [typed](Value::from_typed_json) object. The options of a request are not typed.
    #[inline]
    pub(crate) fn from_typed_member(name: &str, value: &'a json::Value<'a>) -> Self {
        match value {
            json::Value::Object(object) if is_options(name, object) => Value::Map(Map::Json(object)),
            value => Value::from_typed_json(value),
        }
    }

    /// A scalar. Lists and maps are not scalars, and become null.
    fn from_scalar(value: &'a json::Value<'a>) -> Self {
        match value {
            json::Value::Bool(value) => Value::Bool(*value),
            json::Value::Int(number) => Value::Int(*number),
            json::Value::Float(number) => Value::Double(*number),
            json::Value::String(text) => Value::String(text),
            json::Value::Null | json::Value::Array(_) | json::Value::NilArray | json::Value::Object(_) => {
                Value::Null
            }
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
            Value::Opaque(value) => (*value as &dyn Any).downcast_ref(),
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
    /// Whether it is one of values, like one that an expression wrote, and not of what values hold; `joins_values` says it of two
    /// concatenated lists.
    #[doc(hidden)]
    pub fn is_of_values(&self, joins_values: bool) -> bool {
        match self {
            List::Values(_) | List::Constant(_) | List::Collected(_) => true,
            List::Joined(_) => joins_values,
            List::Json(_) | List::Typed(_) | List::Texts(_) | List::Associative(_) => false,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            List::Json(elements) | List::Typed(elements) => elements.len(),
            List::Values(elements) | List::Texts(elements) => elements.len(),
            List::Constant(elements) => elements.len(),
            List::Joined(joined) | List::Collected(joined) => joined.len,
            List::Associative(list) => list.elements.len(),
        }
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is the identical list. Arrays of the input are not identical to themselves, as the reference wraps them anew each
    /// time they are read.
    pub(crate) fn is_same(&self, other: &List<'_>) -> bool {
        match (self, other) {
            (List::Values(left), List::Values(right)) | (List::Texts(left), List::Texts(right)) => {
                !left.is_empty() && same_slice(left, right)
            }
            (List::Constant(left), List::Constant(right)) => same_slice(left, right),
            (List::Joined(left), List::Joined(right)) | (List::Collected(left), List::Collected(right)) => {
                std::ptr::addr_eq(*left, *right)
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
            List::Values(elements) | List::Texts(elements) => elements.get(index).copied(),
            List::Constant(elements) => elements.get(index).map(Constant::value),
            List::Joined(joined) | List::Collected(joined) => joined.get(index),
            List::Associative(list) => list.elements.get(index).copied(),
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

impl<'a> JoinedList<'a> {
    pub(crate) fn new(left: List<'a>, right: List<'a>) -> Self {
        let len = left.len().saturating_add(right.len());
        JoinedList { left, right, len }
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
            Map::Json(object) => object.get_in_place(key).map(Value::from_json),
            Map::Typed(object) => object
                .get_in_place(key)
                .map(|value| Value::from_typed_member(key, value)),
            Map::Entries(entries) => entries
                .iter()
                .find(|(name, _)| matches!(name, Value::String(name) if *name == key))
                .map(|(_, value)| *value),
            Map::Constant(entries) => entries
                .iter()
                .find(|(name, _)| matches!(name, Constant::String(name) if **name == *key))
                .map(|(_, value)| value.value()),
        }
    }

    /// Whether it is the identical map. Objects of the input are not identical to themselves, as the reference wraps them anew each
    /// time they are read.
    pub(crate) fn is_same(&self, other: &Map<'_>) -> bool {
        match (self, other) {
            (Map::Entries(left), Map::Entries(right)) => !left.is_empty() && same_slice(left, right),
            (Map::Constant(left), Map::Constant(right)) => same_slice(left, right),
            _ => false,
        }
    }

    /// The entry at a position in the map's order.
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

    /// The entries, in the map's order: sorted by key if the map is from JSON.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Value<'a>, Value<'a>)> + use<'a> {
        let map = *self;
        // Every index below len() has an entry.
        (0..map.len()).map(move |index| map.entry(index).unwrap_or((Value::Null, Value::Null)))
    }
}

/// Whether two slices are the same memory. Empty ones seem so.
fn same_slice<T, U>(left: &[T], right: &[U]) -> bool {
    left.len() == right.len() && std::ptr::addr_eq(left.as_ptr(), right.as_ptr())
}
