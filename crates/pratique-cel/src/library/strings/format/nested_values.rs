//! Lists and maps in a formatted text: their members look like CEL literals.

use std::fmt::Write;

use pratique_gotext::strconv::{plain_form, quote};

use super::argument::{FormatRefusal, count, utf8, write_string};
use crate::context::Context;
use crate::text::format::{ArgumentError, MAX_DEPTH};
use crate::value::{List, Map, Value};

/// Digits after the point of a double in a list or map.
const PRECISION: usize = 6;

pub(super) fn write_list(
    context: &Context<'_>,
    out: &mut String,
    list: &List<'_>,
    depth: usize,
) -> Result<(), FormatRefusal> {
    out.push('[');
    for (index, element) in list.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write_member(context, out, &element, depth)?;
    }
    out.push(']');
    Ok(())
}

/// Writes the entries sorted by the text of their keys.
pub(super) fn write_map(
    context: &Context<'_>,
    out: &mut String,
    map: &Map<'_>,
    depth: usize,
) -> Result<(), FormatRefusal> {
    let mut written = Vec::with_capacity(map.len());
    for (key, value) in map.iter() {
        count(context, &key)?;
        let (key, mut text) = (key_text(&key)?, String::new());
        write_member(context, &mut text, &value, depth)?;
        context.work(text.len() as u64)?;
        written.push((key, text));
    }
    written.sort_by(|(one, _), (other, _)| one.cmp(other));
    out.push('{');
    for (index, (key, value)) in written.iter().enumerate() {
        let separator = if index > 0 { ", " } else { "" };
        let _ = write!(out, "{separator}{key}:{value}");
    }
    out.push('}');
    Ok(())
}

fn key_text(key: &Value<'_>) -> Result<String, ArgumentError> {
    match key {
        Value::String(text) => Ok(quote(text)),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Int(value) => Ok(value.to_string()),
        Value::Uint(value) => Ok(value.to_string()),
        _ => Err(ArgumentError::Key(key.type_name().into())),
    }
}

fn write_member(
    context: &Context<'_>,
    out: &mut String,
    member: &Value<'_>,
    depth: usize,
) -> Result<(), FormatRefusal> {
    if depth >= MAX_DEPTH {
        return Err(ArgumentError::TooDeep.into());
    }
    count(context, member)?;
    let text = match member {
        Value::String(text) => quote(text),
        Value::Bytes(bytes) => format!("b{}", quote(utf8(bytes)?)),
        Value::Double(value) if value.is_finite() => plain_form(*value, Some(PRECISION)),
        Value::Double(value) => format!("\"{}\"", plain_form(*value, None)),
        Value::Timestamp(value) => format!("timestamp({})", quote(&value.to_string())),
        Value::Duration(value) => format!("duration({})", quote(&value.to_string())),
        Value::Struct(_) | Value::Optional(_) | Value::Opaque(_) => {
            return Err(ArgumentError::Member(member.type_name().into()).into());
        }
        _ => return write_string(context, out, member, depth + 1),
    };
    out.push_str(&text);
    Ok(())
}
