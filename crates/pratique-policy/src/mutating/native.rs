//! What an ApplyConfiguration gives, as the merge takes it.
//!
//! The reference makes plain data of the object literals of an expression, and of what it read from its input, but
//! not of all that the expression computes: lists and maps within lists and maps, null, times and the like stay as
//! they are, for the merge to refuse by their names.

use std::borrow::Cow;

use pratique_cel::value::{List, Map, Struct};
use pratique_cel::{Context, Value};
use pratique_json as json;
use pratique_merge::structured::{Foreign, Patch};

/// The patch that an object literal stands for; the error is in an API server's words.
pub(super) fn patch<'s>(value: &Value<'s>, context: &Context<'s>) -> Result<Patch<'s>, String> {
    const NO_OBJECT: &str = "invalid return type: *dynamic.ObjectVal";
    match value {
        Value::Struct(object) => structure(*object, context).map_err(|_| NO_OBJECT.to_owned()),
        other => Err(format!(
            "unsupported return type from ApplyConfiguration expression: {}",
            other.type_name()
        )),
    }
}

type Members<'s> = Vec<(Cow<'s, str>, Patch<'s>)>;

/// The members of an object literal.
pub(super) fn structure<'s>(object: &'s dyn Struct, context: &Context<'s>) -> Result<Patch<'s>, String> {
    let fields = object.fields(context).map_err(|fault| fault.to_string())?;
    // An optional that holds nothing is nil, which sets nothing.
    let fields = fields
        .into_iter()
        .filter(|(_, value)| !matches!(value, Value::Optional(None)));
    let members = fields.map(|(name, value)| {
        let converted = field(&value, context);
        let converted = converted.map_err(|error| format!("fail to convert field {name:?}: {error}"))?;
        Ok((Cow::Borrowed(name), converted))
    });
    members.collect::<Result<Members<'s>, String>>().map(Patch::Map)
}

/// The value of a field: lists and maps are plain data.
fn field<'s>(value: &Value<'s>, context: &Context<'s>) -> Result<Patch<'s>, String> {
    match value {
        Value::Optional(Some(inner)) if matches!(inner, Value::List(_) | Value::Map(_)) => {
            field(inner, context)
        }
        Value::List(list) if list.is_empty() => Ok(Patch::EmptyList),
        Value::List(list @ (List::Values(_) | List::Constant(_))) => Ok(Patch::List(
            list.iter().map(|own| element(&own, context)).collect(),
        )),
        Value::List(list) => {
            let elements: Result<_, String> = list.iter().map(|own| field(&own, context)).collect();
            elements.map(Patch::List)
        }
        Value::Map(map @ (Map::Entries(_) | Map::Constant(_))) => {
            members(map, |own| Ok(element(own, context)))
        }
        Value::Map(map) => members(map, |own| field(own, context)),
        other => Ok(element(other, context)),
    }
}

fn members<'s>(
    map: &Map<'s>,
    convert: impl Fn(&Value<'s>) -> Result<Patch<'s>, String>,
) -> Result<Patch<'s>, String> {
    let members = map.iter().map(|(key, value)| match key {
        Value::String(key) => Ok((Cow::Borrowed(key), convert(&value)?)),
        key => Err(unfit(&key)),
    });
    members.collect::<Result<Members<'s>, String>>().map(Patch::Map)
}

fn unfit(key: &Value<'_>) -> String {
    let (shown, of) = match key {
        Value::Int(number) => (character(*number), "types.Int"),
        Value::Uint(number) => (character(i64::try_from(*number).unwrap_or(-1)), "types.Uint"),
        Value::Bool(value) => (format!("%!q(types.Bool={value})"), "types.Bool"),
        other => (String::new(), other.type_name()),
    };
    format!("map key {shown} is of type {of}, not string")
}

/// A number as Go quotes the character of that code point.
fn character(number: i64) -> String {
    let character = u32::try_from(number).ok().and_then(char::from_u32);
    match character.unwrap_or(char::REPLACEMENT_CHARACTER) {
        '\'' => "'\\''".to_owned(),
        '"' => "'\"'".to_owned(),
        other => {
            let quoted = pratique_cel::quote::quoted(&other.to_string());
            format!("'{}'", quoted.trim_matches('"'))
        }
    }
}

