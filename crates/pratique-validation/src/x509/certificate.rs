//! Certificates.

use jiff::civil::DateTime;

use super::der::{
    BIT_STRING, DerReader, GENERALIZED_TIME, SEQUENCE, UTC_TIME, constructed, context, is_negative, to_int,
};
use super::extensions::read_extensions;
use super::names::check_name;
use super::public_key::{KeyInfo, PublicKey, read_key};
use super::{X509Error, required};

/// What is asked of a certificate.
#[derive(Debug, Default)]
pub(crate) struct X509Certificate {
    pub(crate) has_basic_constraints: bool,
    pub(crate) is_authority: bool,
    pub(crate) dns_names: Vec<String>,
    pub(crate) email_addresses: Vec<String>,
    /// In seconds since 1970.
    pub(crate) not_before: i64,
    /// In seconds since 1970.
    pub(crate) not_after: i64,
    /// Absent where its algorithm is not known.
    pub(crate) public_key: Option<PublicKey>,
}

/// One certificate.
// Upstream: crypto/x509/parser.go, ParseCertificate
pub(crate) fn parse_certificate(der: &[u8]) -> Result<X509Certificate, X509Error> {
    let mut input = DerReader::new(der);
    let certificate = read_certificate(&mut input)?;
    if input.is_empty() {
        Ok(certificate)
    } else {
        Err(X509Error::new("x509: trailing data"))
    }
}

/// Certificates one after another; says how many there are.
// Upstream: crypto/x509/parser.go, ParseCertificates
pub(crate) fn parse_certificates(der: &[u8]) -> Result<usize, X509Error> {
    let mut input = DerReader::new(der);
    let mut count = 0;
    while !input.is_empty() {
        read_certificate(&mut input)?;
        count += 1;
    }
    Ok(count)
}

// Upstream: crypto/x509/parser.go, parseCertificate
fn read_certificate(input: &mut DerReader<'_>) -> Result<X509Certificate, X509Error> {
    let mut outer = required(input.read(SEQUENCE), "x509: malformed certificate")?;
    let mut signed = required(outer.read(SEQUENCE), "x509: malformed tbs certificate")?;
    let version = read_version(&mut signed)?;
    let serial = required(signed.read_integer(), "x509: malformed serial number")?;
    if is_negative(serial) {
        return Err(X509Error::new("x509: negative serial number"));
    }
    let inner_algorithm = required(
        signed.read(SEQUENCE),
        "x509: malformed signature algorithm identifier",
    )?;
    let outer_algorithm = required(outer.read(SEQUENCE), "x509: malformed algorithm identifier")?;
    if outer_algorithm.bytes() != inner_algorithm.bytes() {
        return Err(X509Error::new(
            "x509: inner and outer signature algorithm identifiers don't match",
        ));
    }
    read_algorithm(inner_algorithm)?;
    check_name(required(signed.read_whole(SEQUENCE), "x509: malformed issuer")?)?;
    let mut validity = required(signed.read(SEQUENCE), "x509: malformed validity")?;
    let mut certificate = X509Certificate {
        not_before: read_time(&mut validity)?,
        not_after: read_time(&mut validity)?,
        ..X509Certificate::default()
    };
    check_name(required(signed.read_whole(SEQUENCE), "x509: malformed issuer")?)?;
    certificate.public_key = read_public_key(&mut signed)?;
    if version > 1 {
        for (tag, fault) in [
            (context(1), "x509: malformed issuerUniqueID"),
            (context(2), "x509: malformed subjectUniqueID"),
        ] {
            required(signed.read_optional(tag), fault)?;
        }
    }
    if version == 3 {
        let extensions = signed.read_optional(constructed(3));
        if let Some(extensions) = required(extensions, "x509: malformed extensions")? {
            read_extensions(extensions, &mut certificate)?;
        }
    }
    if !outer.has_tag(BIT_STRING) || outer.read_bits().is_none() {
        return Err(X509Error::new("x509: malformed signature"));
    }
    Ok(certificate)
}

/// The version as it is called, which is one more than what is written.
fn read_version(signed: &mut DerReader<'_>) -> Result<i64, X509Error> {
    const MALFORMED: &str = "x509: malformed version";
    let Some(mut version) = required(signed.read_optional(constructed(0)), MALFORMED)? else {
        return Ok(1);
    };
    let number = required(version.read_integer().and_then(to_int), MALFORMED)?;
    match number {
        _ if !version.is_empty() || number < 0 => Err(X509Error::new(MALFORMED)),
        0..=2 => Ok(number + 1),
        _ => Err(X509Error::new("x509: invalid version")),
    }
}

/// The identifier of an algorithm and the element with its parameters, which may be absent.
// Upstream: crypto/x509/parser.go, parseAI
fn read_algorithm(mut algorithm: DerReader<'_>) -> Result<(&[u8], &[u8]), X509Error> {
    let identifier = required(algorithm.read_identifier(), "x509: malformed OID")?;
    if algorithm.is_empty() {
        return Ok((identifier, &[]));
    }
    let parameters = required(algorithm.read_any(), "x509: malformed parameters")?;
    Ok((identifier, parameters.2))
}

