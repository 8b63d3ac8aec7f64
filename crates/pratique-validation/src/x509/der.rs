//! Elements of DER, as `golang.org/x/crypto/cryptobyte` reads them.

pub(super) const BOOLEAN: u8 = 0x01;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// The tag that a specification gives to an element.
pub(super) const fn context(number: u8) -> u8 {
    0x80 | number
}

/// Such a tag of an element with elements.
pub(super) const fn constructed(number: u8) -> u8 {
    0xa0 | number
}

/// What is still to be read; each method reads one element from its beginning, or says that there is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct DerReader<'d> {
    bytes: &'d [u8],
}

impl<'d> DerReader<'d> {
    pub(super) fn new(bytes: &'d [u8]) -> Self {
        DerReader { bytes }
    }

    pub(super) fn bytes(&self) -> &'d [u8] {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn has_tag(&self, tag: u8) -> bool {
        self.bytes.first() == Some(&tag)
    }

    /// An element of whichever tag: the tag, the content, and the whole.
    // Upstream: golang.org/x/crypto/cryptobyte/asn1.go, readASN1
    pub(super) fn read_any(&mut self) -> Option<(u8, DerReader<'d>, &'d [u8])> {
        let [tag, first, ..] = *self.bytes else {
            return None;
        };
        // Tags of several bytes are not known to Go's package either.
        if tag & 0x1f == 0x1f {
            return None;
        }
        let (header, length) = if first < 0x80 {
            (2, usize::from(first))
        } else {
            let count = usize::from(first & 0x7f);
            if !(1..=4).contains(&count) {
                return None;
            }
            let digits = self.bytes.get(2..2 + count)?;
            let length = digits
                .iter()
                .fold(0, |length, digit| length << 8 | usize::from(*digit));
            if length < 0x80 || digits.first() == Some(&0) {
                return None;
            }
            (2 + count, length)
        };
        let (whole, rest) = self.bytes.split_at_checked(header.checked_add(length)?)?;
        self.bytes = rest;
        Some((tag, DerReader::new(whole.get(header..)?), whole))
    }

    /// The content of an element of a tag.
    pub(super) fn read(&mut self, tag: u8) -> Option<DerReader<'d>> {
        if !self.has_tag(tag) {
            return None;
        }
        self.read_any().map(|(_, content, _)| content)
    }

    /// An element of a tag with its tag and length.
    pub(super) fn read_whole(&mut self, tag: u8) -> Option<&'d [u8]> {
        if !self.has_tag(tag) {
            return None;
        }
        self.read_any().map(|(_, _, whole)| whole)
    }

    /// The content of an element that may be absent.
    pub(super) fn read_optional(&mut self, tag: u8) -> Option<Option<DerReader<'d>>> {
        if !self.has_tag(tag) {
            return Some(None);
        }
        self.read(tag).map(Some)
    }

    /// The bytes of an object identifier.
    pub(super) fn read_identifier(&mut self) -> Option<&'d [u8]> {
        let content = self.read(OBJECT_IDENTIFIER)?.bytes;
        (!content.is_empty() && is_identifier(content)).then_some(content)
    }

    /// The bytes of a whole number.
    pub(super) fn read_integer(&mut self) -> Option<&'d [u8]> {
        let content = self.read(INTEGER)?.bytes;
        is_shortest(content).then_some(content)
    }

    pub(super) fn read_boolean(&mut self) -> Option<bool> {
        match self.read(BOOLEAN)?.bytes {
            [0] => Some(false),
            [0xff] => Some(true),
            _ => None,
        }
    }

    /// The bytes of a string of bits, those that fill the last byte at its beginning.
    pub(super) fn read_bits(&mut self) -> Option<Vec<u8>> {
        let (padding, bits) = self.read(BIT_STRING)?.bytes.split_first()?;
        let last = bits.last().copied().unwrap_or_default();
        let is_padded = *padding < 8 && last & ((1 << padding) - 1) == 0;
        if !is_padded || (bits.is_empty() && *padding > 0) {
            return None;
        }
        Some(align_right(bits, *padding))
    }
}

