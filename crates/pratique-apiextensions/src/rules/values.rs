//! Values as expressions see them: borrowed where their schema allows it, converted where it gives them other types.

use pratique_cel::time::Timestamp;
use pratique_cel::value::{Associative, List, Map};
use pratique_cel::{Arena, Fault, Value as CelValue};
use pratique_gotext::validation::CEL_RESERVED;
use pratique_json::{Object, Value, base64};

use super::names::escape;
use crate::duration;
use crate::go_value::go_type;
use crate::schema::{SchemaNode, SchemaType};

/// A value of a schema.
// Upstream: apiserver/pkg/cel/common/valuesunstructured.go, UnstructuredToVal
pub(crate) fn value<'a>(
    arena: &'a Arena,
    schema: &'a SchemaNode,
    is_resource: bool,
    value: &'a Value<'a>,
) -> CelValue<'a> {
    if is_borrowable(schema, value) {
        CelValue::from_typed_json(value)
    } else {
        convert(arena, schema, is_resource, value)
    }
}

/// Whether expressions see a value as it is: it has the type of its schema, which gives no part of it another type or name. A null may
/// mean that a field is absent, and a float may have to be an integer.
fn is_borrowable(schema: &SchemaNode, value: &Value<'_>) -> bool {
    match (schema.of, value) {
        (_, Value::Null | Value::Float(_)) | (Some(SchemaType::Number), _) => false,
        _ if schema.is_int_or_string => matches!(value, Value::Int(_) | Value::String(_)),
        (Some(SchemaType::Boolean), Value::Bool(_))
        | (Some(SchemaType::Integer), Value::Int(_))
        | (None, _) => true,
        (Some(SchemaType::String), Value::String(_)) => {
            !matches!(&*schema.values.format, "byte" | "date" | "date-time" | "duration")
        }
        (Some(SchemaType::Array), Value::Array(items)) => {
            let is_plain = !matches!(schema.list_type.as_deref(), Some("set" | "map"));
            let of_item = schema.items.as_deref().filter(|_| is_plain);
            of_item.is_some_and(|schema| items.iter().all(|item| is_borrowable(schema, item)))
        }
        (Some(SchemaType::Object), Value::Object(members)) => members.iter().all(|(name, member)| {
            if let Some(schema) = schema.properties.get(name) {
                is_unchanged(name) && is_borrowable(schema, member)
            } else {
                let additional = schema.additional_schema();
                additional.is_none_or(|schema| is_borrowable(schema, member))
            }
        }),
        _ => false,
    }
}

/// Whether expressions name a field as it is named, or cannot name it.
fn is_unchanged(name: &str) -> bool {
    escape(name).is_none_or(|escaped| escaped == name)
}

fn failed<'a>(arena: &'a Arena, message: String) -> CelValue<'a> {
    CelValue::failed(arena, Fault::error(message))
}

fn invalid<'a>(arena: &'a Arena, expected: &str) -> CelValue<'a> {
    failed(arena, format!("invalid data, expected {expected}"))
}

fn convert<'a>(
    arena: &'a Arena,
    schema: &'a SchemaNode,
    is_resource: bool,
    value: &'a Value<'a>,
) -> CelValue<'a> {
    if value.is_null() {
        return if schema.nullable {
            CelValue::Null
        } else {
            failed(
                arena,
                "invalid data, got null for schema with nullable=false".to_owned(),
            )
        };
    }
    if schema.is_int_or_string {
        return match value {
            Value::String(_) | Value::Int(_) => CelValue::from_json(value),
            _ => invalid(arena, "XIntOrString value to be either a string or integer"),
        };
    }
    match (schema.of, value) {
        (Some(SchemaType::Object), Value::Object(members)) => object(arena, schema, is_resource, members),
        (Some(SchemaType::Object), _) => invalid(arena, "a map for the provided schema with type=object"),
        (Some(SchemaType::Array), Value::Array(items)) => array(arena, schema, items),
        (Some(SchemaType::Array), _) => invalid(arena, "an array for the provided schema with type=array"),
        (Some(SchemaType::String), Value::String(text)) => string(arena, schema, text),
        (Some(SchemaType::String), other) => invalid(arena, &format!("string, got {}", go_type(other))),
        (Some(SchemaType::Number), Value::Int(number)) => CelValue::Double(*number as f64),
        (Some(SchemaType::Number), Value::Float(number)) => CelValue::Double(*number),
        (Some(SchemaType::Number), other) => invalid(arena, &format!("float, got {}", go_type(other))),
        (Some(SchemaType::Integer), Value::Int(number)) => CelValue::Int(*number),
        (Some(SchemaType::Integer), other) => invalid(arena, &format!("int, got {}", go_type(other))),
        (Some(SchemaType::Boolean), Value::Bool(value)) => CelValue::Bool(*value),
        (Some(SchemaType::Boolean), other) => invalid(arena, &format!("bool, got {}", go_type(other))),
        // Nothing but equality is known of it.
        (None | Some(SchemaType::Unknown), value) => CelValue::from_typed_json(value),
    }
}

