//! The well-known types: their fields, defaults and names.

use crate::time::Duration;
use crate::types::Type;
use crate::value::Value;

pub(super) const DURATION: &str = "google.protobuf.Duration";
pub(super) const TIMESTAMP: &str = "google.protobuf.Timestamp";
pub(super) const EMPTY: &str = "google.protobuf.Empty";

/// The reference's name of the type that a wrapper holds.
pub(super) fn held(type_name: &str) -> &'static str {
    match type_name.strip_prefix("google.protobuf.").unwrap_or_default() {
        "BoolValue" => "bool",
        "BytesValue" => "[]uint8",
        "DoubleValue" => "float64",
        "FloatValue" => "float32",
        "Int64Value" => "int64",
        "Int32Value" => "int32",
        "UInt64Value" => "uint64",
        "UInt32Value" => "uint32",
        _ => "string",
    }
}

type Fields = &'static [(&'static str, fn() -> Type)];

pub(super) fn fields(type_name: &str) -> Fields {
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
        "BoolValue" => &[("value", || Type::Bool)],
        "BytesValue" => &[("value", || Type::Bytes)],
        "DoubleValue" | "FloatValue" => &[("value", || Type::Double)],
        "Int64Value" | "Int32Value" => &[("value", || Type::Int)],
        "UInt64Value" | "UInt32Value" => &[("value", || Type::Uint)],
        "StringValue" => &[("value", || Type::String)],
        _ => &[],
    }
}

/// The value of a wrapper that was given none.
pub(super) fn default<'a>(type_name: &str) -> Option<Value<'a>> {
    Some(match type_name.strip_prefix("google.protobuf.")? {
        "BoolValue" => Value::Bool(false),
        "BytesValue" => Value::Bytes(&[]),
        "DoubleValue" | "FloatValue" => Value::Double(0.0),
        "Int64Value" | "Int32Value" => Value::Int(0),
        "UInt64Value" | "UInt32Value" => Value::Uint(0),
        "StringValue" => Value::String(""),
        _ => return None,
    })
}

pub(super) fn duration<'a>(seconds: i64, nanos: i64) -> Value<'a> {
    let total = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    let nanos = total.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    Value::Duration(Duration::from_nanos(nanos))
}
