//! Values of expressions as JSON, for the operations of a JSON Patch.

use std::borrow::Cow;

use pratique_cel::library::mutation::object_as_map;
use pratique_cel::value::{List, Map};
use pratique_cel::{Context, Value};
use pratique_gotext::strconv::special_form;
use pratique_json::{self as json, base64};
use pratique_merge::structured_merge::Patch;

use super::conversion::{ConversionError, ValueConversion};
use super::patch_form;
use crate::typed::{GoValue, ObjectPart};

/// The message that values become.
const VALUE: &str = "*structpb.Value";

/// The largest integer that JSON carries as a number: doubles have no room for more. Others are texts.
const MAX_SAFE: u64 = (1 << 53) - 1;

/// The JSON form of a value. Numbers that JSON does not have are faults only of what can be converted as a whole.
///
/// Upstream: patch/json_patch.go, where `ConvertToNative` comes before `Marshal`
pub(super) fn json<'s>(
    value: &Value<'s>,
    context: &Context<'s>,
    conversion: ValueConversion<'_>,
) -> Result<json::Value<'s>, ConversionError> {
    let number = match converted(value, context, conversion) {
        Err(ConversionError::Number { number, .. }) => number,
        converted => return converted,
    };
    let conversion = ValueConversion {
        keeps_infinite: true,
        ..conversion
    };
    let whole = converted(value, context, conversion)?;
    // Before 1.37, an object literal became another message.
    let of = match value {
        Value::Struct(object) if !conversion.is_deep && patch_form::is_object(*object) => "*structpb.Struct",
        _ => VALUE,
    };
    let number = first_infinite(&whole).unwrap_or(number);
    Err(ConversionError::Number { of, number })
}

/// The first number that JSON does not have, in the order in which it is written: members of objects by their names.
fn first_infinite(value: &json::Value<'_>) -> Option<&'static str> {
    match value {
        json::Value::Float(number) => special_form(*number),
        json::Value::Array(elements) => elements.iter().find_map(first_infinite),
        json::Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            members.into_iter().find_map(|(_, value)| first_infinite(value))
        }
        _ => None,
    }
}

