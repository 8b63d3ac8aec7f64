//! Values within `google.protobuf.Struct`, `ListValue` and `Value`: those of JSON, so all numbers are doubles.

use super::native;
use crate::context::Context;
use crate::error::Fault;
use crate::library::mutation;
use crate::value::{Evaluation, List, Map, Value};

/// A field of one of these types: the name of the type and of the field.
pub(super) type FieldPlace<'p> = (&'p str, &'p str);

/// A list or map converted for a field of such a type; other values stay as they are if the field takes them.
pub(super) fn container<'a>(
    context: &Context<'a>,
    place: FieldPlace<'_>,
    value: &Value<'a>,
) -> Evaluation<'a> {
    match (place.1, value) {
        ("values" | "list_value", Value::List(_)) | ("fields" | "struct_value", Value::Map(_)) => {
            plain(context, place, value)
        }
        ("values" | "list_value" | "fields" | "struct_value", other) => Err(Fault::error(format!(
            "unsupported field type for {}.{}: {}",
            place.0,
            place.1,
            other.type_name()
        ))),
        ("number_value", value) => native::scalar(place, "float64", value),
        ("string_value", value) => native::scalar(place, "string", value),
        ("bool_value", value) => native::scalar(place, "bool", value),
        (_, value) => Ok(*value),
    }
}

/// The error of a value that a field has no room or no form for.
pub(super) fn unfit((type_name, field): FieldPlace<'_>, problem: &str) -> Fault {
    Fault::error(format!(
        "field type conversion error for {type_name}.{field} value type: {problem}"
    ))
}

/// Beyond this, integers become strings.
const MOST_EXACT: u64 = (1 << 53) - 1;

fn plain<'a>(context: &Context<'a>, place: FieldPlace<'_>, value: &Value<'a>) -> Evaluation<'a> {
    let arena = context.arena;
    Ok(match value {
        Value::Int(number) if number.unsigned_abs() > MOST_EXACT => {
            Value::String(arena.str(&number.to_string()))
        }
        Value::Uint(number) if *number > MOST_EXACT => Value::String(arena.str(&number.to_string())),
        Value::Int(number) => Value::Double(*number as f64),
        Value::Uint(number) => Value::Double(*number as f64),
        Value::Null | Value::Bool(_) | Value::Double(_) | Value::String(_) => *value,
        Value::Bytes(_) | Value::Timestamp(_) | Value::Duration(_) => match mutation::to_json(value) {
            Ok(pratique_json::Value::String(text)) => Value::String(arena.str(&text)),
            _ => Value::Null,
        },
        Value::List(List::Typed(_)) | Value::Map(Map::Typed(_)) => {
            return Err(unfit(place, &native::no_conversion("*structpb.Value", value)));
        }
        Value::List(list) => {
            let elements = list.iter().map(|element| plain(context, place, &element));
            let elements: Vec<Value<'a>> = elements.collect::<Result<_, _>>()?;
            Value::List(List::Values(arena.slice(&elements)))
        }
        Value::Map(map) => {
            let entries = map.iter().map(|(key, value)| match key {
                Value::String(_) => Ok((key, plain(context, place, &value)?)),
                other => Err(unfit(place, &native::no_conversion("string", &other))),
            });
            let entries: Vec<(Value<'a>, Value<'a>)> = entries.collect::<Result<_, Fault>>()?;
            Value::Map(Map::Entries(arena.slice(&entries)))
        }
        Value::Struct(object) if object.type_name() != "JSONPatch" => {
            let fields = object.fields(context)?.into_iter();
            let entries =
                fields.map(|(name, value)| Ok((Value::String(name), plain(context, place, &value)?)));
            let entries: Vec<(Value<'a>, Value<'a>)> = entries.collect::<Result<_, Fault>>()?;
            Value::Map(Map::Entries(arena.slice(&entries)))
        }
        Value::Optional(Some(inner)) => plain(context, place, inner)?,
        Value::Type(_) | Value::Optional(None) | Value::Struct(_) | Value::Opaque(_) => {
            return Err(unfit(place, &native::no_conversion("*structpb.Value", value)));
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::Environment;
    use crate::arena::Arena;
    use crate::context::Context;

    fn check(literal: &str, expected: &str) {
        let program = Environment::kubernetes()
            .compile(&format!("google.protobuf.{literal}"))
            .unwrap();
        let arena = Arena::new();
        let activation = Environment::kubernetes().activation();
        let result = program.evaluate(&Context::new(&arena, 1_000_000), &activation);
        let text = result.map_or_else(|fault| fault.to_string(), |value| format!("{value:?}"));
        assert!(text.contains(expected), "{literal}: {text}");
    }

    #[test]
    fn lists_and_maps() {
        check("ListValue{}", "List(Values([]))");
        check("ListValue{values: [1, 2]}", "[Double(1.0), Double(2.0)]");
        check(
            "ListValue{values: [dyn(true), dyn(null), dyn('a'), dyn(1u)]}",
            "[Bool(true), Null, String(\"a\"), Double(1.0)]",
        );
        check(
            "ListValue{values: [9007199254740993]}",
            "[String(\"9007199254740993\")]",
        );
        check("ListValue{values: [b'ab']}", "[String(\"YWI=\")]");
        check("ListValue{values: [duration('1s')]}", "[String(\"1s\")]");
        check(
            "ListValue{values: [timestamp(0)]}",
            "[String(\"1970-01-01T00:00:00Z\")]",
        );
        check("Struct{fields: {'a': {'b': 1}}}", "(String(\"b\"), Double(1.0))");
        check("Value{list_value: [1]}", "[Double(1.0)]");
        check("Value{null_value: 5}", "Null");
        check("FloatValue{value: 1.333} == 1.333", "Bool(false)");
    }

    #[test]
    fn unfit_values() {
        let fault = |field: &str, text: &str| {
            format!("field type conversion error for google.protobuf.{field} value type: {text}")
        };
        check(
            "ListValue{values: [{1: 1}]}",
            &fault(
                "ListValue.values",
                "unsupported type conversion from 'int' to string",
            ),
        );
        check(
            "ListValue{values: [type(1)]}",
            &fault("ListValue.values", "type conversion not supported for 'type'"),
        );
        check(
            "ListValue{values: [quantity('1')]}",
            &fault(
                "ListValue.values",
                "type conversion error from 'Quantity' to '*structpb.Value'",
            ),
        );
        check(
            "Int32Value{value: 5000000000}",
            &fault("Int32Value.value", "integer overflow"),
        );
        check(
            "UInt32Value{value: 5000000000u}",
            &fault("UInt32Value.value", "unsigned integer overflow"),
        );
        check(
            "ListValue{values: dyn(1)}",
            "unsupported field type for google.protobuf.ListValue.values: int",
        );
    }
}
