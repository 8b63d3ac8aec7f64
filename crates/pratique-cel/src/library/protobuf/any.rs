//! `google.protobuf.Any`: a message of another type, which is unpacked where that is one that holds a value.

use super::native;
use super::unpack::unpacked;
use super::wire::{MAX_DEPTH, WireField, fields};
use crate::context::Context;
use crate::error::Fault;
use crate::value::{Evaluation, Value};

pub(super) const ANY: &str = "google.protobuf.Any";

/// The value in an Any. The reference has none for an Any that it cannot unpack, and shows the message.
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
    unpacked(context, type_name(type_url), bytes, 0).ok_or_else(|| {
        let message_text = show_any(type_url, bytes, 0);
        Fault::error(format!(
            "unsupported conversion to ref.Val: (*dynamicpb.Message){message_text}"
        ))
    })
}

/// The name of a type by its URL.
pub(super) fn type_name(type_url: &str) -> &str {
    type_url.rsplit_once('/').map_or(type_url, |(_, name)| name)
}

/// The URL and the message of an Any within another one; `None` where it is none.
pub(super) fn parts(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (mut type_url, mut message) = ("", &[][..]);
    for (number, wire) in fields(bytes)? {
        match (number, wire) {
            (1, WireField::Bytes(text)) => type_url = std::str::from_utf8(text).ok()?,
            (2, WireField::Bytes(bytes)) => message = bytes,
            _ => {}
        }
    }
    Some((type_url, message))
}

/// The message in the text format of protocol buffers: an Any within it with its own fields, everything else in bytes.
fn show_any(type_url: &str, value: &[u8], depth: usize) -> String {
    let within = (type_name(type_url) == ANY && depth < MAX_DEPTH)
        .then(|| Some((parts(value)?, fields(value)?)))
        .flatten();
    let Some(((inner_url, inner), all)) = within else {
        return in_bytes(type_url, value);
    };
    let mut texts = vec![show_any(inner_url, inner, depth + 1)];
    texts.extend(all.into_iter().filter_map(unknown));
    texts.retain(|text| !text.is_empty());
    format!("[{type_url}]:{{{}}}", texts.join(" "))
}

fn in_bytes(type_url: &str, value: &[u8]) -> String {
    let fields = [("type_url", type_url.as_bytes()), ("value", value)];
    let fields = fields.into_iter().filter(|(_, bytes)| !bytes.is_empty());
    let fields: Vec<String> = fields
        .map(|(name, bytes)| format!("{name}:\"{}\"", escaped(bytes)))
        .collect();
    fields.join(" ")
}

/// A field that an Any does not have, by its number.
fn unknown((number, wire): (u64, WireField<'_>)) -> Option<String> {
    let value = match wire {
        WireField::Bytes(_) if number <= 2 => return None,
        WireField::Bytes(bytes) => format!("\"{}\"", escaped(bytes)),
        WireField::Varint(value) => value.to_string(),
        WireField::Fixed32(bytes) => format!("0x{:08x}", u32::from_le_bytes(bytes)),
        WireField::Fixed64(bytes) => format!("0x{:016x}", u64::from_le_bytes(bytes)),
        WireField::Group => "{}".to_owned(),
    };
    Some(format!("{number}:{value}"))
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
    use crate::Environment;
    use crate::arena::Arena;
    use crate::context::Context;
    use crate::ops::format_value;

    #[track_caller]
    fn check(fields: &str, expected: &str) {
        let environment = Environment::kubernetes();
        let program = environment
            .compile(&format!("google.protobuf.Any{{{fields}}}"))
            .unwrap();
        let arena = Arena::new();
        let context = Context::new(&arena, u64::MAX);
        let found = program.evaluate(&context, &environment.activation());
        let found = found.map_or_else(|fault| fault.to_string(), |value| format_value(&value));
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
        // A field that is written as another type's is none of the wrapper's.
        check(
            "type_url: 'a/google.protobuf.BoolValue', value: b'\\x0d\\x01\\x00\\x00\\x00'",
            "false",
        );
    }

    #[test]
    fn times_are_unpacked() {
        let of = |name: &str, value: &str| format!("type_url: 'a/google.protobuf.{name}', value: b'{value}'");
        check(&of("Duration", ""), "0s");
        check(&of("Duration", "\\x08\\x05\\x10\\x64"), "5.0000001s");
        check(&of("Timestamp", "\\x08\\x05"), "1970-01-01 00:00:05 +0000 UTC");
        check(
            &of(
                "Timestamp",
                "\\x08\\x05\\x10\\xf9\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x01",
            ),
            "1970-01-01 00:00:04.999999993 +0000 UTC",
        );
    }

    #[test]
    fn documents_are_unpacked() {
        let of = |name: &str, value: &str| format!("type_url: 'a/google.protobuf.{name}', value: b'{value}'");
        check(&of("Value", ""), "0");
        check(&of("Value", "\\x1a\\x02hi"), "hi");
        check(&of("Value", "\\x1a\\x02hi\\x20\\x01"), "true");
        // Two parts of one list.
        check(
            &of("Value", "\\x32\\x02\\x0a\\x00\\x32\\x04\\x0a\\x02\\x20\\x01"),
            "[0, true]",
        );
        check(
            &of("Struct", "\\x0a\\x07\\x0a\\x01k\\x12\\x02\\x20\\x01"),
            "{k: true}",
        );
    }

    #[test]
    fn messages_lie_in_each_other() {
        let string = "\\x0a\\x1bgoogle.protobuf.StringValue\\x12\\x03\\x0a\\x01x";
        check(
            &format!("type_url: 'google.protobuf.Any', value: b'{string}'"),
            "x",
        );
        const START: &str = "unsupported conversion to ref.Val: (*dynamicpb.Message)[google.protobuf.Any]:";
        check("type_url: 'google.protobuf.Any'", &format!("{START}{{}}"));
        check(
            "type_url: 'google.protobuf.Any', value: b'\\x0a\\x03foo\\x12\\x02\\x01\\xff'",
            &format!("{START}{{type_url:\"foo\" value:\"\\x01\\xff\"}}"),
        );
        check(
            "type_url: 'google.protobuf.Any', value: b'\\x08\\x01'",
            &format!("{START}{{1:1}}"),
        );
    }
}
