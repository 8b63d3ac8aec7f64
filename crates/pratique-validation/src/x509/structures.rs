//! Elements of DER, as Go's `encoding/asn1` reads them into structures: requests and keys are read so.

use std::borrow::Cow;

use super::X509Error;
use super::der::{DerReader, to_int};
use super::public_key::KeyInfo;

/// What a field of a structure is.
#[derive(Clone, Copy)]
pub(super) struct FieldType {
    tag: u8,
    is_compound: bool,
    /// The name of the type in Go.
    name: &'static str,
}

impl FieldType {
    pub(super) const INTEGER: Self = FieldType::new(2, false, "int");
    /// A whole number of any size, to which Go has a pointer: pointers have no name.
    const NUMBER: Self = FieldType::new(2, false, "");
    pub(super) const BITS: Self = FieldType::new(3, false, "BitString");
    pub(super) const OCTETS: Self = FieldType::new(4, false, "");
    const IDENTIFIER: Self = FieldType::new(6, false, "ObjectIdentifier");

    /// A structure of fields.
    pub(super) const fn sequence(name: &'static str) -> Self {
        FieldType::new(16, true, name)
    }

    const fn new(tag: u8, is_compound: bool, name: &'static str) -> Self {
        FieldType {
            tag,
            is_compound,
            name,
        }
    }
}

/// An element that was read.
pub(super) struct FieldElement<'d> {
    pub(super) content: &'d [u8],
    pub(super) whole: &'d [u8],
}

/// A whole number of 64 bits.
pub(super) struct IntElement<'d> {
    pub(super) value: i64,
    pub(super) bytes: &'d [u8],
}

/// The fields of a structure; each method reads the next one.
pub(super) struct FieldReader<'d> {
    bytes: &'d [u8],
    offset: usize,
}

struct ElementHeader {
    class: u8,
    tag: u32,
    is_compound: bool,
    length: usize,
    /// Where the content begins.
    offset: usize,
}

impl<'d> FieldReader<'d> {
    pub(super) fn new(bytes: &'d [u8]) -> Self {
        FieldReader { bytes, offset: 0 }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.offset >= self.bytes.len()
    }

