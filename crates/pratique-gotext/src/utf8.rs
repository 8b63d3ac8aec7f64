//! Bytes as text, as Go programs print bytes that are not UTF-8.

use std::borrow::Cow;

/// Bytes as text, in which every byte that does not belong to a character becomes one replacement character.
/// `String::from_utf8_lossy` has one for several.
///
/// ```
/// use pratique_gotext::utf8::lossy;
///
/// assert_eq!(lossy(b"a\xe7\xbab"), "a\u{fffd}\u{fffd}b");
/// ```
// Upstream: unicode/utf8/utf8.go, DecodeRune
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    let mut chunks = bytes.utf8_chunks();
    let first = match chunks.next() {
        None => return Cow::Borrowed(""),
        Some(chunk) if chunk.invalid().is_empty() => return Cow::Borrowed(chunk.valid()),
        Some(chunk) => chunk,
    };
    let mut text = String::with_capacity(bytes.len());
    for chunk in std::iter::once(first).chain(chunks) {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_is_replaced() {
        let check = |bytes: &[u8], expected| assert_eq!(lossy(bytes), expected);
        check(b"", "");
        check("é世".as_bytes(), "é世");
        check(b"\xff\xf0\x9f\x98", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}");
        check(b"x\xc3\xa9\xc3", "xé\u{fffd}");
    }
}
