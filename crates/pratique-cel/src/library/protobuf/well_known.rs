//! The well-known types: their fields, defaults and names.

use crate::time::Duration;
use crate::types::Type;
use crate::value::Value;

pub(super) const DURATION: &str = "google.protobuf.Duration";
pub(super) const TIMESTAMP: &str = "google.protobuf.Timestamp";
pub(super) const EMPTY: &str = "google.protobuf.Empty";

/// The messages with a single field `value`: the reference's name of its type, and the value where it is not set.
const WRAPPERS: [(&str, &str, Value<'static>); 9] = [
    ("BoolValue", "bool", Value::Bool(false)),
    ("BytesValue", "[]uint8", Value::Bytes(&[])),
    ("DoubleValue", "float64", Value::Double(0.0)),
    ("FloatValue", "float32", Value::Double(0.0)),
    ("Int64Value", "int64", Value::Int(0)),
    ("Int32Value", "int32", Value::Int(0)),
    ("UInt64Value", "uint64", Value::Uint(0)),
    ("UInt32Value", "uint32", Value::Uint(0)),
    ("StringValue", "string", Value::String("")),
];

/// The reference's name of the type that a wrapper holds, and its default.
pub(super) fn wrapper(type_name: &str) -> Option<(&'static str, Value<'static>)> {
    let name = type_name.strip_prefix("google.protobuf.")?;
    let wrapper_type = WRAPPERS.into_iter().find(|(wrapper, ..)| *wrapper == name);
    wrapper_type.map(|(_, native, default)| (native, default))
}

type MessageFields = &'static [(&'static str, fn() -> Type)];

pub(super) fn fields(type_name: &str) -> MessageFields {
    let Some(name) = type_name.strip_prefix("google.protobuf.") else {
        return &[];
    };
    match name {
        "Any" => &[("type_url", || Type::String), ("value", || Type::Bytes)],
        "Duration" | "Timestamp" => &[("seconds", || Type::Int), ("nanos", || Type::Int)],
        "Struct" => &[("fields", || Type::map(Type::String, Type::Dyn))],
        "ListValue" => &[("values", || Type::list(Type::Dyn))],
        "Value" => &[
            ("null_value", || Type::Int),
            ("number_value", || Type::Double),
            ("string_value", || Type::String),
            ("bool_value", || Type::Bool),
            ("struct_value", || Type::map(Type::String, Type::Dyn)),
            ("list_value", || Type::list(Type::Dyn)),
        ],
        _ => match wrapper(type_name) {
            Some((_, Value::Bool(_))) => &[("value", || Type::Bool)],
            Some((_, Value::Bytes(_))) => &[("value", || Type::Bytes)],
            Some((_, Value::Double(_))) => &[("value", || Type::Double)],
            Some((_, Value::Int(_))) => &[("value", || Type::Int)],
            Some((_, Value::Uint(_))) => &[("value", || Type::Uint)],
            Some((_, Value::String(_))) => &[("value", || Type::String)],
            _ => &[],
        },
    }
}

pub(super) fn duration<'a>(seconds: i64, nanos: i64) -> Value<'a> {
    let total = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    let nanos = total.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    Value::Duration(Duration::from_nanos(nanos))
}
