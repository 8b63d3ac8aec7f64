//! The well-known types of protocol buffers, as struct literals name them.

mod any;
mod dynamic;
mod native;
mod unpack;
mod well_known;
mod wire;

use crate::ast::Literal;
use crate::context::Context;
use crate::environment::Library;
use crate::environment::TypeProvider;
use crate::error::Fault;
use crate::time::Timestamp;
use crate::types::Type;
use crate::value::{Evaluation, List, Map, Value};

use std::sync::Arc;

use well_known::{DURATION, EMPTY, TIMESTAMP, duration, fields, wrapper};

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
        values: &[(&'a str, Value<'a>)],
    ) -> Evaluation<'a> {
        let value = |name: &str| {
            values
                .iter()
                .rev()
                .find(|(field, _)| *field == name)
                .map(|(_, value)| *value)
        };
        let integer = |name: &str, wanted: &str| {
            let number = value(name).map_or(Ok(Value::Int(0)), |value| {
                native::scalar((type_name, name), wanted, &value)
            });
            number.map(|value| match value {
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
            "google.protobuf.Value" => match values.last() {
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
            _ => match (value("value"), wrapper(type_name)) {
                (Some(value), Some((held, _))) => native::scalar((type_name, "value"), held, &value),
                (None, Some((_, default))) => Ok(default),
                (_, None) => Err(Fault::error(format!("unknown type '{type_name}'"))),
            },
        }
    }
}
