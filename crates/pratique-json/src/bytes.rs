//! Serialization to bytes: the JSON of a value's `Display`, for callers that write many values.

use pratique_gotext::strconv::json_form;

use crate::Value;
use crate::special_bytes::{find_special, has_special, mark_special};

/// For how much a list or an object makes room when its first byte is written.
const ROOM: usize = 512;

/// Appends a value as compact JSON.
pub fn write(value: &Value<'_>, to: &mut Vec<u8>) {
    if matches!(value, Value::Array(_) | Value::Object(_)) {
        to.reserve(ROOM);
    }
    write_value(value, to);
}

// Each append looks at the capacity: punctuation is appended together.
fn write_value(value: &Value<'_>, to: &mut Vec<u8>) {
    match value {
        Value::Null | Value::NilArray => to.extend_from_slice(b"null"),
        Value::Bool(true) => to.extend_from_slice(b"true"),
        Value::Bool(false) => to.extend_from_slice(b"false"),
        Value::Int(number) => write_integer(*number, to),
        Value::Float(number) => to.extend_from_slice(json_form(*number).as_bytes()),
        Value::String(text) => {
            to.push(b'"');
            write_content(text, to);
            to.push(b'"');
        }
        Value::Array(elements) => {
            to.push(b'[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    to.push(b',');
                }
                write_value(element, to);
            }
            to.push(b']');
        }
        Value::Object(object) if object.is_empty() => to.extend_from_slice(b"{}"),
        Value::Object(object) => {
            let mut opening = b"{\"";
            for (key, value) in object.iter() {
                to.extend_from_slice(opening);
                write_content(key, to);
                if let Value::String(text) = value {
                    to.extend_from_slice(b"\":\"");
                    write_content(text, to);
                    to.push(b'"');
                } else {
                    to.extend_from_slice(b"\":");
                    write_value(value, to);
                }
                opening = b",\"";
            }
            to.push(b'}');
        }
    }
}

fn write_integer(number: i64, to: &mut Vec<u8>) {
    if number < 0 {
        to.push(b'-');
    }
    let start = to.len();
    let mut left = number.unsigned_abs();
    loop {
        to.push(b'0' + (left % 10) as u8);
        left /= 10;
        if left == 0 {
            break;
        }
    }
    if let Some(digits) = to.get_mut(start..) {
        digits.reverse();
    }
}

/// Appends what stands between the quotes of a string. Nearly no text has anything to escape.
#[inline(always)]
fn write_content(text: &str, to: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let is_written = match bytes.len() {
        0 => true,
        1..4 => {
            bytes.iter().for_each(|byte| escape(*byte, to));
            true
        }
        4..8 => write_word(bytes, to),
        8..16 => write_plain::<8>(bytes, to),
        16..=32 => write_plain::<16>(bytes, to),
        _ => false,
    };
    if !is_written {
        write_any(bytes, to);
    }
}

/// Appends a text of four to eight bytes, unless it has special ones.
#[inline(always)]
fn write_word(bytes: &[u8], to: &mut Vec<u8>) -> bool {
    let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) else {
        return false;
    };
    let (first, last) = (
        u64::from(u32::from_le_bytes(*first)),
        u64::from(u32::from_le_bytes(*last)),
    );
    if mark_special((first | last << 32).to_le_bytes()) != 0 {
        return false;
    }
    let end = to.len() + bytes.len();
    let word = first | last << (8 * (bytes.len() - 4));
    to.extend_from_slice(&word.to_le_bytes());
    to.truncate(end);
    true
}

/// Appends a text of one to two times a length, unless it has special bytes: its first and its last ones, which overlap.
// Row `chain-pod` of `benches/`: the function that copies any length takes half as many instructions again.
#[inline]
fn write_plain<const LENGTH: usize>(bytes: &[u8], to: &mut Vec<u8>) -> bool {
    let (Some(first), Some(last)) = (bytes.first_chunk::<LENGTH>(), bytes.last_chunk::<LENGTH>()) else {
        return false;
    };
    if has_special(first, last) {
        return false;
    }
    let end = to.len() + bytes.len();
    to.extend_from_slice(first);
    to.truncate(end - LENGTH);
    to.extend_from_slice(last);
    true
}

/// Appends a text of any length, and escapes what is special.
#[inline(never)]
fn write_any(bytes: &[u8], to: &mut Vec<u8>) {
    match find_special(bytes, 0) {
        None => to.extend_from_slice(bytes),
        Some(_) => bytes.iter().for_each(|byte| escape(*byte, to)),
    }
}

fn escape(byte: u8, to: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let letter = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        8 => b'b',
        12 => b'f',
        control if control < b' ' => {
            let digit = |of: u8| DIGITS.get(usize::from(of)).copied().unwrap_or(b'0');
            to.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(control >> 4), digit(control & 15)]);
            return;
        }
        other => return to.push(other),
    };
    to.extend_from_slice(&[b'\\', letter]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let value = parse(json.as_bytes()).unwrap();
        let mut written = b"x".to_vec();
        write(&value, &mut written);
        assert_eq!(String::from_utf8(written).unwrap(), format!("x{expected}"));
        assert_eq!(value.to_string(), expected);
    }

    #[test]
    fn bytes_are_what_is_shown() {
        let plain = r#"{"a":[null,true,false,0,-1,10,9223372036854775807,-9223372036854775808],"b":{}}"#;
        check(plain, plain);
        check(
            r#"[1.5,1e300,-0.0,1e21,[],{"é":"日"}]"#,
            r#"[1.5,1e+300,-0,1e+21,[],{"é":"日"}]"#,
        );
        check(
            r#""\"\\\/\b\f\n\r\t\u0000\u001f\u007f<é😀""#,
            "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\u{7f}<é😀\"",
        );
        for length in 0..70 {
            let text = format!("\"{}\"", "é".repeat(length));
            check(&text, &text);
            for at in 0..length {
                for special in ["\\n", "\\\"", "\\\\", "\\u001f", "!", "\u{7f}"] {
                    let text = format!("\"{}{special}{}\"", "a".repeat(at), "b".repeat(length - at - 1));
                    check(&text, &text);
                }
            }
        }
    }
}
