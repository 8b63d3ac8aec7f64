//! Serialization to bytes: the JSON of a value's `Display`, for callers that write many values.

use pratique_gotext::strconv::json_form;

use crate::Value;

/// Appends a value as compact JSON.
pub fn write(value: &Value<'_>, to: &mut Vec<u8>) {
    match value {
        Value::Null | Value::NilArray => to.extend_from_slice(b"null"),
        Value::Bool(true) => to.extend_from_slice(b"true"),
        Value::Bool(false) => to.extend_from_slice(b"false"),
        Value::Int(number) => integer(*number, to),
        Value::Float(number) => to.extend_from_slice(json_form(*number).as_bytes()),
        Value::String(text) => write_text(text, to),
        Value::Array(elements) => {
            to.push(b'[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    to.push(b',');
                }
                write(element, to);
            }
            to.push(b']');
        }
        Value::Object(object) => {
            to.push(b'{');
            for (index, (key, value)) in object.iter().enumerate() {
                if index > 0 {
                    to.push(b',');
                }
                write_text(key, to);
                to.push(b':');
                write(value, to);
            }
            to.push(b'}');
        }
    }
}

fn integer(number: i64, to: &mut Vec<u8>) {
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

fn write_text(text: &str, to: &mut Vec<u8>) {
    to.reserve(text.len() + 2);
    to.push(b'"');
    if is_plain(text.as_bytes()) {
        to.extend_from_slice(text.as_bytes());
    } else {
        text.bytes().for_each(|byte| escape(byte, to));
    }
    to.push(b'"');
}

/// Whether no byte needs an escape, looked at eight at a time: nearly no text has one.
// Rows `serve-100` and `review-ndjson` of `benches/`, which write objects and answers.
#[inline]
fn is_plain(bytes: &[u8]) -> bool {
    let Some(last) = bytes.last_chunk::<8>() else {
        return !bytes.iter().any(|byte| is_escaped(*byte));
    };
    // The last eight may have been among the others.
    let (eights, _) = bytes.as_chunks::<8>();
    let marks = eights.iter().fold(marks(*last), |all, eight| all | marks(*eight));
    marks == 0
}

fn is_escaped(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// Not 0 where one of the bytes needs an escape.
#[inline]
fn marks(eight: [u8; 8]) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let bytes = u64::from_ne_bytes(eight);
    // A byte below a bound borrows the high bit, which it did not have.
    let below = |bytes: u64, bound: u8| bytes.wrapping_sub(ONES * u64::from(bound)) & !bytes & HIGH;
    let is = |byte: u8| below(bytes ^ (ONES * u64::from(byte)), 1);
    below(bytes, b' ') | is(b'"') | is(b'\\')
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
            let text = format!("\"{}\\n{}\"", "a".repeat(length), "b".repeat(70 - length));
            check(&text, &text);
        }
    }
}
