//! The results of mutations as JSON.

use std::borrow::Cow;

use pratique_gotext::strconv::quote_rune;
use pratique_json::{self as json, base64};

use super::go_types::{JSON_PATCH, native_type};
use super::object::unfit_key;
use crate::arena::Arena;
use crate::context::Context;
use crate::value::{List, Map, Struct, Value};

/// Why a value has no JSON form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotJson {
    /// A value within an object that is no plain data there: null, a point in time, a quantity …
    #[error("no JSON form for {0}")]
    NoForm(&'static str),
    /// A key of a map that is no string.
    #[error("map key of type {0}")]
    Key(String),
    /// A map in a field of an object with a key that is no string.
    #[error("fail to convert field \"{field}\": map key {key} is of type {of}, not string")]
    FieldKey {
        /// The field.
        field: String,
        /// The key, as the reference quotes it.
        key: String,
        /// The reference's own name of its type.
        of: &'static str,
    },
}

/// The JSON form of a value: an object as the merge takes it, an operation of a JSON patch, or a value in one.
///
/// Within objects only plain data of the reference has a form: null has none, unless in a map or list that is
/// itself in a list or map.
pub fn to_json(value: &Value<'_>) -> Result<json::Value<'static>, NotJson> {
    Ok(match value {
        Value::Null | Value::Optional(None) => json::Value::Null,
        Value::Bool(value) => json::Value::Bool(*value),
        Value::Int(number) => json::Value::Int(*number),
        // Integers beyond the range of JSON's are floats there.
        Value::Uint(number) => {
            i64::try_from(*number).map_or(json::Value::Float(*number as f64), json::Value::Int)
        }
        Value::Double(number) => double(*number),
        Value::String(text) | Value::Type(text) => string(*text),
        Value::Bytes(bytes) => string(base64::encode(bytes)),
        Value::Timestamp(timestamp) => string(timestamp.to_string()),
        Value::Duration(duration) => string(duration.to_string()),
        Value::List(list) => array(list, to_json)?,
        Value::Map(map) => entries(map, to_json)?,
        Value::Struct(value) => structure(*value)?,
        Value::Optional(Some(value)) => to_json(value)?,
        Value::Opaque(value) => string(value.to_text()),
    })
}

/// A double is an integer where it has no fraction, as in JSON that the reference writes.
fn double(number: f64) -> json::Value<'static> {
    match number {
        _ if number.is_nan() => string("NaN"),
        _ if number.is_infinite() => string(if number > 0.0 { "Infinity" } else { "-Infinity" }),
        _ => json::Value::Float(number),
    }
}

fn string(text: impl Into<String>) -> json::Value<'static> {
    json::Value::String(Cow::Owned(text.into()))
}

type JsonConversion = fn(&Value<'_>) -> Result<json::Value<'static>, NotJson>;

fn array(list: &List<'_>, convert: JsonConversion) -> Result<json::Value<'static>, NotJson> {
    let elements: Result<_, NotJson> = list.iter().map(|element| convert(&element)).collect();
    Ok(json::Value::Array(elements?))
}

fn entries(map: &Map<'_>, convert: JsonConversion) -> Result<json::Value<'static>, NotJson> {
    let mut members = json::Object::default();
    for (key, value) in map.iter() {
        let Value::String(key) = key else {
            return Err(NotJson::Key(key.type_name().to_owned()));
        };
        members.insert(key.to_owned(), convert(&value)?);
    }
    Ok(json::Value::Object(members))
}

fn structure(value: &dyn Struct) -> Result<json::Value<'static>, NotJson> {
    let arena = Arena::new();
    let context = Context::new(&arena, u64::MAX);
    let patch = value.type_name() == JSON_PATCH;
    let convert: JsonConversion = if patch { to_json } else { field };
    let mut members = json::Object::default();
    // The fields of these types can always be listed.
    for (name, value) in value.fields(&context).unwrap_or_default() {
        if !patch {
            check_keys(name, &value)?;
        }
        members.insert(name.to_owned(), convert(&value)?);
    }
    Ok(json::Value::Object(members))
}

/// Refuses a map in a field that has keys which are no strings.
pub(super) fn check_keys(field: &str, value: &Value<'_>) -> Result<(), NotJson> {
    let Some(key) = unfit_key(value) else {
        return Ok(());
    };
    let quoted = match key {
        Value::Int(number) => quoted_character(number),
        Value::Uint(number) => quoted_character(i64::try_from(number).unwrap_or(-1)),
        ref other => format!(
            "%!q({}={})",
            crate::ops::go_type(other),
            crate::ops::format_value(other)
        ),
    };
    Err(NotJson::FieldKey {
        field: field.to_owned(),
        key: quoted,
        of: crate::ops::go_type(&key),
    })
}

/// A field of an object: data of the input as it is, and values that the expression made element by element.
fn field(value: &Value<'_>) -> Result<json::Value<'static>, NotJson> {
    match value {
        Value::Optional(Some(inner)) if matches!(inner, Value::List(_) | Value::Map(_)) => field(inner),
        Value::List(list @ (List::Json(_) | List::Typed(_) | List::Texts(_) | List::Joined(_))) => {
            array(list, field)
        }
        Value::Map(map @ (Map::Json(_) | Map::Typed(_))) => entries(map, field),
        Value::List(list) => array(list, element),
        Value::Map(map) => entries(map, element),
        other => element(other),
    }
}

/// A member of a list or a map: lists and maps that the expression made within these have the form of any value.
fn element(value: &Value<'_>) -> Result<json::Value<'static>, NotJson> {
    match value {
        Value::Optional(Some(value)) => element(value),
        Value::List(list @ List::Joined(_)) => array(list, element),
        Value::Opaque(opaque) if opaque.type_name() == "kubernetes.NamedFormat" => to_json(value),
        Value::Null
        | Value::Timestamp(_)
        | Value::Duration(_)
        | Value::Opaque(_)
        | Value::List(List::Typed(_) | List::Texts(_))
        | Value::Map(Map::Typed(_)) => Err(NotJson::NoForm(native_type(value))),
        // An object within an object holds the fault of its own conversion.
        Value::Struct(_) => to_json(value).map_err(|error| match error {
            NotJson::FieldKey { .. } => NotJson::NoForm("*fmt.wrapError"),
            other => other,
        }),
        other => to_json(other),
    }
}

/// A number as the character of that code point in single quotes.
fn quoted_character(number: i64) -> String {
    let character = u32::try_from(number).ok().and_then(char::from_u32);
    quote_rune(character.unwrap_or(char::REPLACEMENT_CHARACTER))
}
