//! One view of documents and patches.

use std::borrow::Cow;

use pratique_json::Value;

use super::{Foreign, Patch};

/// A value of a document or of a patch.
pub(super) trait MergeNode<'a>: Sized {
    fn view(&self) -> NodeView<'_, 'a, Self>;
}

/// A value by its type.
pub(super) enum NodeView<'v, 'a, N> {
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

impl<'a> MergeNode<'a> for Value<'a> {
    fn view(&self) -> NodeView<'_, 'a, Self> {
        match self {
            Value::Null => NodeView::Null,
            Value::Bool(value) => NodeView::Bool(*value),
            Value::Int(number) => NodeView::Int(*number),
            Value::Float(number) => NodeView::Float(*number),
            Value::String(text) => NodeView::String(text),
            Value::Array(elements) => NodeView::List(elements),
            Value::NilArray => NodeView::ForeignList,
            Value::Object(object) => NodeView::Map(object.members()),
        }
    }
}

impl<'a> MergeNode<'a> for Patch<'a> {
    fn view(&self) -> NodeView<'_, 'a, Self> {
        match self {
            Patch::Null => NodeView::Null,
            Patch::NullValue => NodeView::ForeignNull,
            Patch::Bool(value) => NodeView::Bool(*value),
            Patch::Int(number) => NodeView::Int(*number),
            Patch::Float(number) => NodeView::Float(*number),
            Patch::String(text) => NodeView::String(text),
            Patch::List(elements) => NodeView::List(elements),
            Patch::EmptyList | Patch::NilList => NodeView::ForeignList,
            Patch::Map(members) => NodeView::Map(members),
            Patch::Foreign(foreign) => NodeView::Foreign(foreign),
        }
    }
}
