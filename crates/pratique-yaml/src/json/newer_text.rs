//! The words of Go's parser since 1.27, for bytes that do not belong: `encoding/json` is built on `encoding/json/v2` since then.
//!
//! Upstream: encoding/json/v2_scanner.go, transformSyntacticError; encoding/json/internal/jsonwire/wire.go, InvalidTextError

use pratique_gotext::strconv::{is_printable, quote_bytes, quote_rune};

const END: &str = "unexpected end of JSON input";

/// A character at the beginning of the rest of a text that does not belong there, or its end. The context is that of the parser
/// before, which knew more of numbers.
pub(super) fn unexpected(rest: &[u8], context: &str) -> String {
    let context = match context {
        "exceeded max depth" => return context.to_owned(),
        "in string literal" => "in string",
        _ if context.ends_with("numeric literal") => "in numeric literal",
        context => context,
    };
    match rest.first() {
        Some(byte) => format!("invalid character {} {context}", quoted_first(rest, *byte)),
        None => END.to_owned(),
    }
}

/// The escape at the beginning of the rest of a text, which is none, or cut off at the end of the text.
// Upstream: encoding/json/internal/jsonwire/decode.go, ConsumeStringResumable
pub(super) fn invalid_escape(rest: &[u8]) -> String {
    let length = if rest.get(1) == Some(&b'u') { 6 } else { 2 };
    let escape = match rest.get(..length) {
        Some(escape) => escape,
        None if rest.iter().skip(2).all(u8::is_ascii_hexdigit) => return END.to_owned(),
        None => rest,
    };
    format!("invalid escape sequence {} in string", quoted(escape))
}

/// The character that a text begins with, in single quotes; a byte that is none of UTF-8 as its number.
fn quoted_first(rest: &[u8], byte: u8) -> String {
    let head = rest.get(..4).unwrap_or(rest);
    let character = head
        .utf8_chunks()
        .next()
        .and_then(|chunk| chunk.valid().chars().next());
    character.map_or_else(|| format!("'\\x{byte:x}'"), quote_rune)
}

/// Bytes in backquotes, or in double quotes where they cannot stand there as they are.
fn quoted(bytes: &[u8]) -> String {
    let is_plain = |character: char| {
        character != '`'
            && character != char::REPLACEMENT_CHARACTER
            && !character.is_whitespace()
            && is_printable(character)
    };
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().all(is_plain) => format!("`{text}`"),
        _ => quote_bytes(bytes),
    }
}
