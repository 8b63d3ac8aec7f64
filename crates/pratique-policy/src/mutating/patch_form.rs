//! The value of an ApplyConfiguration as a patch for the merge.
//!
//! The reference makes plain data of the object literals of an expression, and of what it read from its input, but
//! not of all that the expression computes: lists and maps within lists and maps, null, times and the like stay as
//! they are, for the merge to refuse by their names.

use std::borrow::Cow;

use pratique_cel::internal::go_type;
use pratique_cel::value::{List, Map, Struct};
use pratique_cel::{Context, Value};
use pratique_gotext::strconv::{quote, quote_rune};
use pratique_json::{self as json, Progress};
use pratique_merge::structured_merge::{Foreign, Patch};

use super::conversion::{ConversionError, ValueConversion};
use super::foreign::{self, foreign, plain};
use crate::typed::{GoValue, ObjectPart};

/// The patch of an object literal.
pub(super) fn patch<'s>(
    value: &Value<'s>,
    context: &Context<'s>,
    conversion: ValueConversion<'_>,
) -> Result<Patch<'s>, ConversionError> {
    match value {
        Value::Struct(object) => {
            structure(*object, context, conversion).map_err(|_| ConversionError::InvalidObject)
        }
        other => Err(ConversionError::NotAnObject(other.type_name().to_owned())),
    }
}

type PatchMembers<'s> = Vec<(Cow<'s, str>, Patch<'s>)>;

/// The members of an object literal.
pub(super) fn structure<'s>(
    object: &'s dyn Struct,
    context: &Context<'s>,
    conversion: ValueConversion<'_>,
) -> Result<Patch<'s>, ConversionError> {
    let fields = object.fields(context)?;
    let members = fields.into_iter().map(|(name, value)| {
        let converted = field(&value, context, conversion);
        let converted = converted.map_err(|error| ConversionError::Field {
            name: name.to_owned(),
            error: Box::new(error),
        })?;
        Ok((Cow::Borrowed(name), converted))
    });
    members
        .collect::<Result<PatchMembers<'s>, ConversionError>>()
        .map(Patch::Map)
}

/// The value of a field: lists and maps are plain data. Values are null once the progress is stopped.
///
/// Upstream: pkg/cel/mutation/dynamic/objects.go, convertField
fn field<'s>(
    value: &Value<'s>,
    context: &Context<'s>,
    conversion: ValueConversion<'_>,
) -> Result<Patch<'s>, ConversionError> {
    match value {
        _ if !conversion.is_deep => made_of_values(value, context, conversion),
        Value::Struct(object) if conversion.passes_faults && is_object(*object) => {
            structure(*object, context, conversion)
        }
        Value::List(list) if list.is_of_values(conversion.joins_values) => {
            made_of_values(value, context, conversion)
        }
        Value::Map(Map::Entries(_) | Map::Constant(_)) => made_of_values(value, context, conversion),
        Value::List(list) if list.is_empty() => Ok(conversion.empty_list()),
        Value::List(list) if !conversion.progress.nodes(list.len()) => Ok(Patch::Null),
        Value::Map(map) if !conversion.progress.nodes(map.len()) => Ok(Patch::Null),
        Value::List(list) => {
            let elements: Result<_, ConversionError> = list
                .iter()
                .map(|value| field(&value, context, conversion))
                .collect();
            elements.map(Patch::List)
        }
        Value::Map(map) => members(map, |value| field(value, context, conversion)),
        Value::Struct(variables) if variables.is_iterable() => iterated(*variables, context, conversion),
        other => made_of_values(other, context, conversion),
    }
}

