//! `google.protobuf.Any`: a message of another type, which is unpacked where that is one that holds a value.

use super::native;
use crate::context::Context;
use crate::error::Fault;
use crate::value::{Evaluation, List, Map, Value};

const ANY: &str = "google.protobuf.Any";

/// What an Any holds. The reference has no value for one that it cannot unpack, and shows the message.
pub(super) fn construct<'a>(
    context: &Context<'a>,
    type_url: Option<Value<'a>>,
    value: Option<Value<'a>>,
) -> Evaluation<'a> {
    let type_url = match type_url {
        Some(text) => native::scalar((ANY, "type_url"), "string", &text)?,
        None => Value::String(""),
    };
    let value = match value {
        Some(bytes) => native::scalar((ANY, "value"), "[]uint8", &bytes)?,
        None => Value::Bytes(&[]),
    };
    let (Value::String(type_url), Value::Bytes(bytes)) = (type_url, value) else {
        return Err(Fault::no_such_overload());
    };
    let name = type_url.rsplit_once('/').map_or(type_url, |(_, name)| name);
    unpacked(context, name, bytes).ok_or_else(|| {
        let shown = shown(type_url, bytes);
        Fault::error(format!(
            "unsupported conversion to ref.Val: (*dynamicpb.Message){shown}"
        ))
    })
}

/// The value of a message of a well-known type.
fn unpacked<'a>(context: &Context<'a>, name: &str, bytes: &[u8]) -> Option<Value<'a>> {
    match name {
        "google.protobuf.Struct" if bytes.is_empty() => return Some(Value::Map(Map::Entries(&[]))),
        "google.protobuf.ListValue" if bytes.is_empty() => return Some(Value::List(List::Values(&[]))),
        _ => {}
    }
    let default = super::default(name)?;
    let mut value = default;
    let mut rest = bytes;
    while !rest.is_empty() {
        let (tag, after) = varint(rest)?;
        let (read, after) = Wire::read(tag & 7, after)?;
        rest = after;
        // Fields that a wrapper does not have are passed over.
        if tag >> 3 == 1 {
            value = read.value(context, name, &default)?;
        }
    }
    Some(value)
}

/// A field of a message as it is written.
enum Wire<'b> {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(&'b [u8]),
    Fixed32([u8; 4]),
}

impl<'b> Wire<'b> {
    fn read(kind: u64, bytes: &'b [u8]) -> Option<(Self, &'b [u8])> {
        Some(match kind {
            0 => varint(bytes).map(|(number, rest)| (Wire::Varint(number), rest))?,
            1 => bytes
                .split_first_chunk()
                .map(|(fixed, rest)| (Wire::Fixed64(*fixed), rest))?,
            2 => {
                let (length, rest) = varint(bytes)?;
                let (text, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                (Wire::Bytes(text), rest)
            }
            5 => bytes
                .split_first_chunk()
                .map(|(fixed, rest)| (Wire::Fixed32(*fixed), rest))?,
            _ => return None,
        })
    }

    /// As a wrapper holds it that by default holds another.
    fn value<'a>(&self, context: &Context<'a>, name: &str, default: &Value<'a>) -> Option<Value<'a>> {
        let is_narrow = name.ends_with("Int32Value");
        Some(match (self, default) {
            (Wire::Varint(number), Value::Bool(_)) => Value::Bool(*number != 0),
            (Wire::Varint(number), Value::Int(_)) if is_narrow => Value::Int(i64::from(*number as i32)),
            (Wire::Varint(number), Value::Int(_)) => Value::Int(number.cast_signed()),
            (Wire::Varint(number), Value::Uint(_)) if is_narrow => Value::Uint(u64::from(*number as u32)),
            (Wire::Varint(number), Value::Uint(_)) => Value::Uint(*number),
            (Wire::Fixed64(bytes), Value::Double(_)) => Value::Double(f64::from_le_bytes(*bytes)),
            (Wire::Fixed32(bytes), Value::Double(_)) => Value::Double(f32::from_le_bytes(*bytes).into()),
            (Wire::Bytes(bytes), Value::String(_)) => {
                Value::String(context.arena.str(std::str::from_utf8(bytes).ok()?))
            }
            (Wire::Bytes(bytes), Value::Bytes(_)) => Value::Bytes(context.arena.slice(bytes)),
            _ => return None,
        })
    }
}

/// A number of up to ten bytes, the lowest first.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        number |= u64::from(byte & 0x7F) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, bytes.get(at + 1..)?));
        }
    }
    None
}

/// The message in the text format of protocol buffers.
fn shown(type_url: &str, value: &[u8]) -> String {
    let fields = [("type_url", type_url.as_bytes()), ("value", value)];
    let fields = fields.into_iter().filter(|(_, bytes)| !bytes.is_empty());
    let fields: Vec<String> = fields
        .map(|(name, bytes)| format!("{name}:\"{}\"", escaped(bytes)))
        .collect();
    fields.join(" ")
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                '"' | '\\' => text.extend(['\\', letter]),
                ' '..='~' => text.push(letter),
                letter if letter.is_ascii() => text.push_str(&format!("\\x{:02x}", u32::from(letter))),
                letter => text.push(letter),
            }
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::arena::Arena;
    use crate::context::Context;
    use crate::library;
    use crate::ops::shown;

    #[track_caller]
    fn check(fields: &str, expected: &str) {
        let environment = library::kubernetes();
        let program = environment
            .compile(&format!("google.protobuf.Any{{{fields}}}"))
            .unwrap();
        let arena = Arena::new();
        let context = Context::new(&arena, u64::MAX);
        let found = program.evaluate(&context, &environment.activation());
        let found = found.map_or_else(|fault| fault.to_string(), |value| shown(&value));
        assert_eq!(found, expected, "{fields}");
    }

    #[test]
    fn messages_without_a_value_are_shown() {
        const START: &str = "unsupported conversion to ref.Val: (*dynamicpb.Message)";
        check("", START);
        check("type_url: ''", START);
        check("type_url: 'x'", &format!("{START}type_url:\"x\""));
        check(
            "type_url: 'foo/bar', value: b'a\\xff\\n'",
            &format!("{START}type_url:\"foo/bar\" value:\"a\\xff\\n\""),
        );
        check(
            "type_url: 'type.googleapis.com/google.protobuf.StringValue', value: b'\\xff'",
            &format!("{START}type_url:\"type.googleapis.com/google.protobuf.StringValue\" value:\"\\xff\""),
        );
    }

    #[test]
    fn wrappers_are_unpacked() {
        check(
            "type_url: 'google.protobuf.BoolValue', value: b'\\x08\\x01'",
            "true",
        );
        check("type_url: 'a/google.protobuf.BoolValue'", "false");
        check(
            "type_url: 'a/google.protobuf.Int64Value', value: b'\\x08\\xac\\x02'",
            "300",
        );
        check(
            "type_url: 'a/google.protobuf.StringValue', value: b'\\n\\x01a'",
            "a",
        );
        check("type_url: 'a/google.protobuf.Struct'", "{}");
    }
}
