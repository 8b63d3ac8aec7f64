//! Quoting: Go's `strconv.Quote`, and CEL's `strings.quote`.

use std::fmt::Write;

use super::printable::is_printable;

/// A string in double quotes with Go's escapes, as `%q` prints it.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        push_escaped(&mut quoted, character);
    }
    quoted.push('"');
    quoted
}

/// Bytes in double quotes as `%q` prints a string of them: what is not UTF-8 becomes `\x` and two digits.
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

/// A string in double quotes with the escapes that CEL's `strings.quote` knows.
pub fn quote_cel(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match short_escape(character) {
            Some(letter) => quoted.extend(['\\', letter]),
            None => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
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

/// The letter after the backslash, for characters with an escape of their own.
fn short_escape(character: char) -> Option<char> {
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

fn push_formatted(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_quotes() {
        let check = |input: &str, expected: &str| assert_eq!(quote(input), expected);
        check("", r#""""#);
        check("a\"b\\c", r#""a\"b\\c""#);
        check("\u{7}\u{8}\u{c}\n\r\t\u{b}", r#""\a\b\f\n\r\t\v""#);
        check("\u{0}\u{1f}\u{7f}\u{80}", r#""\x00\x1f\x7f\u0080""#);
        check("é世\u{200b}\u{feff}", r#""é世\u200b\ufeff""#);
        check("\u{e0001}\u{fffd}😀", r#""\U000e0001�😀""#);
    }

    #[test]
    fn go_quotes_of_bytes() {
        assert_eq!(quote_bytes(b"a\xff\xe4\xb8\xe4\xb8\x96"), r#""a\xff\xe4\xb8世""#);
    }

    #[test]
    fn cel_quotes() {
        assert_eq!(
            quote_cel("a\t\"\\\u{1}\u{200b}é"),
            "\"a\\t\\\"\\\\\u{1}\u{200b}é\""
        );
    }
}
