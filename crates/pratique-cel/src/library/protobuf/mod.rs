//! The well-known types of protocol buffers, as struct literals name them.

mod any;
mod dynamic;
mod native;
mod unpack;
mod wire;

use super::Library;
use crate::ast::Literal;
use crate::context::Context;
use crate::declared::TypeProvider;
use crate::error::Fault;
use crate::time::{Duration, Timestamp};
use crate::types::Type;
use crate::value::{Evaluation, List, Map, Value};

use std::sync::Arc;

/// The types of `google.protobuf`.
pub(crate) fn library() -> Library {
    Library {
        names: vec![
            (DURATION.into(), Type::Duration),
            (TIMESTAMP.into(), Type::Timestamp),
            (EMPTY.into(), Type::named(EMPTY)),
        ],
        constants: vec![("google.protobuf.NullValue.NULL_VALUE".into(), Literal::Int(0))],
        types: vec![Arc::new(WellKnown)],
        ..Library::default()
    }
}

const DURATION: &str = "google.protobuf.Duration";
const TIMESTAMP: &str = "google.protobuf.Timestamp";
const EMPTY: &str = "google.protobuf.Empty";

#[derive(Debug)]
struct WellKnown;

impl TypeProvider for WellKnown {
    fn has_type(&self, name: &str) -> bool {
        !fields(name).is_empty() || name == EMPTY
    }

    fn has_namespace(&self, prefix: &str) -> bool {
        prefix == "google"
    }

    fn field(&self, type_name: &str, field: &str) -> Option<Type> {
        let (_, of) = fields(type_name).iter().find(|(name, _)| *name == field)?;
        Some(of())
    }

    fn construct<'a>(
        &self,
        context: &Context<'a>,
        type_name: &str,
        given: &[(&'a str, Value<'a>)],
    ) -> Evaluation<'a> {
        let value = |name: &str| {
            given
                .iter()
                .rev()
                .find(|(own, _)| *own == name)
                .map(|(_, value)| *value)
        };
        let integer = |name: &str, wanted: &str| {
            let given = value(name).map_or(Ok(Value::Int(0)), |value| {
                native::scalar((type_name, name), wanted, &value)
            });
            given.map(|value| match value {
                Value::Int(number) => number,
                _ => 0,
            })
        };
        match type_name {
            DURATION => Ok(duration(integer("seconds", "int64")?, integer("nanos", "int32")?)),
            TIMESTAMP => Ok(Value::Timestamp(Timestamp::of_message(
                integer("seconds", "int64")?,
                integer("nanos", "int32")?,
            ))),
            "google.protobuf.Any" => any::construct(context, value("type_url"), value("value")),
            "google.protobuf.Value" => match given.last() {
                None | Some(("null_value", _)) => Ok(Value::Null),
                Some((field, value)) => dynamic::container(context, (type_name, field), value),
            },
            "google.protobuf.ListValue" => match value("values") {
                None => Ok(Value::List(List::Values(&[]))),
                Some(values) => dynamic::container(context, (type_name, "values"), &values),
            },
            "google.protobuf.Struct" => match value("fields") {
                None => Ok(Value::Map(Map::Entries(&[]))),
                Some(fields) => dynamic::container(context, (type_name, "fields"), &fields),
            },
            _ => match (value("value"), default(type_name)) {
                (Some(value), Some(_)) => native::scalar((type_name, "value"), held(type_name), &value),
                (None, Some(default)) => Ok(default),
                (_, None) => Err(Fault::error(format!("unknown type '{type_name}'"))),
            },
        }
    }
}

/// The reference's name of the type that a wrapper holds.
fn held(type_name: &str) -> &'static str {
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

fn fields(type_name: &str) -> Fields {
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
fn default<'a>(type_name: &str) -> Option<Value<'a>> {
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

fn duration<'a>(seconds: i64, nanos: i64) -> Value<'a> {
    let total = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    let nanos = total.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    Value::Duration(Duration::from_nanos(nanos))
}
