//! Public keys.

use super::curve_point::{PointFault, check_point};
use super::der::{DerReader, SEQUENCE, is_negative, to_int, to_positive};
use super::structures::{FieldReader, read_key_info};
use super::{X509Error, required};

/// The algorithms of keys, as they are identified.
pub(super) const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
pub(super) const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
pub(super) const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
pub(super) const X25519: &[u8] = &[0x2b, 0x65, 0x6e];
const DSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x38, 0x04, 0x01];

/// A public key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PublicKey {
    Rsa {
        /// Without zeros before it.
        modulus: Vec<u8>,
        /// Without zeros before it.
        exponent: Vec<u8>,
    },
    Ecdsa {
        curve: EllipticCurve,
        /// Not compressed.
        point: Vec<u8>,
    },
    Ed25519(Vec<u8>),
    /// A key with which nothing is signed here: DSA or X25519.
    Other,
}

/// The elliptic curves of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EllipticCurve {
    P224,
    P256,
    P384,
    P521,
}

impl EllipticCurve {
    pub(crate) fn name(self) -> &'static str {
        match self {
            EllipticCurve::P224 => "P-224",
            EllipticCurve::P256 => "P-256",
            EllipticCurve::P384 => "P-384",
            EllipticCurve::P521 => "P-521",
        }
    }

    pub(super) fn from_identifier(identifier: &[u8]) -> Option<Self> {
        match identifier {
            [0x2b, 0x81, 0x04, 0x00, 0x21] => Some(EllipticCurve::P224),
            [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07] => Some(EllipticCurve::P256),
            [0x2b, 0x81, 0x04, 0x00, 0x22] => Some(EllipticCurve::P384),
            [0x2b, 0x81, 0x04, 0x00, 0x23] => Some(EllipticCurve::P521),
            _ => None,
        }
    }

    /// Why a point is none of the curve, as a server says it.
    fn fault_text(self, fault: PointFault) -> String {
        let name = self.name().replace('-', "");
        match (fault, self) {
            (PointFault::NotOnCurve, _) => format!("{name} point not on curve"),
            // This curve has an implementation of its own.
            (PointFault::TooLarge, EllipticCurve::P256) => "invalid P256 element encoding".to_owned(),
            (PointFault::TooLarge, _) => format!("invalid {name}Element encoding"),
        }
    }

    /// The size of a coordinate in bytes.
    pub(super) fn size(self) -> usize {
        match self {
            EllipticCurve::P224 => 28,
            EllipticCurve::P256 => 32,
            EllipticCurve::P384 => 48,
            EllipticCurve::P521 => 66,
        }
    }
}

impl PublicKey {
    /// The name of the key's type in Go.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            PublicKey::Rsa { .. } => "*rsa.PublicKey",
            PublicKey::Ecdsa { .. } => "*ecdsa.PublicKey",
            PublicKey::Ed25519(_) => "ed25519.PublicKey",
            PublicKey::Other => "*dsa.PublicKey",
        }
    }
}

/// The algorithm of a key and its bytes, as they stand in certificates and requests.
pub(super) struct KeyInfo<'d> {
    pub(super) algorithm: &'d [u8],
    /// The element with the parameters; empty where there is none.
    pub(super) parameters: &'d [u8],
    pub(super) key: Vec<u8>,
}

/// A public key by itself.
// Upstream: crypto/x509/x509.go, ParsePKIXPublicKey
pub(crate) fn parse_public_key(der: &[u8]) -> Result<PublicKey, X509Error> {
    let mut reader = FieldReader::new(der);
    let info = read_key_info(&mut reader)?;
    if !reader.is_at_end() {
        return Err(X509Error::new("x509: trailing data after ASN.1 of public-key"));
    }
    let key = read_key(&info)?;
    required(key, "x509: unknown public key algorithm")
}

