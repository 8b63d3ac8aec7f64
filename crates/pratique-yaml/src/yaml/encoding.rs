//! From bytes to characters: UTF-8, or UTF-16 with a byte order mark, without control characters.

use super::Text;

/// Bytes or characters that a document must not have.
#[derive(Debug, PartialEq, Eq)]
pub struct EncodingError {
    /// The server's words.
    pub message: &'static str,
    /// The byte offset in the decoded text.
    pub offset: usize,
    /// How much of the text the server decodes before it comes to this.
    pub readable: usize,
}

/// The server decodes so many bytes at a time.
const CHUNK: usize = 512;

pub(super) fn decode(bytes: Vec<u8>) -> Text {
    let (text, mark_len, undecodable) = match bytes.as_slice() {
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest.to_vec(), 3),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => utf8(bytes, 0),
    };
    let error = [undecodable, control_character(&text)]
        .into_iter()
        .flatten()
        .min_by_key(|error| error.offset);
    let error = error.map(|error| EncodingError {
        message: error.message,
        offset: error.offset,
        readable: if error.message.starts_with("incomplete") {
            // The server reads on for more of the text, and so uses all before it.
            error.offset
        } else {
            readable(&text, error.offset, mark_len)
        },
    });
    Text {
        text,
        mark_len,
        error,
    }
}

/// An error and its byte offset in the decoded text.
struct DecodeError {
    message: &'static str,
    offset: usize,
}

fn control_character(text: &str) -> Option<DecodeError> {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r');
    let plain = text.bytes().position(|byte| !is_plain(byte))?;
    let rest = text.get(plain..).unwrap_or_default();
    let (at, _) = rest.char_indices().find(|(_, c)| !is_allowed(*c))?;
    Some(DecodeError {
        message: "control characters are not allowed",
        offset: plain + at,
    })
}

/// The offset at which the chunk begins that a error is in.
fn readable(text: &str, offset: usize, mark_len: usize) -> usize {
    let preceding_text = text.get(..offset).unwrap_or_default();
    let width = |c: char| {
        if mark_len == 2 {
            2 * c.len_utf16()
        } else {
            c.len_utf8()
        }
    };
    let bytes = mark_len + preceding_text.chars().map(width).sum::<usize>();
    let mut left = bytes / CHUNK * CHUNK;
    left = left.saturating_sub(mark_len);
    let mut end = 0;
    for c in preceding_text.chars() {
        if left < width(c) {
            break;
        }
        left -= width(c);
        end += c.len_utf8();
    }
    end
}

fn is_allowed(c: char) -> bool {
    matches!(
        c,
        '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..
    )
}

fn utf8(bytes: Vec<u8>, mark_len: usize) -> (String, usize, Option<DecodeError>) {
    match String::from_utf8(bytes) {
        Ok(text) => (text, mark_len, None),
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let bytes = error.as_bytes();
            let message = utf8_error(bytes.get(offset..).unwrap_or_default());
            (
                String::from_utf8_lossy(bytes).into_owned(),
                mark_len,
                Some(DecodeError { message, offset }),
            )
        }
    }
}

/// The error of bytes that do not start with a character in UTF-8.
fn utf8_error(bytes: &[u8]) -> &'static str {
    let lead = bytes.first().copied().unwrap_or_default();
    let (width, mut value, least) = match lead {
        0xC0..=0xDF => (2, u32::from(lead & 0x1F), 0x80),
        0xE0..=0xEF => (3, u32::from(lead & 0x0F), 0x800),
        0xF0..=0xF7 => (4, u32::from(lead & 0x07), 0x10000),
        _ => return "invalid leading UTF-8 octet",
    };
    let Some(trail) = bytes.get(1..width) else {
        return "incomplete UTF-8 octet sequence";
    };
    for octet in trail {
        if octet & 0xC0 != 0x80 {
            return "invalid trailing UTF-8 octet";
        }
        value = (value << 6) | u32::from(octet & 0x3F);
    }
    if value < least {
        "invalid length of a UTF-8 sequence"
    } else {
        "invalid Unicode character"
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> (String, usize, Option<DecodeError>) {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    let mut text = String::with_capacity(units.len());
    let mut error = None;
    for decoded in char::decode_utf16(units.iter().copied()) {
        match decoded {
            Ok(c) => text.push(c),
            Err(surrogate) => {
                let message = match surrogate.unpaired_surrogate() {
                    0xDC00.. => "unexpected low surrogate area",
                    _ if text.chars().count() + 1 == units.len() => "incomplete UTF-16 surrogate pair",
                    _ => "expected low surrogate area",
                };
                error.get_or_insert(DecodeError {
                    message,
                    offset: text.len(),
                });
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }
    if !odd.is_empty() && error.is_none() {
        error = Some(DecodeError {
            message: "incomplete UTF-16 character",
            offset: text.len(),
        });
    }
    (text, 2, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], text: &str, error: Option<(&str, usize)>) {
        let decoded = decode(bytes.to_vec());
        assert_eq!(decoded.error.map(|error| (error.message, error.offset)), error);
        if error.is_none() {
            assert_eq!(decoded.text, text);
        }
    }

    #[test]
    fn encodings_are_told_by_their_marks() {
        check("é: 1".as_bytes(), "é: 1", None);
        check(b"\xEF\xBB\xBFa", "a", None);
        check(b"\xFF\xFEa\0\n\0", "a\n", None);
        check(b"\xFE\xFF\0a\xD8\x3D\xDE\0", "a\u{1F600}", None);
    }

    #[test]
    fn faults_are_named() {
        check(b"a\xFF", "", Some(("invalid leading UTF-8 octet", 1)));
        check(b"a\xC3(", "", Some(("invalid trailing UTF-8 octet", 1)));
        check(b"\xE2\x80", "", Some(("incomplete UTF-8 octet sequence", 0)));
        check(b"\xC0\x80", "", Some(("invalid length of a UTF-8 sequence", 0)));
        check(b"\xED\xA0\x80", "", Some(("invalid Unicode character", 0)));
        check(b"a\x07", "", Some(("control characters are not allowed", 1)));
        check(b"\xFE\xFF\0", "", Some(("incomplete UTF-16 character", 0)));
    }
}
