//! Text quoted as Kubernetes' messages quote what a user wrote: Go's `%q`.
//!
//! Messages are part of what this crate promises, and Go escapes other characters, and in another way, than Rust's `{:?}` does.

mod printable;

use printable::is_printable;
use std::fmt::Write;

/// `text` between double quotes, with everything unprintable escaped.
pub fn quoted(text: &str) -> String {
    quoted_bytes(text.as_bytes())
}

/// As [`quoted`], for text that may not be UTF-8: each stray byte becomes `\xNN`.
pub fn quoted_bytes(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for chunk in text.utf8_chunks() {
        chunk.valid().chars().for_each(|c| push_escaped(&mut out, c));
        chunk
            .invalid()
            .iter()
            .for_each(|byte| push_hex(&mut out, 'x', 2, u32::from(*byte)));
    }
    out.push('"');
    out
}

fn push_escaped(out: &mut String, c: char) {
    match c {
        '"' | '\\' => {
            out.push('\\');
            out.push(c);
        }
        c if is_printable(c) => out.push(c),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        '\0'..=' ' | '\u{7f}' => push_hex(out, 'x', 2, u32::from(c)),
        '\u{80}'..='\u{ffff}' => push_hex(out, 'u', 4, u32::from(c)),
        c => push_hex(out, 'U', 8, u32::from(c)),
    }
}

fn push_hex(out: &mut String, kind: char, width: usize, value: u32) {
    // Writing to a String cannot fail.
    let _ = write!(out, "\\{kind}{value:0width$x}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &[u8], expected: &str) {
        assert_eq!(quoted_bytes(text), expected);
    }

    #[test]
    fn escapes() {
        check(b"", r#""""#);
        check(b"plain ~", r#""plain ~""#);
        check(br#"a"b\c"#, r#""a\"b\\c""#);
        check(b"\x07\x08\x0c\n\r\t\x0b", r#""\a\b\f\n\r\t\v""#);
        check(b"\0\x1f\x7f", r#""\x00\x1f\x7f""#);
    }

    #[test]
    fn unicode() {
        check("é世🙂".as_bytes(), "\"é世🙂\"");
        check(
            "\u{a0}\u{ad}\u{200b}\u{feff}".as_bytes(),
            r#""\u00a0\u00ad\u200b\ufeff""#,
        );
        check("\u{e0001}\u{10ffff}".as_bytes(), r#""\U000e0001\U0010ffff""#);
    }

    #[test]
    fn stray_bytes() {
        check(b"a\xff\xe2\x82b", r#""a\xff\xe2\x82b""#);
    }
}