fn object<'a>(
    arena: &'a Arena,
    schema: &'a SchemaNode,
    is_resource: bool,
    members: &'a Object<'a>,
) -> CelValue<'a> {
    let has_fields = is_resource || schema.is_embedded || !schema.properties.is_empty();
    let mut entries = Vec::with_capacity(members.len());
    for (name, member) in members.iter() {
        if !has_fields {
            let member = match schema.additional_schema() {
                Some(schema) => value(arena, schema, schema.is_embedded, member),
                None => CelValue::from_typed_json(member),
            };
            entries.push((CelValue::String(name), member));
            continue;
        }
        // A field that is null is absent.
        if member.is_null() {
            continue;
        }
        let is_meta =
            (is_resource || schema.is_embedded) && matches!(name, "apiVersion" | "kind" | "metadata");
        let property = schema
            .properties
            .get(name)
            .filter(|_| !is_meta || super::types::declares_meta(schema));
        let member = match property {
            Some(property) => value(arena, property, property.is_embedded, member),
            None => CelValue::from_typed_json(member),
        };
        let written = match escape(name) {
            Some(escaped) if escaped != name => arena.str(&escaped),
            _ => name,
        };
        entries.push((CelValue::String(written), member));
        // Expressions name such a field either way.
        if CEL_RESERVED.contains(&name) {
            entries.push((CelValue::String(name), member));
        }
    }
    CelValue::Map(Map::Entries(arena.slice(&entries)))
}

fn array<'a>(arena: &'a Arena, schema: &'a SchemaNode, items: &'a [Value<'a>]) -> CelValue<'a> {
    let Some(of_item) = schema.items.as_deref() else {
        return failed(
            arena,
            "invalid array type, expected Items with a non-empty Schema".to_owned(),
        );
    };
    let items: Vec<CelValue<'a>> = items
        .iter()
        .map(|item| value(arena, of_item, of_item.is_embedded, item))
        .collect();
    let elements = arena.slice(&items);
    let keys = match schema.list_type.as_deref() {
        Some("set") => None,
        Some("map") => {
            let keys: Vec<&'a str> = schema
                .list_map_keys
                .iter()
                .map(|name| match escape(name) {
                    Some(escaped) => arena.str(&escaped),
                    None => name,
                })
                .collect();
            Some(arena.slice(&keys))
        }
        _ => return CelValue::List(List::Values(elements)),
    };
    CelValue::List(List::Associative(arena.value(Associative { elements, keys })))
}

fn string<'a>(arena: &'a Arena, schema: &SchemaNode, text: &'a str) -> CelValue<'a> {
    match &*schema.values.format {
        "duration" => match duration::parse(text) {
            Some(duration) => CelValue::Duration(duration),
            None => failed(
                arena,
                format!("Invalid duration {text}: unable to parse {text} as duration"),
            ),
        },
        "date" => match Timestamp::parse(&format!("{text}T00:00:00Z")) {
            Ok(time) => CelValue::Timestamp(time),
            Err(error) => failed(arena, format!("Invalid date formatted string {text}: {error}")),
        },
        "date-time" => match Timestamp::parse(text).or_else(|_| Timestamp::parse(&format!("{text}Z"))) {
            Ok(time) => CelValue::Timestamp(time),
            Err(error) => failed(
                arena,
                format!("Invalid date-time formatted string {text}: {error}"),
            ),
        },
        // The alphabet is that of URLs, though the format's is the other one.
        "byte" => match (text.find(['+', '/']), base64::decode(text)) {
            (None, Ok(bytes)) => CelValue::Bytes(arena.bytes(&bytes)),
            (Some(at), _) | (None, Err(at)) => failed(
                arena,
                format!("Invalid byte formatted string {text}: illegal base64 data at input byte {at}"),
            ),
        },
        _ => CelValue::String(text),
    }
}