/// The value of a field, of which lists and maps that the expression made of values are plain data, also in an optional.
fn made_of_values<'s>(
    value: &Value<'s>,
    context: &Context<'s>,
    conversion: ValueConversion<'_>,
) -> Result<Patch<'s>, ConversionError> {
    match value {
        Value::Optional(Some(inner)) if matches!(inner, Value::List(_) | Value::Map(_)) => {
            made_of_values(inner, context, conversion)
        }
        Value::List(list) if list.is_of_values(conversion.joins_values) => {
            if list.is_empty() {
                return Ok(conversion.empty_list());
            }
            if !conversion.progress.nodes(list.len()) {
                return Ok(Patch::Null);
            }
            let elements = list.iter().map(|value| element(&value, context, conversion));
            Ok(Patch::List(elements.collect()))
        }
        Value::Map(map) if !conversion.progress.nodes(map.len()) => Ok(Patch::Null),
        Value::Map(map @ (Map::Entries(_) | Map::Constant(_))) => {
            members(map, |value| Ok(element(value, context, conversion)))
        }
        other => Ok(element(other, context, conversion)),
    }
}

/// The form of `variables`: the reference takes what its iterator gives for keys, which are the values of the variables.
/// Without variables that is an empty map.
///
/// Upstream: pkg/cel/mutation/dynamic/objects.go, convertField, over pkg/cel/lazy/lazy.go, MapValue
fn iterated<'s>(
    variables: &'s dyn Struct,
    context: &Context<'s>,
    conversion: ValueConversion<'_>,
) -> Result<Patch<'s>, ConversionError> {
    let known = variables.fields(context)?;
    let member = |(_, key): &(&'s str, Value<'s>)| {
        let Some(name) = key_text(key) else {
            return Err(unfit(key));
        };
        let variable = known.iter().find(|(known, _)| *known == name);
        // A key has to be a string, and the name of a variable.
        let failure = |why: String| Patch::Foreign(Box::new(foreign::failure(why)));
        let value = match (key, variable) {
            (Value::String(_), Some((_, value))) => field(value, context, conversion)?,
            (Value::String(_), None) => failure(format!("no such key: {name}")),
            _ => failure("no such overload".to_owned()),
        };
        Ok((Cow::Borrowed(name), value))
    };
    known
        .iter()
        .map(member)
        .collect::<Result<PatchMembers<'s>, _>>()
        .map(Patch::Map)
}

fn members<'s>(
    map: &Map<'s>,
    convert: impl Fn(&Value<'s>) -> Result<Patch<'s>, ConversionError>,
) -> Result<Patch<'s>, ConversionError> {
    let members = map.iter().map(|(key, value)| match key_text(&key) {
        Some(text) => Ok((Cow::Borrowed(text), convert(&value)?)),
        None => Err(unfit(&key)),
    });
    members
        .collect::<Result<PatchMembers<'s>, ConversionError>>()
        .map(Patch::Map)
}

/// The text in a key, which need not be a string.
fn key_text<'s>(key: &Value<'s>) -> Option<&'s str> {
    match key {
        Value::String(text) | Value::Type(text) => Some(text),
        Value::Optional(Some(key)) => key_text(key),
        _ => None,
    }
}

/// The error of a key that is no string, which shows the key as `%q` writes it.
fn unfit(key: &Value<'_>) -> ConversionError {
    let key_text = match key {
        Value::Null => character(0),
        Value::Int(number) => character(*number),
        Value::Uint(number) => character(i64::try_from(*number).unwrap_or(-1)),
        Value::Bool(_) | Value::Double(_) => format!("%!q({}={})", go_type(key), plain(key)),
        other => quote(&plain(other)),
    };
    ConversionError::PatchKey {
        shown: key_text,
        type_name: go_type(key),
    }
}

/// A number as Go quotes the character of that code point.
fn character(number: i64) -> String {
    let character = u32::try_from(number).ok().and_then(char::from_u32);
    quote_rune(character.unwrap_or(char::REPLACEMENT_CHARACTER))
}

