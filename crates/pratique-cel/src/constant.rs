//! Values that a program holds: literals, and what is computed from them while planning.

use std::sync::Arc;

use crate::ast::Literal;
use crate::time::{Duration, Timestamp};
use crate::value::{List, Map, Value};

/// A value that borrows nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
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
    String(Arc<str>),
    /// A sequence of bytes.
    Bytes(Arc<[u8]>),
    /// A point in time.
    Timestamp(Timestamp),
    /// A span of time.
    Duration(Duration),
    /// A list.
    List(Box<[Constant]>),
    /// A map: unique keys, in the order they were written.
    Map(Box<[(Constant, Constant)]>),
    /// A type, by its name at run time.
    Type(Arc<str>),
}

impl Constant {
    /// The value, borrowed.
    #[inline]
    pub fn value(&self) -> Value<'_> {
        match self {
            Constant::Null => Value::Null,
            Constant::Bool(value) => Value::Bool(*value),
            Constant::Int(number) => Value::Int(*number),
            Constant::Uint(number) => Value::Uint(*number),
            Constant::Double(number) => Value::Double(*number),
            Constant::String(text) => Value::String(text),
            Constant::Bytes(bytes) => Value::Bytes(bytes),
            Constant::Timestamp(timestamp) => Value::Timestamp(*timestamp),
            Constant::Duration(duration) => Value::Duration(*duration),
            Constant::List(elements) => Value::List(List::Constant(elements)),
            Constant::Map(entries) => Value::Map(Map::Constant(entries)),
            Constant::Type(name) => Value::Type(name),
        }
    }

    /// A copy of a value; `None` for values that only an evaluation can hold.
    pub fn of(value: &Value<'_>) -> Option<Self> {
        Some(match value {
            Value::Null => Constant::Null,
            Value::Bool(value) => Constant::Bool(*value),
            Value::Int(number) => Constant::Int(*number),
            Value::Uint(number) => Constant::Uint(*number),
            Value::Double(number) => Constant::Double(*number),
            Value::String(text) => Constant::String(Arc::from(*text)),
            Value::Bytes(bytes) => Constant::Bytes(Arc::from(*bytes)),
            Value::Timestamp(timestamp) => Constant::Timestamp(*timestamp),
            Value::Duration(duration) => Constant::Duration(*duration),
            Value::List(list) => Constant::List(
                list.iter()
                    .map(|element| Constant::of(&element))
                    .collect::<Option<_>>()?,
            ),
            Value::Map(map) => Constant::Map(
                map.iter()
                    .map(|(key, value)| Some((Constant::of(&key)?, Constant::of(&value)?)))
                    .collect::<Option<_>>()?,
            ),
            Value::Type(name) => Constant::Type(Arc::from(*name)),
            Value::Struct(_) | Value::Optional(_) | Value::Opaque(_) => return None,
        })
    }
}

impl From<&Literal> for Constant {
    fn from(literal: &Literal) -> Self {
        match literal {
            Literal::Null => Constant::Null,
            Literal::Bool(value) => Constant::Bool(*value),
            Literal::Int(number) => Constant::Int(*number),
            Literal::Uint(number) => Constant::Uint(*number),
            Literal::Double(number) => Constant::Double(*number),
            Literal::String(text) => Constant::String(text.clone()),
            Literal::Bytes(bytes) => Constant::Bytes(bytes.clone()),
        }
    }
}