    /// A field of a type.
    // Upstream: encoding/asn1/asn1.go, parseField
    pub(super) fn read(&mut self, field: FieldType) -> Result<FieldElement<'d>, X509Error> {
        let header = self.header()?;
        if !header.is_of(field) {
            return Err(mismatch(&header, field));
        }
        self.content(&header)
    }

    /// A field of a type that may be absent. What is there instead is a later field, or none at all.
    pub(super) fn read_optional(&mut self, field: FieldType) -> Result<Option<FieldElement<'d>>, X509Error> {
        if self.is_at_end() {
            return Ok(None);
        }
        let header = self.header()?;
        if !header.is_of(field) {
            return Ok(None);
        }
        self.content(&header).map(Some)
    }

    /// The same within an element that has a tag of its structure, whose length is not looked at.
    fn read_tagged(&mut self, tag: u32, field: FieldType) -> Result<Option<FieldElement<'d>>, X509Error> {
        if self.is_at_end() {
            return Ok(None);
        }
        let start = self.offset;
        let header = self.header()?;
        if header.offset >= self.bytes.len() {
            return Err(structural("explicit tag has no child"));
        }
        let is_wrapper = (header.class, header.tag) == (2, tag) && (header.length == 0 || header.is_compound);
        if !is_wrapper {
            return Ok(None);
        }
        if header.length == 0 {
            return Err(structural("zero length explicit tag was not an asn1.Flag"));
        }
        self.offset = header.offset;
        let element = self.read_optional(field)?;
        if element.is_none() {
            self.offset = start;
        }
        Ok(element)
    }

    /// A whole number of 64 bits.
    // Upstream: encoding/asn1/asn1.go, parseInt64
    pub(super) fn read_int(&mut self) -> Result<i64, X509Error> {
        self.read_whole_int().map(|int| int.value)
    }

    /// The same with its bytes.
    pub(super) fn read_whole_int(&mut self) -> Result<IntElement<'d>, X509Error> {
        let bytes = check_number(self.read(FieldType::INTEGER)?)?;
        let value = to_int(bytes).ok_or_else(|| structural("integer too large"))?;
        Ok(IntElement { value, bytes })
    }

    /// The bytes of a whole number of any size.
    pub(super) fn read_number(&mut self) -> Result<&'d [u8], X509Error> {
        check_number(self.read(FieldType::NUMBER)?)
    }

    /// The same of one that may be absent.
    pub(super) fn read_optional_number(&mut self) -> Result<Option<&'d [u8]>, X509Error> {
        self.read_optional(FieldType::NUMBER)?
            .map(check_number)
            .transpose()
    }

    /// The bytes of an object identifier.
    pub(super) fn read_identifier(&mut self) -> Result<&'d [u8], X509Error> {
        check_identifier(self.read(FieldType::IDENTIFIER)?)
    }

    /// The same of one that has a tag of its structure and may be absent.
    pub(super) fn read_tagged_identifier(&mut self, tag: u32) -> Result<Option<&'d [u8]>, X509Error> {
        let identifier = self.read_tagged(tag, FieldType::IDENTIFIER)?;
        identifier.map(check_identifier).transpose()
    }

    /// A string of bits that has a tag of its structure and may be absent.
    pub(super) fn read_tagged_bits(&mut self, tag: u32) -> Result<Option<Vec<u8>>, X509Error> {
        let bits = self.read_tagged(tag, FieldType::BITS)?;
        bits.map(|bits| check_bits(&bits)).transpose()
    }

    /// A field of any type.
    pub(super) fn read_any(&mut self) -> Result<FieldElement<'d>, X509Error> {
        let header = self.header()?;
        self.content(&header)
    }

    /// A list that has the tag 0 of its structure; Go's text of another tag has the address of a variable in it.
    pub(super) fn read_tagged_list(&mut self) -> Result<FieldElement<'d>, X509Error> {
        let header = self.header()?;
        if (header.class, header.tag, header.is_compound) != (2, 0, true) {
            return Err(structural("tags don't match"));
        }
        self.content(&header)
    }

    fn content(&mut self, header: &ElementHeader) -> Result<FieldElement<'d>, X509Error> {
        let end = header.offset.saturating_add(header.length);
        let content = self.bytes.get(header.offset..end);
        let whole = self.bytes.get(self.offset..end);
        let (Some(content), Some(whole)) = (content, whole) else {
            return Err(syntax("data truncated"));
        };
        self.offset = end;
        Ok(FieldElement { content, whole })
    }

    // Upstream: encoding/asn1/asn1.go, parseTagAndLength
    fn header(&self) -> Result<ElementHeader, X509Error> {
        const TRUNCATED: &str = "truncated tag or length";
        let mut bytes = self.bytes.iter().copied().enumerate().skip(self.offset);
        let (_, first) = bytes.next().ok_or_else(|| syntax("sequence truncated"))?;
        let mut tag = u32::from(first & 0x1f);
        if tag == 0x1f {
            tag = read_long_tag(&mut bytes)?;
        }
        let (mut last, byte) = bytes.next().ok_or_else(|| syntax(TRUNCATED))?;
        let mut length = usize::from(byte & 0x7f);
        if byte == 0x80 {
            return Err(syntax("indefinite length found (not DER)"));
        }
        if byte > 0x80 {
            let count = std::mem::take(&mut length);
            for _ in 0..count {
                let (at, digit) = bytes.next().ok_or_else(|| syntax(TRUNCATED))?;
                if length >= 1 << 23 {
                    return Err(structural("length too large"));
                }
                (last, length) = (at, length << 8 | usize::from(digit));
                if length == 0 {
                    return Err(structural("superfluous leading zeros in length"));
                }
            }
            if length < 0x80 {
                return Err(structural("non-minimal length"));
            }
        }
        Ok(ElementHeader {
            class: first >> 6,
            tag,
            is_compound: first & 0x20 != 0,
            length,
            offset: last + 1,
        })
    }
}

impl ElementHeader {
    fn is_of(&self, field: FieldType) -> bool {
        let is_universal = self.class == 0 && self.tag == u32::from(field.tag);
        is_universal && self.is_compound == field.is_compound
    }
}

/// The number of a tag that does not fit into its byte.
fn read_long_tag(bytes: &mut impl Iterator<Item = (usize, u8)>) -> Result<u32, X509Error> {
    let number = read_base_128(bytes)?;
    if number < 0x1f {
        return Err(syntax("non-minimal tag"));
    }
    Ok(number)
}

/// The bytes of a whole number.
// Upstream: encoding/asn1/asn1.go, checkInteger
fn check_number(number: FieldElement<'_>) -> Result<&[u8], X509Error> {
    if number.content.is_empty() {
        return Err(structural("empty integer"));
    }
    let bytes = DerReader::new(number.whole).read_integer();
    bytes.ok_or_else(|| structural("integer not minimally-encoded"))
}

