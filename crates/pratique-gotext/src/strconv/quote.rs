//! Texts in quotes.

use std::fmt::Write;

use super::printable::is_printable;

/// A text in double quotes with Go's escapes, as `%q` prints it.
///
/// ```
/// use pratique_gotext::strconv::quote;
///
/// assert_eq!(quote("a \"name\"\n"), r#""a \"name\"\n""#);
/// assert_eq!(quote("é\u{200b}"), r#""é\u200b""#);
/// ```
// Upstream: strconv/quote.go, Quote
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        push_escaped(&mut quoted, character);
    }
    quoted.push('"');
    quoted
}

/// Bytes in double quotes as `%q` prints a string of them: bytes that are not UTF-8 become `\x` and two digits.
///
/// ```
/// assert_eq!(pratique_gotext::strconv::quote_bytes(b"a\xff"), r#""a\xff""#);
/// ```
// Upstream: strconv/quote.go, Quote
pub fn quote_bytes(bytes: &[u8]) -> String {
    let mut quoted = String::with_capacity(bytes.len() + 2);
    quoted.push('"');
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            push_escaped(&mut quoted, character);
        }
        for byte in chunk.invalid() {
            push_formatted(&mut quoted, format_args!("\\x{byte:02x}"));
        }
    }
    quoted.push('"');
    quoted
}

/// A character in single quotes, as `%q` prints a rune.
///
/// ```
/// use pratique_gotext::strconv::quote_rune;
///
/// assert_eq!(quote_rune('\''), r"'\''");
/// assert_eq!(quote_rune('"'), "'\"'");
/// assert_eq!(quote_rune('\t'), r"'\t'");
/// ```
// Upstream: strconv/quote.go, QuoteRune
pub fn quote_rune(character: char) -> String {
    let mut quoted = String::from("'");
    match character {
        '\'' => quoted.push_str(r"\'"),
        '"' => quoted.push('"'),
        other => push_escaped(&mut quoted, other),
    }
    quoted.push('\'');
    quoted
}

/// The letter after the backslash, for characters that have a short escape between double quotes.
///
/// ```
/// assert_eq!(pratique_gotext::strconv::short_escape('\n'), Some('n'));
/// assert_eq!(pratique_gotext::strconv::short_escape('\0'), None);
/// ```
// Upstream: strconv/quote.go, appendEscapedRune
pub fn short_escape(character: char) -> Option<char> {
    Some(match character {
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\u{b}' => 'v',
        '\\' => '\\',
        '"' => '"',
        _ => return None,
    })
}

fn push_escaped(quoted: &mut String, character: char) {
    if let Some(letter) = short_escape(character) {
        quoted.extend(['\\', letter]);
    } else if is_printable(character) {
        quoted.push(character);
    } else {
        let code = u32::from(character);
        match code {
            0..0x20 | 0x7f => push_formatted(quoted, format_args!("\\x{code:02x}")),
            0..0x1_0000 => push_formatted(quoted, format_args!("\\u{code:04x}")),
            _ => push_formatted(quoted, format_args!("\\U{code:08x}")),
        }
    }
}

fn push_formatted(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(quote(text), expected);
        assert_eq!(quote_bytes(text.as_bytes()), expected);
    }

    #[test]
    fn escapes() {
        check("", r#""""#);
        check("plain ~'", r#""plain ~'""#);
        check("a\"b\\c", r#""a\"b\\c""#);
        check("\u{7}\u{8}\u{c}\n\r\t\u{b}", r#""\a\b\f\n\r\t\v""#);
        check("\u{0}\u{1f}\u{7f}\u{80}", r#""\x00\x1f\x7f\u0080""#);
    }

    #[test]
    fn unicode() {
        check("é世\u{301}😀\u{fffd}", "\"é世\u{301}😀\u{fffd}\"");
        check("\u{a0}\u{ad}\u{200b}\u{feff}", r#""\u00a0\u00ad\u200b\ufeff""#);
        check("\u{e0001}\u{10ffff}", r#""\U000e0001\U0010ffff""#);
        // Go's tables are those of Unicode 15: letters that came later are shown by their number.
        check("\u{1c89}\u{2ffc}\u{10d40}", r#""\u1c89\u2ffc\U00010d40""#);
    }

    #[test]
    fn bytes_that_are_no_text() {
        assert_eq!(quote_bytes(b"a\xff\xe2\x82b"), r#""a\xff\xe2\x82b""#);
        assert_eq!(quote_bytes(b"a\xff\xe4\xb8\xe4\xb8\x96"), r#""a\xff\xe4\xb8世""#);
    }

    #[test]
    fn runes() {
        for (character, expected) in [
            ('a', "'a'"),
            ('\\', r"'\\'"),
            ('"', "'\"'"),
            ('\'', r"'\''"),
            ('\u{200b}', r"'\u200b'"),
        ] {
            assert_eq!(quote_rune(character), expected);
        }
    }
}
