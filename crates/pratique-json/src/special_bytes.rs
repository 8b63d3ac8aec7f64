//! The bytes that do not stand for themselves in a string of JSON: quotes, backslashes, and what is below a space.
//!
//! Eight bytes are looked at together, as one number.
// Rows `chain-*` and `validate-*` of `benches/`, which read and write an object each.

/// Whether a byte is special.
#[inline]
pub(crate) fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// The offset of the first special byte from an offset on.
#[inline]
pub fn find_special(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    let mut rest = bytes.get(from..)?;
    while let Some((eight, behind)) = rest.split_first_chunk::<8>() {
        let marks = mark_special(*eight);
        if marks != 0 {
            return Some(at + marks.trailing_zeros() as usize / 8);
        }
        at += 8;
        rest = behind;
    }
    find_in_few(bytes, at)
}

/// Whether one of two parts of a text has a special byte. They have eight or sixteen each.
#[inline]
pub(crate) fn has_special<const LENGTH: usize>(first: &[u8; LENGTH], last: &[u8; LENGTH]) -> bool {
    let (eights, _) = first.as_chunks::<8>();
    let (last_eights, _) = last.as_chunks::<8>();
    let eights = eights.iter().chain(last_eights);
    eights.fold(0, |marks, eight| marks | mark_special(*eight)) != 0
}

/// The same behind the last eight bytes of a document.
#[cold]
fn find_in_few(bytes: &[u8], from: usize) -> Option<usize> {
    let offset = bytes.get(from..)?.iter().position(|byte| is_special(*byte))?;
    Some(from + offset)
}

/// The high bit of each byte that is special, the first in the lowest place; those behind the first may be marked besides.
#[inline]
pub(crate) fn mark_special(eight: [u8; 8]) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let bytes = u64::from_le_bytes(eight);
    // A byte below a bound borrows the high bit, which it did not have.
    let below = |bytes: u64, bound: u8| bytes.wrapping_sub(ONES * u64::from(bound));
    // With this bit of all bytes changed, a quote follows what is below a space.
    let quoted = below(bytes ^ (ONES * u64::from(b'"' ^ b' ')), b' ' + 1);
    let escaped = below(bytes ^ (ONES * u64::from(b'\\')), 1);
    (quoted | escaped) & !bytes & HIGH
}
