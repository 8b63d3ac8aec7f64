//! Strings and numbers of JSON, and the words for bytes that do not belong.

use pratique_gotext::strconv::quote_rune;
use pratique_gotext::utf8::lossy;

use super::SyntaxError;
use super::newer_text;

/// A byte that does not belong where it stands, or the end of the text.
pub(super) fn unexpected(bytes: &[u8], at: usize, context: &str) -> SyntaxError {
    let message = match bytes.get(at) {
        Some(byte) => format!("invalid character {} {context}", quoted_byte(*byte)),
        // The server sees a space at the end, which a number, a word or an escape cannot have.
        None if ["numeric literal", "in literal", "escape"]
            .iter()
            .any(|part| context.contains(part)) =>
        {
            format!("invalid character ' ' {context}")
        }
        None => "unexpected end of JSON input".to_owned(),
    };
    SyntaxError {
        newer_message: Some(newer_text::unexpected(
            bytes.get(at..).unwrap_or_default(),
            context,
        )),
        message,
        offset: at,
    }
}

/// A byte in single quotes.
pub(super) fn quoted_byte(byte: u8) -> String {
    quote_rune(char::from(byte))
}

/// Reads a string from its opening quote past its closing one.
pub(super) fn string(bytes: &[u8], at: &mut usize) -> Result<String, SyntaxError> {
    let mut decoded = Vec::new();
    *at += 1;
    loop {
        match bytes.get(*at).copied() {
            Some(b'"') => {
                *at += 1;
                return Ok(lossy(&decoded).into_owned());
            }
            Some(b'\\') => {
                let c = escape(bytes, at)?;
                decoded.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Some(byte) if byte >= b' ' => {
                decoded.push(byte);
                *at += 1;
            }
            _ => return Err(unexpected(bytes, *at, "in string literal")),
        }
    }
}

/// Reads an escape; half a surrogate pair is the replacement character.
fn escape(bytes: &[u8], at: &mut usize) -> Result<char, SyntaxError> {
    let c = match bytes.get(*at + 1).copied() {
        Some(b'u') => return unicode(bytes, at),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
        _ => return Err(invalid_escape(bytes, *at, *at + 1, "in string escape code")),
    };
    *at += 2;
    Ok(c)
}

fn unicode(bytes: &[u8], at: &mut usize) -> Result<char, SyntaxError> {
    let high = hex4(bytes, *at)?;
    *at += 6;
    if (0xD800..0xDC00).contains(&high) && bytes.get(*at..*at + 2) == Some(b"\\u") {
        let low = hex4(bytes, *at)?;
        if (0xDC00..0xE000).contains(&low) {
            *at += 6;
            let joined = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
    }
    Ok(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER))
}

/// The four digits of the escape that begins somewhere.
fn hex4(bytes: &[u8], start: usize) -> Result<u32, SyntaxError> {
    (start + 2..start + 6).try_fold(0, |value, at| {
        let digit = bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        let digit =
            digit.ok_or_else(|| invalid_escape(bytes, start, at, "in \\u hexadecimal character escape"))?;
        Ok((value << 4) | digit)
    })
}

/// A byte that does not belong in the escape that begins at `start`.
fn invalid_escape(bytes: &[u8], start: usize, at: usize, context: &str) -> SyntaxError {
    SyntaxError {
        newer_message: Some(newer_text::invalid_escape(bytes.get(start..).unwrap_or_default())),
        ..unexpected(bytes, at, context)
    }
}

/// Reads a number and keeps it as it is written.
pub(super) fn number(bytes: &[u8], at: &mut usize) -> Result<String, SyntaxError> {
    let start = *at;
    if bytes.get(*at) == Some(&b'-') {
        *at += 1;
    }
    match bytes.get(*at) {
        Some(b'0') => *at += 1,
        Some(b'1'..=b'9') => skip_digits(bytes, at),
        _ => return Err(unexpected(bytes, *at, "in numeric literal")),
    }
    if bytes.get(*at) == Some(&b'.') {
        *at += 1;
        need_digit(bytes, *at, "after decimal point in numeric literal")?;
        skip_digits(bytes, at);
    }
    if matches!(bytes.get(*at), Some(b'e' | b'E')) {
        *at += 1;
        if matches!(bytes.get(*at), Some(b'+' | b'-')) {
            *at += 1;
        }
        need_digit(bytes, *at, "in exponent of numeric literal")?;
        skip_digits(bytes, at);
    }
    Ok(String::from_utf8_lossy(bytes.get(start..*at).unwrap_or_default()).into_owned())
}

fn need_digit(bytes: &[u8], at: usize, context: &str) -> Result<(), SyntaxError> {
    let is_digit = bytes.get(at).is_some_and(u8::is_ascii_digit);
    if is_digit {
        Ok(())
    } else {
        Err(unexpected(bytes, at, context))
    }
}

fn skip_digits(bytes: &[u8], at: &mut usize) {
    while bytes.get(*at).is_some_and(u8::is_ascii_digit) {
        *at += 1;
    }
}
