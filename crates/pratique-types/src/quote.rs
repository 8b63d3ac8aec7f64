//! Texts in double quotes, as the messages of an API server show them.

use std::fmt::Write as _;

/// A text as Go's `%q` and `strconv.Quote` write it.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            '\r' => quoted.push_str("\\r"),
            other if other.is_ascii_control() => escape(&mut quoted, 'x', 2, other),
            other if is_hidden(other) && other <= '\u{ffff}' => escape(&mut quoted, 'u', 4, other),
            other if is_hidden(other) => escape(&mut quoted, 'U', 8, other),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// A text as Go's clock library quotes it: all but plain ASCII by its bytes.
pub fn quote_bytes(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            b' '..0x80 => quoted.push(char::from(byte)),
            _ => escape(&mut quoted, 'x', 2, char::from(byte)),
        }
    }
    quoted.push('"');
    quoted
}

fn escape(text: &mut String, letter: char, digits: usize, character: char) {
    // Writing to a string cannot fail.
    let _ = write!(text, "\\{letter}{:0digits$x}", u32::from(character));
}

/// Whether Go escapes a character beyond ASCII. So does the standard library, except that it escapes combining marks too
/// where they come first.
fn is_hidden(character: char) -> bool {
    !character.is_ascii() && ['a', character].iter().collect::<String>().escape_debug().count() > 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_texts() {
        let check = |text: &str, expected: &str| assert_eq!(quote(text), expected, "{text:?}");
        check("a\"b\\c'", r#""a\"b\\c'""#);
        check("\0\u{7f}\t\n", r#""\x00\x7f\t\n""#);
        check("é日\u{301}", "\"é日\u{301}\"");
        check("\u{200b}\u{e0001}", r#""\u200b\U000e0001""#);
    }

    #[test]
    fn quoted_bytes() {
        assert_eq!(
            quote_bytes("a\"\\\té\u{7f}"),
            "\"a\\\"\\\\\\x09\\xc3\\xa9\u{7f}\""
        );
    }
}