/// An element of a list or a map: only a value that has a plain form itself.
fn element<'s>(value: &Value<'s>, context: &Context<'s>, conversion: ValueConversion<'_>) -> Patch<'s> {
    match value {
        Value::Null => Patch::NullValue,
        // An optional that holds nothing is nil, which is the null of documents.
        Value::Optional(None) => Patch::Null,
        Value::Bool(value) => Patch::Bool(*value),
        Value::Int(number) => Patch::Int(*number),
        Value::Double(number) => Patch::Float(*number),
        Value::String(text) | Value::Type(text) => Patch::String(Cow::Borrowed(text)),
        Value::Optional(Some(value)) => element(value, context, conversion),
        Value::List(list) if !conversion.progress.nodes(list.len()) => Patch::Null,
        Value::List(List::Json(elements)) => documents(elements, conversion.progress),
        Value::List(list @ List::Joined(_)) if !conversion.joins_values => {
            let elements = list.iter().map(|value| element(&value, context, conversion));
            Patch::List(elements.collect())
        }
        Value::Map(Map::Json(object)) => members_of(object, conversion.progress),
        Value::Struct(object) if is_object(*object) => {
            let object = structure(*object, context, conversion);
            object.unwrap_or_else(|error| Patch::Foreign(Box::new(foreign::error(error.to_string()))))
        }
        Value::Map(Map::Typed(object)) => typed(conversion.go_value(ObjectPart::Object(object)), value),
        Value::List(List::Typed(elements)) => typed(conversion.go_value(ObjectPart::List(elements)), value),
        Value::Uint(_)
        | Value::Bytes(_)
        | Value::Timestamp(_)
        | Value::Duration(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Struct(_)
        | Value::Opaque(_) => Patch::Foreign(Box::new(foreign(value))),
    }
}

/// A part of a typed input, which stays what it is in Go.
fn typed<'s>(go: Option<GoValue>, value: &Value<'s>) -> Patch<'s> {
    Patch::Foreign(Box::new(match go {
        Some(go) => foreign::typed(go),
        None => foreign(value),
    }))
}

/// A value of a document.
fn document<'s>(value: &'s json::Value<'s>, progress: &Progress<'_>) -> Patch<'s> {
    match value {
        json::Value::Null => Patch::Null,
        json::Value::Bool(value) => Patch::Bool(*value),
        json::Value::Int(number) => Patch::Int(*number),
        json::Value::Float(number) => Patch::Float(*number),
        json::Value::String(text) => Patch::String(Cow::Borrowed(text)),
        json::Value::Array(elements) => documents(elements, progress),
        json::Value::NilArray => Patch::NilList,
        json::Value::Object(object) => members_of(object, progress),
    }
}

fn documents<'s>(elements: &'s [json::Value<'s>], progress: &Progress<'_>) -> Patch<'s> {
    if progress.nodes(elements.len()) {
        Patch::List(elements.iter().map(|value| document(value, progress)).collect())
    } else {
        Patch::Null
    }
}

fn members_of<'s>(object: &'s json::Object<'s>, progress: &Progress<'_>) -> Patch<'s> {
    let member = |(key, value)| (Cow::Borrowed(key), document(value, progress));
    if progress.nodes(object.len()) {
        Patch::Map(object.iter().map(member).collect())
    } else {
        Patch::Null
    }
}

/// Whether a value is an object literal.
pub(super) fn is_object(value: &dyn Struct) -> bool {
    let name = value.type_name();
    name == "Object" || name.starts_with("Object.")
}

/// The number in a foreign value, if it is an unsigned integer.
pub(super) fn unsigned_of(foreign: &Foreign) -> Option<u64> {
    if foreign.type_name != foreign::UNSIGNED {
        return None;
    }
    foreign.plain.parse().ok()
}

/// The bytes in a foreign value, if it is one of bytes.
pub(super) fn bytes_of(foreign: &Foreign) -> Option<Vec<u8>> {
    if foreign.type_name != foreign::BYTES {
        return None;
    }
    let numbers = foreign.plain.trim_matches(['[', ']']).split_ascii_whitespace();
    numbers.map(|number| number.parse().ok()).collect()
}
