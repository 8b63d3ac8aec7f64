//! Names of subjects and issuers, and the domain names of certificates.

use super::der::{DerReader, SEQUENCE, SET};
use super::{X509Error, required};

/// Reads a name, as far as it can be wrong.
// Upstream: crypto/x509/parser.go, parseName
pub(super) fn check_name(whole: &[u8]) -> Result<(), X509Error> {
    const INVALID: &str = "x509: invalid RDNSequence";
    let mut sequence = required(DerReader::new(whole).read(SEQUENCE), INVALID)?;
    while !sequence.is_empty() {
        let mut set = required(sequence.read(SET), INVALID)?;
        while !set.is_empty() {
            check_attribute(&mut set)?;
        }
    }
    Ok(())
}

fn check_attribute(set: &mut DerReader<'_>) -> Result<(), X509Error> {
    let mut attribute = required(set.read(SEQUENCE), "x509: invalid RDNSequence: invalid attribute")?;
    required(
        attribute.read_identifier(),
        "x509: invalid RDNSequence: invalid attribute type",
    )?;
    let (tag, value, _) = required(
        attribute.read_any(),
        "x509: invalid RDNSequence: invalid attribute value",
    )?;
    if let Some(fault) = string_fault(tag, value.bytes()) {
        let text = format!("x509: invalid RDNSequence: invalid attribute value: {fault}");
        return Err(X509Error(text.into()));
    }
    Ok(())
}

/// What is wrong with a string of a type.
// Upstream: crypto/x509/parser.go, parseASN1String
fn string_fault(tag: u8, value: &[u8]) -> Option<String> {
    const T61: u8 = 20;
    let (is_valid, fault) = match tag {
        T61 => return None,
        19 => (
            value.iter().all(|byte| is_printable(*byte)),
            "invalid PrintableString",
        ),
        12 => (std::str::from_utf8(value).is_ok(), "invalid UTF-8 string"),
        30 => (is_basic_plane(value), "invalid BMPString"),
        22 => (value.is_ascii(), "invalid IA5String"),
        18 => (
            value.iter().all(|byte| byte.is_ascii_digit() || *byte == b' '),
            "invalid NumericString",
        ),
        _ => return Some(format!("unsupported string type: {tag}")),
    };
    (!is_valid).then(|| fault.to_owned())
}

fn is_printable(byte: u8) -> bool {
    // The last two are not allowed, but common.
    byte.is_ascii_alphanumeric() || b" '()+,-./:=?*&".contains(&byte)
}

/// Whether bytes are letters of 16 bits that stand for themselves.
fn is_basic_plane(value: &[u8]) -> bool {
    let (letters, rest) = value.as_chunks::<2>();
    let is_letter = |letter: u16| !matches!(letter, 0xfffe | 0xffff | 0xfdd0..=0xfdef | 0xd800..=0xdfff);
    rest.is_empty() && letters.iter().all(|bytes| is_letter(u16::from_be_bytes(*bytes)))
}

/// Whether a text can be a domain, or one with a dot before it in a constraint.
// Upstream: crypto/x509/parser.go, domainNameValid
pub(super) fn is_domain(name: &str, is_constraint: bool) -> bool {
    if name.is_empty() {
        return true;
    }
    let name = match name.strip_prefix('.') {
        Some(rest) if is_constraint => rest,
        _ => name,
    };
    !name.ends_with('.')
        && name.bytes().all(|byte| (33..=126).contains(&byte))
        && name.split('.').all(|label| !label.is_empty())
}
