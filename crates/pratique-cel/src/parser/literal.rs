//! The values of literals.

use std::borrow::Cow;

use crate::ast::Literal;

/// The value of an integer literal, with the minus sign before it.
pub(super) fn int(text: &str, negative: bool) -> Result<Literal, &'static str> {
    let (digits, radix) = digits_of(text);
    // The digits are ASCII, so the sign can be put before them; few literals need it.
    let value = if negative {
        i64::from_str_radix(&format!("-{digits}"), radix)
    } else {
        i64::from_str_radix(digits, radix)
    };
    value.map(Literal::Int).map_err(|_| "invalid int literal")
}

/// The value of an unsigned literal.
pub(super) fn uint(text: &str) -> Result<Literal, &'static str> {
    let (digits, radix) = digits_of(text.trim_end_matches(['u', 'U']));
    u64::from_str_radix(digits, radix)
        .map(Literal::Uint)
        .map_err(|_| "invalid uint literal")
}

fn digits_of(text: &str) -> (&str, u32) {
    match text.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text, 10),
    }
}

/// The value of a floating-point literal.
pub(super) fn double(text: &str, negative: bool) -> Result<Literal, &'static str> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Literal::Double(if negative { -value } else { value })),
        _ => Err("invalid double literal"),
    }
}

/// The value of a string literal, quotes included.
pub(super) fn string(text: &str) -> Result<Literal, &'static str> {
    let (body, raw) = body(text);
    let body = normalize_newlines(body);
    if raw || !body.contains('\\') {
        return Ok(Literal::String(body.into()));
    }
    let mut value = String::with_capacity(body.len());
    unescape(&body, |part| {
        match part {
            LiteralPart::Text(text) => value.push_str(text),
            LiteralPart::Character(character) => value.push(character),
            LiteralPart::Code(code) => value.push(char::from_u32(code).ok_or("invalid unicode code point")?),
            LiteralPart::Byte(byte) => value.push(char::from(byte)),
        }
        Ok(())
    })?;
    Ok(Literal::String(value.into()))
}

/// The value of a bytes literal, prefix and quotes included.
pub(super) fn bytes(text: &str) -> Result<Literal, &'static str> {
    let (body, raw) = body(text.get(1..).unwrap_or_default());
    let body = normalize_newlines(body);
    if raw || !body.contains('\\') {
        return Ok(Literal::Bytes(body.as_bytes().into()));
    }
    let mut value = Vec::with_capacity(body.len());
    unescape(&body, |part| {
        match part {
            LiteralPart::Text(text) => value.extend_from_slice(text.as_bytes()),
            LiteralPart::Character(character) => {
                value.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            LiteralPart::Code(_) => return Err("unable to unescape string"),
            LiteralPart::Byte(byte) => value.push(byte),
        }
        Ok(())
    })?;
    Ok(Literal::Bytes(value.into()))
}

/// The text between the quotes, and whether it is raw.
fn body(text: &str) -> (&str, bool) {
    let unprefixed = text.trim_start_matches(['r', 'R']);
    let raw = unprefixed.len() < text.len();
    let triple = unprefixed.len() >= 6 && (unprefixed.starts_with("'''") || unprefixed.starts_with("\"\"\""));
    let quotes = if triple { 3 } else { 1 };
    let end = unprefixed.len().saturating_sub(quotes);
    (unprefixed.get(quotes..end).unwrap_or_default(), raw)
}

/// Every end of line is a line feed.
fn normalize_newlines(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// A piece of a literal.
enum LiteralPart<'t> {
    /// Text without escapes.
    Text(&'t str),
    /// `\n` and its like.
    Character(char),
    /// `\u` and `\U`.
    Code(u32),
    /// `\x` and octal escapes: a byte, or in strings the code point of its number.
    Byte(u8),
}

/// Splits a text at its escapes, which the lexer has found well-formed.
fn unescape<'t>(
    text: &'t str,
    mut give: impl FnMut(LiteralPart<'t>) -> Result<(), &'static str>,
) -> Result<(), &'static str> {
    const MALFORMED: &str = "unable to unescape string";
    let mut rest = text;
    while let Some((plain_text, escape)) = rest.split_once('\\') {
        if !plain_text.is_empty() {
            give(LiteralPart::Text(plain_text))?;
        }
        let kind = escape.chars().next().ok_or(MALFORMED)?;
        let simple = |character| (LiteralPart::Character(character), 1);
        let number = |from: usize, to: usize, radix: u32| {
            let digits = escape.get(from..to).ok_or(MALFORMED)?;
            u32::from_str_radix(digits, radix).map_err(|_| MALFORMED)
        };
        let byte = |code: u32| u8::try_from(code).map(LiteralPart::Byte).map_err(|_| MALFORMED);
        let (part, length) = match kind {
            'a' => simple('\x07'),
            'b' => simple('\x08'),
            'f' => simple('\x0c'),
            'n' => simple('\n'),
            'r' => simple('\r'),
            't' => simple('\t'),
            'v' => simple('\x0b'),
            '\\' | '\'' | '"' | '`' | '?' => simple(kind),
            'x' | 'X' => (byte(number(1, 3, 16)?)?, 3),
            'u' => (LiteralPart::Code(number(1, 5, 16)?), 5),
            'U' => (LiteralPart::Code(number(1, 9, 16)?), 9),
            '0'..='3' => (byte(number(0, 3, 8)?)?, 3),
            _ => return Err(MALFORMED),
        };
        give(part)?;
        rest = escape.get(length..).unwrap_or_default();
    }
    if !rest.is_empty() {
        give(LiteralPart::Text(rest))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_unescaped() {
        let check = |text: &str, expected: Result<&str, &'static str>| {
            assert_eq!(
                string(text),
                expected.map(|value| Literal::String(value.into())),
                "{text}"
            );
        };
        check("'a'", Ok("a"));
        check(r#""a\n\"\x41\101\u00e9\U0001F600""#, Ok("a\n\"AAé😀"));
        check(r"'\xff'", Ok("ÿ"));
        check("'''a'b\r\nc'''", Ok("a'b\nc"));
        check(r"r'\n'", Ok(r"\n"));
        check("''''''", Ok(""));
        check(r"'\ud800'", Err("invalid unicode code point"));
    }

    #[test]
    fn bytes_are_unescaped() {
        let check = |text: &str, expected: Result<&[u8], &'static str>| {
            assert_eq!(
                bytes(text),
                expected.map(|value| Literal::Bytes(value.into())),
                "{text}"
            );
        };
        check(r"b'\xff\377é'", Ok(b"\xff\xff\xc3\xa9"));
        check(r"br'\x'", Ok(br"\x"));
        check(r"b'\u00e9'", Err("unable to unescape string"));
    }

    #[test]
    fn numbers_have_bounds() {
        assert_eq!(int("9223372036854775808", true), Ok(Literal::Int(i64::MIN)));
        assert_eq!(int("9223372036854775808", false), Err("invalid int literal"));
        assert_eq!(int("0x1F", true), Ok(Literal::Int(-31)));
        assert_eq!(uint("0xFFu"), Ok(Literal::Uint(255)));
        assert_eq!(uint("18446744073709551616u"), Err("invalid uint literal"));
        assert_eq!(double("1e3", true), Ok(Literal::Double(-1000.0)));
        assert_eq!(double("1e999", false), Err("invalid double literal"));
    }
}