/// What is in a list or a map: only what has a plain form of its own.
fn element<'s>(value: &Value<'s>, context: &Context<'s>) -> Patch<'s> {
    match value {
        Value::Null | Value::Optional(None) => Patch::Null,
        Value::Bool(value) => Patch::Bool(*value),
        Value::Int(number) => Patch::Int(*number),
        Value::Uint(number) => foreign(number.to_string(), format!("{number:#x}"), "uint64"),
        Value::Double(number) => Patch::Float(*number),
        Value::String(text) | Value::Type(text) => Patch::String(Cow::Borrowed(text)),
        Value::Optional(Some(value)) => element(value, context),
        Value::List(List::Json(elements)) => {
            Patch::List(elements.iter().map(|own| Patch::from(borrowed(own))).collect())
        }
        Value::List(List::Joined(_)) => {
            let Value::List(list) = value else {
                return Patch::Null;
            };
            Patch::List(list.iter().map(|own| element(&own, context)).collect())
        }
        Value::Map(Map::Json(object)) => {
            let members = object.iter();
            Patch::Map(
                members
                    .map(|(key, own)| (Cow::Borrowed(key), Patch::from(borrowed(own))))
                    .collect(),
            )
        }
        Value::Struct(object) if is_object(*object) => {
            let object = structure(*object, context);
            object.unwrap_or_else(|error| foreign(error, String::new(), "*types.Err"))
        }
        Value::Bytes(bytes) => {
            let shown: Vec<String> = bytes.iter().map(u8::to_string).collect();
            let literal: Vec<String> = bytes.iter().map(|byte| format!("{byte:#x}")).collect();
            let literal = format!("[]uint8{{{}}}", literal.join(", "));
            foreign(format!("[{}]", shown.join(" ")), literal, BYTES)
        }
        Value::Timestamp(time) => {
            let text = time.to_string();
            let plain = text.replace('T', " ").replace('Z', " +0000 UTC");
            foreign(plain, text, "time.Time")
        }
        Value::Duration(span) => foreign(
            go_duration(span.nanos()),
            span.nanos().to_string(),
            "time.Duration",
        ),
        Value::List(list) => {
            let shown: Vec<String> = list.iter().map(|own| shown(&own)).collect();
            let (plain, literal) = (shown.join(" "), shown.join(", "));
            foreign(
                format!("[{plain}]"),
                format!("[]ref.Val{{{literal}}}"),
                "[]ref.Val",
            )
        }
        Value::Map(map) => {
            let shown = map
                .iter()
                .map(|(key, own)| format!("{}:{}", shown(&key), shown(&own)));
            let shown: Vec<String> = shown.collect();
            let (plain, literal) = (shown.join(" "), shown.join(", "));
            foreign(
                format!("map[{plain}]"),
                format!("map[ref.Val]ref.Val{{{literal}}}"),
                "map[ref.Val]ref.Val",
            )
        }
        Value::Struct(other) => foreign(String::new(), String::new(), go_struct(other.type_name())),
        Value::Opaque(opaque) => foreign(opaque.text(), opaque.text(), go_struct(opaque.type_name())),
    }
}

/// A value within a list or map that has no plain form.
fn shown(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => pratique_cel::quote::quoted(text),
        other => pratique_cel::ops::shown(other),
    }
}

/// A span of time as Go shows it: `1m30s`.
fn go_duration(nanos: i64) -> String {
    let total = nanos.unsigned_abs();
    let sign = if nanos < 0 { "-" } else { "" };
    let fraction = |whole: u64, part: u64, digits: usize| {
        let part = format!("{part:0digits$}");
        match part.trim_end_matches('0') {
            "" => whole.to_string(),
            part => format!("{whole}.{part}"),
        }
    };
    let small = match total {
        0 => "0s".to_owned(),
        1..1_000 => format!("{total}ns"),
        1_000..1_000_000 => fraction(total / 1_000, total % 1_000, 3) + "µs",
        1_000_000..1_000_000_000 => fraction(total / 1_000_000, total % 1_000_000, 6) + "ms",
        _ => {
            let seconds = total / 1_000_000_000;
            let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
            let hours_shown = if hours > 0 {
                format!("{hours}h")
            } else {
                String::new()
            };
            let minutes = if seconds >= 60 {
                format!("{minutes}m")
            } else {
                String::new()
            };
            hours_shown + &minutes + &fraction(seconds % 60, total % 1_000_000_000, 9) + "s"
        }
    };
    format!("{sign}{small}")
}

fn borrowed<'s>(value: &'s json::Value<'s>) -> json::Value<'s> {
    crate::request::borrow(value)
}

fn foreign<'s>(plain: String, literal: String, type_name: &'static str) -> Patch<'s> {
    Patch::Foreign(Box::new(Foreign {
        plain,
        literal,
        type_name: Cow::Borrowed(type_name),
    }))
}

/// Whether a value is an object literal.
pub(super) fn is_object(value: &dyn Struct) -> bool {
    let name = value.type_name();
    name == "Object" || name.starts_with("Object.")
}

/// The bytes that a foreign value stands for, if it is of that kind.
pub(super) fn bytes_of(foreign: &Foreign) -> Option<Vec<u8>> {
    if foreign.type_name != BYTES {
        return None;
    }
    let numbers = foreign.plain.trim_matches(['[', ']']).split_ascii_whitespace();
    numbers.map(|number| number.parse().ok()).collect()
}

const BYTES: &str = "[]uint8";

/// What Go calls the values of some types.
fn go_struct(name: &str) -> &'static str {
    match name {
        "kubernetes.Quantity" => "*resource.Quantity",
        "net.IP" => "netip.Addr",
        "net.CIDR" => "netip.Prefix",
        "kubernetes.URL" => "*url.URL",
        "kubernetes.Semver" => "semver.Version",
        "kubernetes.NamedFormat" => "*cel.Format",
        "JSONPatch" => "*mutation.JSONPatchVal",
        _ => "*types.Err",
    }
}