/// The key; none where its algorithm is not known.
// Upstream: crypto/x509/parser.go, parsePublicKey
pub(super) fn read_key(info: &KeyInfo<'_>) -> Result<Option<PublicKey>, X509Error> {
    match info.algorithm {
        RSA => read_rsa(info).map(Some),
        ECDSA => read_ecdsa(info).map(Some),
        ED25519 => read_fixed(info, "Ed25519").map(|()| Some(PublicKey::Ed25519(info.key.clone()))),
        X25519 => read_fixed(info, "X25519").map(|()| Some(PublicKey::Other)),
        DSA => read_dsa(info).map(|()| Some(PublicKey::Other)),
        _ => Ok(None),
    }
}

fn read_rsa(info: &KeyInfo<'_>) -> Result<PublicKey, X509Error> {
    if info.parameters != [5, 0] {
        return Err(X509Error::new("x509: RSA key missing NULL parameters"));
    }
    let mut key = required(
        DerReader::new(&info.key).read(SEQUENCE),
        "x509: invalid RSA public key",
    )?;
    let modulus = required(key.read_integer(), "x509: invalid RSA modulus")?;
    let exponent = key.read_integer().filter(|bytes| to_int(bytes).is_some());
    let exponent = required(exponent, "x509: invalid RSA public exponent")?;
    let modulus = required(to_positive(modulus), "x509: RSA modulus is not a positive number")?;
    let exponent = required(
        to_positive(exponent),
        "x509: RSA public exponent is not a positive number",
    )?;
    Ok(PublicKey::Rsa {
        modulus: modulus.to_vec(),
        exponent: exponent.to_vec(),
    })
}

fn read_ecdsa(info: &KeyInfo<'_>) -> Result<PublicKey, X509Error> {
    let identifier = DerReader::new(info.parameters).read_identifier();
    let identifier = required(identifier, "x509: invalid ECDSA parameters")?;
    let curve = required(
        EllipticCurve::from_identifier(identifier),
        "x509: unsupported elliptic curve",
    )?;
    if info.key.first() != Some(&4) {
        return Err(X509Error::new("ecdsa: invalid uncompressed public key"));
    }
    if info.key.len() != 1 + 2 * curve.size() {
        let text = format!("invalid {} point encoding", curve.name().replace('-', ""));
        return Err(X509Error(text.into()));
    }
    let coordinates = info.key.get(1..).unwrap_or_default();
    check_point(curve, coordinates).map_err(|fault| X509Error(curve.fault_text(fault).into()))?;
    Ok(PublicKey::Ecdsa {
        curve,
        point: info.key.clone(),
    })
}

/// Reads a key of 32 bytes without parameters.
fn read_fixed(info: &KeyInfo<'_>, algorithm: &str) -> Result<(), X509Error> {
    if !info.parameters.is_empty() {
        let text = format!("x509: {algorithm} key encoded with illegal parameters");
        return Err(X509Error(text.into()));
    }
    match (info.key.len(), algorithm) {
        (32, _) => Ok(()),
        (_, "Ed25519") => Err(X509Error::new("x509: wrong Ed25519 public key size")),
        _ => Err(X509Error::new("crypto/ecdh: invalid public key")),
    }
}

fn read_dsa(info: &KeyInfo<'_>) -> Result<(), X509Error> {
    let key = required(
        DerReader::new(&info.key).read_integer(),
        "x509: invalid DSA public key",
    )?;
    let mut numbers = vec![key];
    let parameters = DerReader::new(info.parameters).read(SEQUENCE);
    let mut parameters = required(parameters, "x509: invalid DSA parameters")?;
    for _ in 0..3 {
        numbers.push(required(
            parameters.read_integer(),
            "x509: invalid DSA parameters",
        )?);
    }
    let is_positive = |number: &&[u8]| !is_negative(number) && to_positive(number).is_some();
    if numbers.iter().all(is_positive) {
        Ok(())
    } else {
        Err(X509Error::new("x509: zero or negative DSA parameter"))
    }
}
