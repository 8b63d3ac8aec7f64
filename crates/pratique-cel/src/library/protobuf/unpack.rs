//! Messages of well-known types as values.

use std::borrow::Cow;

use super::any;
use super::well_known::{self, DURATION, TIMESTAMP, duration};
use super::wire::{MAX_DEPTH, WireField, fields};
use crate::context::Context;
use crate::time::Timestamp;
use crate::value::{List, Map, Value};

/// The value of a message of a well-known type; `None` where it is none, or where there is no such type. Fields that a
/// type does not have are passed over, and so are those that are written as none of its fields is.
pub(super) fn unpacked<'a>(
    context: &Context<'a>,
    name: &str,
    bytes: &[u8],
    depth: usize,
) -> Option<Value<'a>> {
    if depth > MAX_DEPTH {
        return None;
    }
    match name {
        any::ANY => {
            let (type_url, bytes) = any::parts(bytes)?;
            unpacked(context, any::type_name(type_url), bytes, depth + 1)
        }
        DURATION => {
            let (seconds, nanos) = time(bytes)?;
            Some(duration(seconds, nanos))
        }
        TIMESTAMP => {
            let (seconds, nanos) = time(bytes)?;
            Some(Value::Timestamp(Timestamp::of_message(seconds, nanos)))
        }
        "google.protobuf.Value" => json(context, bytes, depth),
        "google.protobuf.ListValue" => list(context, bytes, depth),
        "google.protobuf.Struct" => structure(context, bytes, depth),
        _ => wrapper(context, name, bytes),
    }
}

fn wrapper<'a>(context: &Context<'a>, name: &str, bytes: &[u8]) -> Option<Value<'a>> {
    let (_, mut value) = well_known::wrapper(name)?;
    let is_narrow = name.ends_with("Int32Value");
    let is_float = name.ends_with("FloatValue");
    for (number, wire) in fields(bytes)? {
        if number != 1 {
            continue;
        }
        value = match (wire, value) {
            (WireField::Varint(number), Value::Bool(_)) => Value::Bool(number != 0),
            (WireField::Varint(number), Value::Int(_)) if is_narrow => Value::Int(i64::from(number as i32)),
            (WireField::Varint(number), Value::Int(_)) => Value::Int(number.cast_signed()),
            (WireField::Varint(number), Value::Uint(_)) if is_narrow => Value::Uint(u64::from(number as u32)),
            (WireField::Varint(number), Value::Uint(_)) => Value::Uint(number),
            (WireField::Fixed64(bytes), Value::Double(_)) if !is_float => {
                Value::Double(f64::from_le_bytes(bytes))
            }
            (WireField::Fixed32(bytes), Value::Double(_)) if is_float => {
                Value::Double(f32::from_le_bytes(bytes).into())
            }
            (WireField::Bytes(bytes), Value::String(_)) => unpack_text(context, bytes)?,
            (WireField::Bytes(bytes), Value::Bytes(_)) => Value::Bytes(context.arena.slice(bytes)),
            (_, value) => value,
        };
    }
    Some(value)
}

/// The seconds and nanoseconds of a time or a duration.
fn time(bytes: &[u8]) -> Option<(i64, i64)> {
    let (mut seconds, mut nanos) = (0, 0);
    for (number, wire) in fields(bytes)? {
        match (number, wire) {
            (1, WireField::Varint(number)) => seconds = number.cast_signed(),
            (2, WireField::Varint(number)) => nanos = i64::from(number as i32),
            _ => {}
        }
    }
    Some((seconds, nanos))
}

/// A `google.protobuf.Value`: of its fields the last one counts. Messages in the same field are one in several parts.
fn json<'a>(context: &Context<'a>, bytes: &[u8], depth: usize) -> Option<Value<'a>> {
    if depth > MAX_DEPTH {
        return None;
    }
    let message = |field: u64, bytes: &[u8]| match field {
        5 => structure(context, bytes, depth + 1),
        _ => list(context, bytes, depth + 1),
    };
    let mut value = Value::Null;
    let mut parts: Option<(u64, Cow<'_, [u8]>)> = None;
    for (field, wire) in fields(bytes)? {
        let scalar = match (field, wire) {
            (1, WireField::Varint(_)) => Value::Null,
            (2, WireField::Fixed64(bytes)) => Value::Double(f64::from_le_bytes(bytes)),
            (3, WireField::Bytes(bytes)) => unpack_text(context, bytes)?,
            (4, WireField::Varint(number)) => Value::Bool(number != 0),
            (5 | 6, WireField::Bytes(bytes)) => {
                match &mut parts {
                    Some((last, whole)) if *last == field => whole.to_mut().extend_from_slice(bytes),
                    parts => {
                        if let Some((last, whole)) = parts.replace((field, bytes.into())) {
                            message(last, &whole)?;
                        }
                    }
                }
                continue;
            }
            _ => continue,
        };
        value = scalar;
        if let Some((last, whole)) = parts.take() {
            message(last, &whole)?;
        }
    }
    match parts {
        Some((field, whole)) => message(field, &whole),
        None => Some(value),
    }
}

fn list<'a>(context: &Context<'a>, bytes: &[u8], depth: usize) -> Option<Value<'a>> {
    let mut elements = Vec::new();
    for (number, wire) in fields(bytes)? {
        if let (1, WireField::Bytes(element)) = (number, wire) {
            elements.push(json(context, element, depth + 1)?);
        }
    }
    Some(Value::List(List::Values(context.arena.slice(&elements))))
}

/// A `google.protobuf.Struct`: of members of the same name the last one counts.
fn structure<'a>(context: &Context<'a>, bytes: &[u8], depth: usize) -> Option<Value<'a>> {
    let mut members = std::collections::BTreeMap::new();
    for (number, wire) in fields(bytes)? {
        let (1, WireField::Bytes(member)) = (number, wire) else {
            continue;
        };
        let (mut name, mut value) = ("", Cow::Borrowed(&[][..]));
        for (number, wire) in fields(member)? {
            match (number, wire) {
                (1, WireField::Bytes(text)) => name = std::str::from_utf8(text).ok()?,
                (2, WireField::Bytes(part)) if value.is_empty() => value = part.into(),
                (2, WireField::Bytes(part)) => value.to_mut().extend_from_slice(part),
                _ => {}
            }
        }
        members.insert(name, json(context, &value, depth + 1)?);
    }
    let entries = members.into_iter();
    let entries: Vec<_> = entries
        .map(|(name, value)| (Value::String(context.arena.str(name)), value))
        .collect();
    Some(Value::Map(Map::Entries(context.arena.slice(&entries))))
}

fn unpack_text<'a>(context: &Context<'a>, bytes: &[u8]) -> Option<Value<'a>> {
    let text = std::str::from_utf8(bytes).ok()?;
    Some(Value::String(context.arena.str(text)))
}