fn converted<'s>(
    value: &Value<'s>,
    context: &Context<'s>,
    conversion: ValueConversion<'_>,
) -> Result<json::Value<'s>, ConversionError> {
    let goes_on = |count| conversion.progress.nodes(count);
    Ok(match value {
        Value::Null => json::Value::Null,
        Value::List(list) if !goes_on(list.len()) => json::Value::Null,
        Value::Map(map) if !goes_on(map.len()) => json::Value::Null,
        Value::Bool(value) => json::Value::Bool(*value),
        Value::Int(number) if number.unsigned_abs() <= MAX_SAFE => json::Value::Int(*number),
        Value::Int(number) => json::Value::from(number.to_string()),
        Value::Uint(number) => match i64::try_from(*number) {
            Ok(small) if *number <= MAX_SAFE => json::Value::Int(small),
            _ => json::Value::from(number.to_string()),
        },
        Value::Double(number) => double(*number, conversion)?,
        Value::String(text) => json::Value::from(*text),
        Value::Bytes(bytes) => json::Value::from(base64::encode(bytes)),
        Value::Timestamp(time) => json::Value::from(time.to_string()),
        Value::Duration(span) => json::Value::from(span.to_string()),
        Value::List(List::Typed(_)) => return Err(no_form("'list(dyn)'")),
        Value::Map(Map::Typed(object)) => {
            return Err(
                match conversion
                    .go_value(ObjectPart::Object(object))
                    .filter(|go| go.is_struct)
                {
                    Some(go) => ConversionError::GoStruct(go.type_name),
                    None => no_form("'map(dyn, dyn)'"),
                },
            );
        }
        // Before 1.38, a view of two lists makes a list of what their elements hold, which need not be values.
        //
        // Upstream: cel-go/common/types/list.go, concatList.ConvertToNative
        Value::List(list @ List::Joined(_)) if !conversion.joins_values => {
            let elements = list.iter().map(|value| match value {
                Value::Map(Map::Typed(object)) => typed_json(TypedPart::Object(object), conversion),
                Value::List(List::Typed(elements)) => typed_json(TypedPart::List(elements), conversion),
                Value::Struct(object) if patch_form::is_object(object) => {
                    let map = object_as_map(context, object, conversion.is_deep);
                    converted(&map, context, conversion)
                }
                value => converted(&value, context, conversion),
            });
            json::Value::Array(elements.collect::<Result<_, ConversionError>>()?)
        }
        Value::List(list) => {
            let elements: Result<Vec<_>, ConversionError> = list
                .iter()
                .map(|value| part(&value, context, conversion))
                .collect();
            json::Value::Array(elements?)
        }
        Value::Map(map) => {
            let members = map
                .iter()
                .map(|(key, value)| Ok((key_text(&key)?, part(&value, context, conversion)?)));
            json::Value::Object(members.collect::<Result<_, ConversionError>>()?)
        }
        Value::Struct(object) if patch_form::is_object(*object) => {
            of_patch(patch_form::structure(*object, context, conversion)?, conversion)?
        }
        Value::Struct(object) if object.type_name() == "JSONPatch" => {
            return Err(ConversionError::JsonPatch);
        }
        Value::Struct(other) => {
            return Err(ConversionError::Struct(other.type_name().to_owned()));
        }
        Value::Optional(Some(value)) => converted(value, context, conversion)?,
        Value::Optional(None) => return Err(ConversionError::EmptyOptional),
        Value::Type(_) => return Err(ConversionError::Type),
        Value::Opaque(opaque) => return Err(no_form(&format!("'{}'", short(opaque.type_name())))),
    })
}

/// An element of a list, or a value of a map. An object literal becomes a message that has no place there, before 1.37.
///
/// Upstream: pkg/cel/mutation/dynamic/objects.go, ObjectVal.ConvertToNative
fn part<'s>(
    value: &Value<'s>,
    context: &Context<'s>,
    conversion: ValueConversion<'_>,
) -> Result<json::Value<'s>, ConversionError> {
    let part = converted(value, context, conversion)?;
    match unwrapped(value) {
        Value::Struct(object) if !conversion.is_deep && patch_form::is_object(*object) => {
            Err(ConversionError::Panic)
        }
        _ => Ok(part),
    }
}

/// The value in an optional, or the value itself.
fn unwrapped<'v, 's>(value: &'v Value<'s>) -> &'v Value<'s> {
    match value {
        Value::Optional(Some(inner)) => unwrapped(inner),
        value => value,
    }
}

/// A part of a typed input by itself.
enum TypedPart<'s> {
    Object(&'s json::Object<'s>),
    List(&'s [json::Value<'s>]),
}

/// The JSON form of the Go value in a typed value: lists and maps of scalars, but no structs.
fn typed_json<'s>(
    part: TypedPart<'s>,
    conversion: ValueConversion<'_>,
) -> Result<json::Value<'s>, ConversionError> {
    let inner = |value: &'s json::Value<'s>| match value {
        json::Value::Object(object) => typed_json(TypedPart::Object(object), conversion),
        json::Value::Array(elements) => typed_json(TypedPart::List(elements), conversion),
        scalar => Ok(scalar.borrowed()),
    };
    match part {
        TypedPart::List(elements) => {
            let go_list = conversion.go_value(ObjectPart::List(elements));
            refuse_quantities(go_list.as_ref())?;
            let elements = elements.iter().map(inner);
            Ok(json::Value::Array(
                elements.collect::<Result<_, ConversionError>>()?,
            ))
        }
        TypedPart::Object(object) => {
            let go_object = conversion.go_value(ObjectPart::Object(object));
            if let Some(go_object) = go_object.as_ref().filter(|go_object| go_object.is_struct) {
                return Err(unsupported(&go_object.type_name, &go_object.plain));
            }
            refuse_quantities(go_object.as_ref())?;
            let members = object.iter().map(|(key, value)| Ok((key.into(), inner(value)?)));
            Ok(json::Value::Object(
                members.collect::<Result<_, ConversionError>>()?,
            ))
        }
    }
}