fn read_public_key(signed: &mut DerReader<'_>) -> Result<Option<PublicKey>, X509Error> {
    let mut info = required(signed.read(SEQUENCE), "x509: malformed spki")?;
    let algorithm = required(
        info.read(SEQUENCE),
        "x509: malformed public key algorithm identifier",
    )?;
    let (algorithm, parameters) = read_algorithm(algorithm)?;
    let key = required(info.read_bits(), "x509: malformed subjectPublicKey")?;
    read_key(&KeyInfo {
        algorithm,
        parameters,
        key,
    })
}

// Upstream: crypto/x509/parser.go, parseTime
fn read_time(validity: &mut DerReader<'_>) -> Result<i64, X509Error> {
    if validity.has_tag(UTC_TIME) {
        let text = validity.read(UTC_TIME).map(|text| text.bytes());
        required(text.and_then(parse_utc_time), "x509: malformed UTCTime")
    } else if validity.has_tag(GENERALIZED_TIME) {
        let text = validity.read(GENERALIZED_TIME).map(|text| text.bytes());
        required(
            text.and_then(parse_generalized_time),
            "x509: malformed GeneralizedTime",
        )
    } else {
        Err(X509Error::new("x509: unsupported time format"))
    }
}

/// `YYMMDDhhmm[ss]` and a zone; years from 50 are those of the last century.
// Upstream: golang.org/x/crypto/cryptobyte/asn1.go, ReadASN1UTCTime
fn parse_utc_time(text: &[u8]) -> Option<i64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, zone) = text.split_at_checked(digits)?;
    if !matches!(digits.len(), 10 | 12) {
        return None;
    }
    let (year, rest) = (number(digits, 0)?, digits.get(2..)?);
    let century = if year >= 50 { 1900 } else { 2000 };
    seconds(century + year, rest, zone)
}

/// `YYYYMMDDhhmmss` and a zone.
// Upstream: golang.org/x/crypto/cryptobyte/asn1.go, ReadASN1GeneralizedTime
fn parse_generalized_time(text: &[u8]) -> Option<i64> {
    let (digits, zone) = text.split_at_checked(14)?;
    let year = number(digits, 0)? * 100 + number(digits, 2)?;
    seconds(year, digits.get(4..)?, zone)
}

/// Two digits as a number.
fn number(digits: &[u8], at: usize) -> Option<i16> {
    let digit = |at: usize| digits.get(at).filter(|digit| digit.is_ascii_digit());
    Some(i16::from(digit(at)? - b'0') * 10 + i16::from(digit(at + 1)? - b'0'))
}

fn seconds(year: i16, digits: &[u8], zone: &[u8]) -> Option<i64> {
    let part = |at: usize| number(digits, at).and_then(|number| i8::try_from(number).ok());
    let second = if digits.len() > 8 { part(8)? } else { 0 };
    let time = DateTime::new(year, part(0)?, part(2)?, part(4)?, part(6)?, second, 0).ok()?;
    let epoch = DateTime::new(1970, 1, 1, 0, 0, 0, 0).ok()?;
    let since = time.duration_since(epoch).as_secs();
    Some(since - zone_offset(zone)?)
}

/// The seconds by which a zone is before UTC.
fn zone_offset(zone: &[u8]) -> Option<i64> {
    let (sign, digits) = match zone {
        b"Z" => return Some(0),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = (number(digits, 0)?, number(digits, 2)?);
    // A zone that is UTC is written as Z.
    let is_zone = digits.len() == 4 && hours <= 24 && minutes < 60 && (hours, minutes) != (0, 0);
    is_zone.then(|| sign * (i64::from(hours) * 3600 + i64::from(minutes) * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_zones() {
        assert_eq!(parse_utc_time(b"700101000000Z"), Some(0));
        assert_eq!(parse_utc_time(b"7001010000Z"), Some(0));
        assert_eq!(parse_utc_time(b"491231235959Z"), Some(2_524_607_999));
        assert_eq!(parse_utc_time(b"700101010000+0100"), Some(0));
        assert_eq!(parse_generalized_time(b"19700101000001Z"), Some(1));
        for text in [&b""[..], b"700101000000", b"701301000000Z", b"700101000000+0000"] {
            assert_eq!(parse_utc_time(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_certificate_is_told() {
        for (bytes, expected) in [
            (&[][..], "x509: malformed certificate"),
            (&[0x30, 0], "x509: malformed tbs certificate"),
            (&[0x30, 2, 0x30, 0], "x509: malformed serial number"),
        ] {
            assert_eq!(parse_certificate(bytes).unwrap_err().to_string(), expected);
        }
        assert_eq!(parse_certificates(&[]), Ok(0));
    }
}