/// Whether a number is written in as few bytes as it can be.
// Upstream: golang.org/x/crypto/cryptobyte/asn1.go, checkASN1Integer
fn is_shortest(bytes: &[u8]) -> bool {
    match bytes {
        [] => false,
        [0, second, ..] => second & 0x80 != 0,
        [0xff, second, ..] => second & 0x80 == 0,
        _ => true,
    }
}

/// Whether each part of an identifier is complete, and less than 2^31.
// Upstream: golang.org/x/crypto/cryptobyte/asn1.go, readBase128Int
fn is_identifier(bytes: &[u8]) -> bool {
    let mut value: u32 = 0;
    let mut count = 0;
    for byte in bytes {
        if count == 5 || value >= 1 << 24 || (count == 0 && *byte == 0x80) {
            return false;
        }
        value = value << 7 | u32::from(byte & 0x7f);
        count += 1;
        if byte & 0x80 == 0 {
            (value, count) = (0, 0);
        }
    }
    count == 0
}

// Upstream: encoding/asn1/asn1.go, BitString.RightAlign
fn align_right(bits: &[u8], padding: u8) -> Vec<u8> {
    if padding == 0 {
        return bits.to_vec();
    }
    let mut carry = 0u8;
    let shifted = bits.iter().map(|byte| {
        let value = byte >> padding | carry;
        carry = byte << (8 - padding);
        value
    });
    shifted.collect()
}

/// A whole number as one of 64 bits, if it fits.
pub(super) fn to_int(bytes: &[u8]) -> Option<i64> {
    if bytes.len() > 8 {
        return None;
    }
    let sign = if is_negative(bytes) { -1 } else { 0 };
    Some(
        bytes
            .iter()
            .fold(sign, |value, byte| value << 8 | i64::from(*byte)),
    )
}

pub(super) fn is_negative(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| first & 0x80 != 0)
}

/// The bytes of a number that is greater than zero, without the zeros before it.
pub(super) fn to_positive(bytes: &[u8]) -> Option<&[u8]> {
    let start = bytes.iter().position(|byte| *byte != 0)?;
    if is_negative(bytes) {
        return None;
    }
    bytes.get(start..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_read_one_after_another() {
        let mut der = DerReader::new(&[0x30, 3, 2, 1, 5, 1, 1, 0xff]);
        let mut inner = der.read(SEQUENCE).unwrap();
        assert_eq!(inner.read_integer().and_then(to_int), Some(5));
        assert_eq!((inner.is_empty(), der.read_boolean()), (true, Some(true)));
        assert!(der.is_empty() && der.read_any().is_none());
    }

    #[test]
    fn what_is_not_the_shortest_form_is_refused() {
        assert!(DerReader::new(&[4, 0x81, 1, 0]).read_any().is_none());
        assert!(DerReader::new(&[4, 0x82, 0, 0x80]).read_any().is_none());
        assert!(DerReader::new(&[4, 0x80, 0, 0]).read_any().is_none());
        for (integer, is_valid) in [
            (&[2, 0][..], false),
            (&[2, 1, 0], true),
            (&[2, 2, 0, 1], false),
            (&[2, 2, 0, 0x80], true),
            (&[2, 2, 0xff, 0x80], false),
            (&[2, 1, 0xff], true),
        ] {
            assert_eq!(
                DerReader::new(integer).read_integer().is_some(),
                is_valid,
                "{integer:?}"
            );
        }
    }

    #[test]
    fn identifiers_have_complete_parts() {
        assert!(is_identifier(&[0x2a, 0x86, 0x48]));
        assert!(!is_identifier(&[0x2a, 0x86]));
        assert!(!is_identifier(&[0x80, 1]));
        assert!(!is_identifier(&[0xff, 0xff, 0xff, 0xff, 0x7f]));
    }

    #[test]
    fn bits_are_aligned() {
        assert_eq!(DerReader::new(&[3, 2, 4, 0xf0]).read_bits(), Some(vec![0x0f]));
        assert_eq!(DerReader::new(&[3, 2, 4, 0xff]).read_bits(), None);
        assert_eq!(DerReader::new(&[3, 1, 0]).read_bits(), Some(Vec::new()));
    }
}
