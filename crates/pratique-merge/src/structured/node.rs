//! One view of documents and patches.

use std::borrow::Cow;

use pratique_json::Value;

use super::{Foreign, Patch};

/// A value of a document or of a patch.
pub(super) trait Node<'a>: Sized {
    fn view(&self) -> View<'_, 'a, Self>;
}

/// A value by its type.
pub(super) enum View<'v, 'a, N> {
    /// The null of a document, which every type allows.
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(&'v str),
    List(&'v [N]),
    /// Members sorted by key.
    Map(&'v [(Cow<'a, str>, N)]),
    /// A value of an expression that no document can hold.
    Foreign(&'v Foreign),
    /// The null of an expression.
    ForeignNull,
    /// The empty list of an expression, which is a nil slice in Go.
    ForeignList,
}

impl<'a> Node<'a> for Value<'a> {
    fn view(&self) -> View<'_, 'a, Self> {
        match self {
            Value::Null => View::Null,
            Value::Bool(value) => View::Bool(*value),
            Value::Int(number) => View::Int(*number),
            Value::Float(number) => View::Float(*number),
            Value::String(text) => View::String(text),
            Value::Array(elements) => View::List(elements),
            Value::NilArray => View::ForeignList,
            Value::Object(object) => View::Map(object.members()),
        }
    }
}

impl<'a> Node<'a> for Patch<'a> {
    fn view(&self) -> View<'_, 'a, Self> {
        match self {
            Patch::Null => View::Null,
            Patch::NullValue => View::ForeignNull,
            Patch::Bool(value) => View::Bool(*value),
            Patch::Int(number) => View::Int(*number),
            Patch::Float(number) => View::Float(*number),
            Patch::String(text) => View::String(text),
            Patch::List(elements) => View::List(elements),
            Patch::EmptyList | Patch::NilList => View::ForeignList,
            Patch::Map(members) => View::Map(members),
            Patch::Foreign(foreign) => View::Foreign(foreign),
        }
    }
}
