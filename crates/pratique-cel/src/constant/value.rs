//! Constants as values, and values as constants.

use std::sync::Arc;

use super::Constant;
use crate::value::{List, Map, Value};

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
    pub fn from_value(value: &Value<'_>) -> Option<Self> {
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
                    .map(|element| Constant::from_value(&element))
                    .collect::<Option<_>>()?,
            ),
            Value::Map(map) => Constant::Map(
                map.iter()
                    .map(|(key, value)| Some((Constant::from_value(&key)?, Constant::from_value(&value)?)))
                    .collect::<Option<_>>()?,
            ),
            Value::Type(name) => Constant::Type(Arc::from(*name)),
            Value::Struct(_) | Value::Optional(_) | Value::Opaque(_) => return None,
        })
    }
}