fn unsupported(type_name: &str, plain: &str) -> ConversionError {
    ConversionError::GoValue {
        type_name: type_name.to_owned(),
        shown: plain.to_owned(),
    }
}

/// Refuses a list or map of quantities, which are structs as well.
fn refuse_quantities(go_value: Option<&GoValue>) -> Result<(), ConversionError> {
    match go_value.and_then(|value| value.quantity.as_deref()) {
        Some(quantity) => Err(unsupported("resource.Quantity", quantity)),
        None => Ok(()),
    }
}

/// An object literal as JSON: its integers, signed or not, are doubles, whatever they lose.
///
/// Upstream: google.golang.org/protobuf/types/known/structpb, `NewValue`
fn of_patch<'s>(
    patch: Patch<'s>,
    conversion: ValueConversion<'_>,
) -> Result<json::Value<'s>, ConversionError> {
    let progress = conversion.progress;
    let again = |patch| of_patch(patch, conversion);
    let invalid = |name: &str| ConversionError::NoProtoType(name.to_owned());
    Ok(match patch {
        Patch::Null => json::Value::Null,
        Patch::NullValue => return Err(invalid("structpb.NullValue")),
        Patch::Bool(value) => json::Value::Bool(value),
        Patch::Int(number) => double(number as f64, conversion)?,
        Patch::Float(number) => double(number, conversion)?,
        Patch::String(text) => json::Value::String(text),
        Patch::EmptyList | Patch::NilList => json::Value::Array(Vec::new()),
        Patch::List(elements) if !progress.nodes(elements.len()) => json::Value::Null,
        Patch::Map(members) if !progress.nodes(members.len()) => json::Value::Null,
        Patch::List(elements) => {
            json::Value::Array(elements.into_iter().map(again).collect::<Result<_, _>>()?)
        }
        Patch::Map(members) => {
            let members = members.into_iter().map(|(key, value)| Ok((key, again(value)?)));
            json::Value::Object(members.collect::<Result<_, ConversionError>>()?)
        }
        Patch::Foreign(foreign) => {
            match (patch_form::unsigned_of(&foreign), patch_form::bytes_of(&foreign)) {
                (Some(number), _) => double(number as f64, conversion)?,
                (None, Some(bytes)) => json::Value::from(base64::encode(&bytes)),
                (None, None) => return Err(invalid(&foreign.type_name)),
            }
        }
    })
}

/// A double as it is once it was written and read again.
fn double<'s>(number: f64, conversion: ValueConversion<'_>) -> Result<json::Value<'s>, ConversionError> {
    if let Some(name) = special_form(number)
        && !conversion.keeps_infinite
    {
        return Err(ConversionError::Number {
            of: VALUE,
            number: name,
        });
    }
    Ok(json::Value::reread_float(number))
}

fn no_form(type_name: &str) -> ConversionError {
    ConversionError::NoJsonForm(type_name.to_owned())
}

