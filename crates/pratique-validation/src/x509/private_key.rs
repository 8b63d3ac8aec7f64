//! Private keys, as far as it is asked whose they are.

use super::base_point::multiply_base_point;
use super::der::to_positive;
use super::public_key::{ECDSA, ED25519, EllipticCurve, PublicKey, RSA, X25519};
use super::rsa_numbers::{RsaExponents, RsaNumbers};
use super::structures::{FieldReader, FieldType, read_algorithm};

/// The size of the seed of a key of Ed25519 or X25519.
const SEED_SIZE: usize = 32;

/// A private key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PrivateKey {
    /// The public key that belongs to it.
    Matched(PublicKey),
    /// The seed of a key of Ed25519.
    Ed25519(Vec<u8>),
    /// A key with which nothing is signed: X25519.
    Other,
}

/// A key in one of three forms; which of their rules a key breaks, a server does not say.
// Upstream: crypto/tls/tls.go, parsePrivateKey
pub(super) fn parse_private_key(der: &[u8]) -> Option<PrivateKey> {
    let rsa = parse_pkcs1(der).map(PrivateKey::Matched);
    rsa.or_else(|| parse_pkcs8(der))
        .or_else(|| parse_sec1(None, der).map(PrivateKey::Matched))
}

// Upstream: crypto/x509/pkcs1.go, ParsePKCS1PrivateKey
fn parse_pkcs1(der: &[u8]) -> Option<PublicKey> {
    let mut reader = FieldReader::new(der);
    let content = reader.read(FieldType::sequence("pkcs1PrivateKey")).ok()?.content;
    let mut fields = FieldReader::new(content);
    let version = fields.read_int().ok()?;
    let modulus = to_positive(fields.read_number().ok()?)?;
    let exponent = fields.read_whole_int().ok()?;
    let private = to_positive(fields.read_number().ok()?)?;
    let mut primes = Vec::new();
    for _ in 0..2 {
        primes.push(to_positive(fields.read_number().ok()?)?);
    }
    let mut computed = Vec::new();
    for _ in 0..3 {
        let number = fields.read_optional_number().ok()?;
        computed.push(match number {
            None => None,
            Some(number) => Some(to_positive(number)?),
        });
    }
    if let Some(list) = fields.read_optional(FieldType::sequence("")).ok()? {
        let mut list = FieldReader::new(list.content);
        while !list.is_at_end() {
            let prime = list.read(FieldType::sequence("pkcs1AdditionalRSAPrime")).ok()?;
            let mut numbers = FieldReader::new(prime.content);
            primes.push(to_positive(numbers.read_number().ok()?)?);
            // An exponent and a coefficient, which are computed anew.
            for _ in 0..2 {
                numbers.read_number().ok()?;
            }
        }
    }
    let exponents = match computed.as_slice() {
        [Some(first), Some(second), Some(coefficient)] => Some(RsaExponents {
            exponents: [*first, *second],
            coefficient,
        }),
        _ => None,
    };
    let numbers = RsaNumbers {
        modulus,
        exponent: exponent.value,
        private,
        primes,
        exponents,
    };
    let is_key = reader.is_at_end() && version <= 1 && numbers.are_consistent();
    is_key.then(|| PublicKey::Rsa {
        modulus: modulus.to_vec(),
        exponent: to_positive(exponent.bytes).unwrap_or_default().to_vec(),
    })
}

// Upstream: crypto/x509/pkcs8.go, ParsePKCS8PrivateKey
fn parse_pkcs8(der: &[u8]) -> Option<PrivateKey> {
    let content = FieldReader::new(der)
        .read(FieldType::sequence("pkcs8"))
        .ok()?
        .content;
    let mut fields = FieldReader::new(content);
    fields.read_int().ok()?;
    let (algorithm, parameters) = read_algorithm(&mut fields).ok()?;
    let key = fields.read(FieldType::OCTETS).ok()?.content;
    let seed = || {
        let seed = FieldReader::new(key).read(FieldType::OCTETS).ok()?.content;
        (parameters.is_empty() && seed.len() == SEED_SIZE).then(|| seed.to_vec())
    };
    match algorithm {
        RSA => parse_pkcs1(key).map(PrivateKey::Matched),
        ECDSA => {
            let curve = FieldReader::new(parameters).read_identifier().ok();
            parse_sec1(curve, key).map(PrivateKey::Matched)
        }
        ED25519 => seed().map(PrivateKey::Ed25519),
        X25519 => seed().map(|_| PrivateKey::Other),
        _ => None,
    }
}

/// A key of an elliptic curve, which may be named outside of it.
// Upstream: crypto/x509/sec1.go, parseECPrivateKey
fn parse_sec1(named: Option<&[u8]>, der: &[u8]) -> Option<PublicKey> {
    let content = FieldReader::new(der)
        .read(FieldType::sequence("ecPrivateKey"))
        .ok()?
        .content;
    let mut fields = FieldReader::new(content);
    let version = fields.read_int().ok()?;
    let key = fields.read(FieldType::OCTETS).ok()?.content;
    let identifier = fields.read_tagged_identifier(0).ok()?;
    fields.read_tagged_bits(1).ok()?;
    if version != 1 {
        return None;
    }
    let curve = EllipticCurve::from_identifier(named.or(identifier)?)?;
    // Zeros before the number are tolerated, and so are those that are missing.
    let (padding, scalar) = key.split_at(key.len().saturating_sub(curve.size()));
    if padding.iter().any(|byte| *byte != 0) {
        return None;
    }
    let point = multiply_base_point(curve, scalar)?;
    Some(PublicKey::Ecdsa { curve, point })
}
