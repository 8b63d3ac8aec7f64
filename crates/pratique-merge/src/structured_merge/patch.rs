//! The value that an `ApplyConfiguration` merges in.

use std::borrow::Cow;

use pratique_json::{Progress, Value};

/// A value to merge in.
///
/// It is more than JSON: expressions have values that no document holds. Most of these are refused, in messages that show
/// them, so they come with the texts for that.
#[derive(Clone, Debug, PartialEq)]
pub enum Patch<'a> {
    /// The null of a document. It leaves lists, maps and structs that are not empty as they are, unless they are atomic,
    /// and replaces everything else.
    Null,
    /// The null of an expression: always refused.
    NullValue,
    /// `true` or `false`
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A string.
    String(Cow<'a, str>),
    /// A list. An empty one that the merge puts into the object is `[]`.
    List(Vec<Patch<'a>>),
    /// The empty list of an expression: a list like others, but null where the merge puts it into the object, as
    /// the reference's is.
    EmptyList,
    /// The same where the object has no Go type: the merge still puts a list into it, [`Value::NilArray`].
    NilList,
    /// A map or struct; of members with the same key the last one counts.
    Map(Vec<(Cow<'a, str>, Patch<'a>)>),
    /// Any other value, such as a timestamp, or an error in place of a value: always refused.
    Foreign(Box<Foreign>),
}

/// A value that no document holds, as the reference's messages show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreign {
    /// As Go's `%v` writes it inside other values.
    pub plain: String,
    /// As Go's `%#v` writes it.
    pub literal: String,
    /// The name of its Go type, as `%T` writes it.
    pub type_name: Cow<'static, str>,
}

impl<'a> From<Value<'a>> for Patch<'a> {
    fn from(value: Value<'a>) -> Self {
        match value {
            Value::Null => Patch::Null,
            Value::Bool(value) => Patch::Bool(value),
            Value::Int(number) => Patch::Int(number),
            Value::Float(number) => Patch::Float(number),
            Value::String(text) => Patch::String(text),
            Value::Array(elements) => Patch::List(elements.into_iter().map(Patch::from).collect()),
            Value::NilArray => Patch::NilList,
            Value::Object(object) => Patch::Map(
                object
                    .into_iter()
                    .map(|(key, value)| (key, Patch::from(value)))
                    .collect(),
            ),
        }
    }
}

impl<'a> Patch<'a> {
    /// The value that the object gets. It is null for a value that is refused, and once `progress` is interrupted.
    pub(super) fn into_value(self, progress: &Progress<'_>) -> Value<'a> {
        match self {
            Patch::Bool(value) => Value::Bool(value),
            Patch::Int(number) => Value::Int(number),
            Patch::Float(number) => Value::Float(number),
            Patch::String(text) => Value::String(text),
            Patch::List(elements) if progress.nodes(elements.len()) => {
                let elements = elements.into_iter();
                Value::Array(elements.map(|element| element.into_value(progress)).collect())
            }
            Patch::Map(members) if progress.nodes(members.len()) => Value::Object(
                members
                    .into_iter()
                    .map(|(key, member)| (key, member.into_value(progress)))
                    .collect(),
            ),
            Patch::NilList => Value::NilArray,
            Patch::Null | Patch::NullValue | Patch::EmptyList | Patch::Foreign(_) => Value::Null,
            Patch::List(_) | Patch::Map(_) => Value::Null,
        }
    }

    /// Sorts the members of all maps, until `progress` is interrupted.
    pub(super) fn sort(&mut self, progress: &Progress<'_>) {
        match self {
            Patch::List(elements) if progress.nodes(elements.len()) => {
                elements.iter_mut().for_each(|element| element.sort(progress));
            }
            Patch::Map(members) if progress.nodes(members.len()) => {
                if !members.is_sorted_by(|(a, _), (b, _)| a < b) {
                    // The last one first, so that it is the one that stays.
                    members.reverse();
                    members.sort_by(|(a, _), (b, _)| a.cmp(b));
                    members.dedup_by(|(a, _), (b, _)| a == b);
                }
                members.iter_mut().for_each(|(_, member)| member.sort(progress));
            }
            _ => {}
        }
    }
}
