//! Quoting user input in messages, as the server does.

/// A string in double quotes, with what cannot be printed escaped.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        push_escaped(&mut quoted, c, '"');
    }
    quoted.push('"');
    quoted
}

/// A single character in single quotes, as a JSON syntax error shows a byte.
pub(crate) fn quote_byte(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        _ => {
            let mut quoted = String::from("'");
            push_escaped(&mut quoted, char::from(byte), '\'');
            quoted.push('\'');
            quoted
        }
    }
}

fn push_escaped(out: &mut String, c: char, quote: char) {
    match c {
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        '\\' => out.push_str("\\\\"),
        _ if c == quote => {
            out.push('\\');
            out.push(c);
        }
        _ if is_printable(c) => out.push(c),
        _ => out.push_str(&match u32::from(c) {
            code @ 0..0x80 => format!("\\x{code:02x}"),
            code @ 0x80..0x10000 => format!("\\u{code:04x}"),
            code => format!("\\U{code:08x}"),
        }),
    }
}

/// Whether a character is a letter, mark, number, punctuation, symbol or the ASCII space.
pub(crate) fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    // Escaping a string leaves marks as they are after another character.
    let probe: String = ['a', c].iter().collect();
    probe.escape_debug().eq(probe.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_printed_is_escaped() {
        for (text, expected) in [
            ("a b", r#""a b""#),
            ("a\"\\\n\t\u{1}\u{7f}", r#""a\"\\\n\t\x01\x7f""#),
            ("é世e\u{301}", "\"é世e\u{301}\""),
            ("\u{a0}\u{200b}\u{feff}", r#""\u00a0\u200b\ufeff""#),
            ("\u{10ffff}", r#""\U0010ffff""#),
        ] {
            assert_eq!(quote(text), expected);
        }
    }
}