/// The bytes of an object identifier.
// Upstream: encoding/asn1/asn1.go, parseObjectIdentifier
fn check_identifier(identifier: FieldElement<'_>) -> Result<&[u8], X509Error> {
    if identifier.content.is_empty() {
        return Err(syntax("zero length OBJECT IDENTIFIER"));
    }
    let mut bytes = identifier.content.iter().copied().enumerate().peekable();
    while bytes.peek().is_some() {
        read_base_128(&mut bytes)?;
    }
    Ok(identifier.content)
}

// Upstream: encoding/asn1/asn1.go, parseBase128Int
fn read_base_128(bytes: &mut impl Iterator<Item = (usize, u8)>) -> Result<u32, X509Error> {
    let mut value = 0u64;
    for (count, (_, byte)) in bytes.enumerate() {
        if count == 5 {
            return Err(structural("base 128 integer too large"));
        }
        if count == 0 && byte == 0x80 {
            return Err(syntax("integer is not minimally encoded"));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            let number = u32::try_from(value)
                .ok()
                .filter(|number| i32::try_from(*number).is_ok());
            return number.ok_or_else(|| structural("base 128 integer too large"));
        }
    }
    Err(syntax("truncated base 128 integer"))
}

fn mismatch(header: &ElementHeader, field: FieldType) -> X509Error {
    const PARAMETERS: &str = "{optional:false explicit:false application:false private:false defaultValue:<nil> \
                              tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false}";
    let ElementHeader {
        class,
        tag,
        is_compound,
        length,
        offset,
    } = header;
    structural(format!(
        "tags don't match ({} vs {{class:{class} tag:{tag} length:{length} isCompound:{is_compound}}}) {PARAMETERS} {} \
         @{offset}",
        field.tag, field.name
    ))
}

pub(super) fn syntax(text: &'static str) -> X509Error {
    X509Error(format!("asn1: syntax error: {text}").into())
}

pub(super) fn structural(text: impl Into<Cow<'static, str>>) -> X509Error {
    X509Error(format!("asn1: structure error: {}", text.into()).into())
}

/// An algorithm: its identifier, and the element with its parameters, which is empty where there is none.
pub(super) fn read_algorithm<'d>(reader: &mut FieldReader<'d>) -> Result<(&'d [u8], &'d [u8]), X509Error> {
    let algorithm = reader.read(FieldType::sequence("AlgorithmIdentifier"))?;
    let mut fields = FieldReader::new(algorithm.content);
    let identifier = fields.read_identifier()?;
    let parameters = if fields.is_at_end() {
        &[]
    } else {
        fields.read_any()?.whole
    };
    Ok((identifier, parameters))
}

/// A string of bits.
pub(super) fn read_bits(reader: &mut FieldReader<'_>) -> Result<Vec<u8>, X509Error> {
    check_bits(&reader.read(FieldType::BITS)?)
}

// Upstream: encoding/asn1/asn1.go, parseBitString
fn check_bits(element: &FieldElement<'_>) -> Result<Vec<u8>, X509Error> {
    if element.content.is_empty() {
        return Err(syntax("zero length BIT STRING"));
    }
    let bits = DerReader::new(element.whole).read_bits();
    bits.ok_or_else(|| syntax("invalid padding bits in BIT STRING"))
}

/// A public key with its algorithm.
pub(super) fn read_key_info<'d>(reader: &mut FieldReader<'d>) -> Result<KeyInfo<'d>, X509Error> {
    let info = reader.read(FieldType::sequence("publicKeyInfo"))?;
    let mut fields = FieldReader::new(info.content);
    let (algorithm, parameters) = read_algorithm(&mut fields)?;
    let key = read_bits(&mut fields)?;
    Ok(KeyInfo {
        algorithm,
        parameters,
        key,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        let read = FieldReader::new(bytes).read(FieldType::sequence("certificateRequest"));
        assert_eq!(read.map(|_| ()).unwrap_err().to_string(), expected);
    }

    #[test]
    fn faults_are_told_in_the_words_of_go() {
        check(&[], "asn1: syntax error: sequence truncated");
        check(&[0x30], "asn1: syntax error: truncated tag or length");
        check(&[0x30, 2, 0], "asn1: syntax error: data truncated");
        check(
            &[0x30, 0x80],
            "asn1: syntax error: indefinite length found (not DER)",
        );
        check(&[0x30, 0x81, 1, 0], "asn1: structure error: non-minimal length");
        check(
            &[4, 1, 0],
            "asn1: structure error: tags don't match (16 vs {class:0 tag:4 length:1 isCompound:false}) {optional:false \
             explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false \
             omitEmpty:false} certificateRequest @2",
        );
    }
}