/// The text that the key of a map becomes.
///
/// Upstream: cel-go/common/types, `ConvertToNative` of each type with Go's `string`
fn key_text<'s>(key: &Value<'s>) -> Result<Cow<'s, str>, ConversionError> {
    /// Types of the Kubernetes libraries that become texts.
    const TEXTS: [&str; 4] = ["kubernetes.Quantity", "net.IP", "net.CIDR", "kubernetes.URL"];
    let no_text = |of: &str| Err(ConversionError::Key(of.to_owned()));
    match key {
        Value::String(key) => Ok(Cow::Borrowed(key)),
        Value::Int(_) | Value::Uint(_) => Err(ConversionError::IntegerKey(key.type_name().to_owned())),
        Value::Double(_) => no_text("Double"),
        Value::Null => no_text("'null_type'"),
        Value::Duration(_) => no_text("'Duration'"),
        Value::Timestamp(_) => no_text("'Timestamp'"),
        Value::Optional(Some(key)) => key_text(key),
        Value::Optional(None) => Err(ConversionError::EmptyOptional),
        Value::Type(_) => Err(ConversionError::Type),
        Value::Struct(object) if patch_form::is_object(*object) => Err(ConversionError::ObjectKey),
        Value::Opaque(opaque) if TEXTS.contains(&opaque.type_name()) => Ok(Cow::Owned(opaque.to_text())),
        other => no_text(other.type_name()),
    }
}

/// The name of an abstract type as its conversions show it.
fn short(name: &str) -> &str {
    match name {
        "kubernetes.NamedFormat" => "Format",
        "net.IP" => "IP",
        "net.CIDR" => "CIDR",
        name if name.starts_with("kubernetes.authorization.") => name,
        name => name.strip_prefix("kubernetes.").unwrap_or(name),
    }
}

#[cfg(test)]
mod tests {
    use pratique_cel::{Arena, Environment, library};
    use pratique_json::Progress;
    use pratique_schema::Release;
    use pratique_types::GroupVersionKind;

    use super::*;

    #[track_caller]
    fn check(expression: &str, expected: &str) {
        check_release(expression, "1.37", expected);
    }

    #[track_caller]
    fn check_release(expression: &str, version: &str, expected: &str) {
        let environment: Environment = Environment::kubernetes().with_library(library::mutation::library());
        let program = environment.compile(expression).unwrap();
        let arena = Arena::new();
        let context = Context::new(&arena, u64::MAX);
        let value = program.evaluate(&context, &environment.activation()).unwrap();
        let kind = GroupVersionKind::new("example.com", "v1", "Widget");
        let release = Release::by_version(version).unwrap();
        let progress = Progress::unwatched();
        let conversion = ValueConversion::new((release, &kind), &|_| None, &progress);
        let text = json(&value, &context, conversion);
        let text = text.map_or_else(|error| error.to_string(), |value| value.to_string());
        assert_eq!(text, expected, "{expression}");
    }

    #[test]
    fn numbers_are_those_of_json() {
        check("9007199254740991", "9007199254740991");
        check("9007199254740992", "\"9007199254740992\"");
        check("[18446744073709551615u, 5u]", "[\"18446744073709551615\",5]");
        check("{'a': 4.0, 'b': 1.5}", r#"{"a":4,"b":1.5}"#);
        check("Object{a: 9007199254740993}", r#"{"a":9007199254740992}"#);
        check(
            "Object{a: 1000u, b: [0u], c: {'d': 1u}}",
            r#"{"a":1000,"b":[0],"c":{"d":1}}"#,
        );
        check("Object{a: 9007199254740993u}", r#"{"a":9007199254740992}"#);
        check(
            "Object{a: 18446744073709551615u}",
            r#"{"a":18446744073709552000}"#,
        );
        check("[Object{a: Object.a{b: optional.of(2u)}}]", r#"[{"a":{"b":2}}]"#);
        check("4611686018427387904.0", "4611686018427388000");
        check("Object{a: -9223372036854775808}", r#"{"a":-9223372036854776000}"#);
        check(
            "double('NaN')",
            "json: error calling MarshalJSON for type *structpb.Value: proto: google.protobuf.Value.number_value: \
             invalid NaN value",
        );
    }

    #[test]
    fn object_literals_were_other_messages_before_1_37() {
        let panic = "This request caused apiserver to panic: before 1.37, the value of a patch has no object literal in a list or map";
        for (expression, before) in [
            ("Object{a: [Object.a{b: 1}]}", r#"{"a":[{"b":1}]}"#),
            ("[Object{a: 1}]", panic),
            ("{'a': Object{a: 1}}", panic),
            ("[optional.of(Object{a: 1})]", panic),
            ("[Object{a: 1}] + [Object{a: null}]", r#"[{"a":1},{"a":null}]"#),
            (
                "[{1: Object{}}]",
                "unsupported type conversion from 'int' to string",
            ),
        ] {
            check_release(expression, "1.36", before);
        }
        check("[Object{a: 1}]", r#"[{"a":1}]"#);
        check(
            "[dyn(Object{a: 9007199254740993})] + [dyn(1)]",
            r#"[{"a":"9007199254740993"},1]"#,
        );
        check_release(
            "Object{a: 'a,b'.split(',')}",
            "1.36",
            "proto: invalid type: []string",
        );
        check("Object{a: 'a,b'.split(',')}", r#"{"a":["a","b"]}"#);
        let not_a_number = |of: &str| {
            format!(
                "json: error calling MarshalJSON for type {of}: proto: google.protobuf.Value.number_value: invalid NaN value"
            )
        };
        check_release(
            "Object{a: double('NaN')}",
            "1.36",
            &not_a_number("*structpb.Struct"),
        );
        check("Object{a: double('NaN')}", &not_a_number(VALUE));
    }

    #[test]
    fn lists_that_are_joined_are_lists_of_values_since_1_38() {
        let big = "[Object{b: 1}] + [Object{b: 9007199254740993}]";
        check(big, r#"[{"b":1},{"b":"9007199254740993"}]"#);
        check_release(big, "1.38", r#"[{"b":1},{"b":9007199254740992}]"#);
        let nested = "Object{a: [dyn([])] + [dyn({})]}";
        check(nested, r#"{"a":[[],{}]}"#);
        check_release(nested, "1.38", "proto: invalid type: []ref.Val");
    }

    #[test]
    fn faults_of_inner_objects_are_of_the_whole_since_1_38() {
        let inner = "Object{a: Object.a{b: {1: 2}}}";
        check(inner, "proto: invalid type: *types.Err");
        check_release(
            inner,
            "1.38",
            r#"fail to convert field "a": fail to convert field "b": map key '\x01' is of type types.Int, not string"#,
        );
    }

    #[test]
    fn numbers_are_looked_at_last() {
        let infinite = "json: error calling MarshalJSON for type *structpb.Value: proto: google.protobuf.Value.number_value: \
             invalid +Inf value";
        check("Object{b: double('NaN'), a: double('Infinity')}", infinite);
        check("[double('Infinity'), double('NaN')]", infinite);
        check(
            "Object{a: double('NaN'), b: timestamp('2024-01-02T03:04:05Z')}",
            "proto: invalid type: time.Time",
        );
        check(
            "[dyn(double('NaN')), dyn(quantity('1'))]",
            "type conversion error from 'Quantity' to '*structpb.Value'",
        );
    }

    #[test]
    fn what_has_no_form_is_named() {
        check("b'ab'", "\"YWI=\"");
        check("Object{a: b'ab'}", r#"{"a":"YWI="}"#);
        check(
            "quantity('1')",
            "type conversion error from 'Quantity' to '*structpb.Value'",
        );
        check("{1: 'a'}", "unsupported type conversion from 'int' to string");
        check("Object{a: null}", "proto: invalid type: structpb.NullValue");
        check("Object{a: [[1u]]}", "proto: invalid type: []ref.Val");
        check("Object{a: duration('1s')}", "proto: invalid type: time.Duration");
        check("Object{a: {'b': [1]}}", "proto: invalid type: []ref.Val");
        check(
            "Object{a: {1: 2}}",
            r#"fail to convert field "a": map key '\x01' is of type types.Int, not string"#,
        );
        check("optional.none()", "optional.none() dereference");
    }
}
