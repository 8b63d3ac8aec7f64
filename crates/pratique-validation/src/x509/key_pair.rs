//! Certificates and the private key of the first of them, as a server of TLS reads them.

use super::certificate::parse_certificate;
use super::pem::decode_block;
use super::private_key::{PrivateKey, parse_private_key};
use super::public_key::PublicKey;
use super::signature::derive_ed25519;

/// Why certificates and a key are no pair, in the words of Go's `crypto/tls`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyPairError {
    /// There is no block of PEM in this input.
    #[error("tls: failed to find any PEM data in {0} input")]
    NoPem(&'static str),
    /// A private key is where the certificates should be.
    #[error(
        "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have \
         been switched"
    )]
    KeyForCertificate,
    /// There are only blocks of these types.
    #[error(
        "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the following \
         types: [{}]", .0.join(" ")
    )]
    NoCertificate(Vec<String>),
    /// A certificate is where the key should be.
    #[error("tls: found a certificate rather than a key in the PEM for the private key")]
    CertificateForKey,
    /// There are only blocks of these types.
    #[error(
        "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM blocks of the \
         following types: [{}]", .0.join(" ")
    )]
    NoKey(Vec<String>),
    /// The first certificate cannot be read, for this reason.
    #[error("{0}")]
    Certificate(String),
    /// The key is in none of the forms that are known.
    #[error("tls: failed to parse private key")]
    MalformedKey,
    /// With such a key nothing is signed.
    #[error("tls: found unknown private key type in PKCS#8 wrapping")]
    UnknownKeyType,
    /// With the key of the certificate nothing is signed, or it is not known.
    #[error("tls: unknown public key algorithm")]
    UnknownAlgorithm,
    /// The keys have different algorithms.
    #[error("tls: private key type does not match public key type")]
    TypeMismatch,
    /// The certificate is one of another key.
    #[error("tls: private key does not match public key")]
    KeyMismatch,
}

/// Checks that a private key is that of the first of some certificates; both are PEM.
///
/// Whose a key of Ed25519 is can be said where the crate is built with `ring`; without it, such a key is taken to be the right one.
///
/// # Errors
/// What a server would warn of.
// Upstream: crypto/tls/tls.go, X509KeyPair
pub fn check_key_pair(certificates: &[u8], key: &[u8]) -> Result<(), KeyPairError> {
    let certificate = find_certificate(certificates)?;
    let key = find_key(key)?;
    let certificate =
        parse_certificate(&certificate).map_err(|error| KeyPairError::Certificate(error.to_string()))?;
    let key = parse_private_key(&key).ok_or(KeyPairError::MalformedKey)?;
    let is_pair = match (certificate.public_key, key) {
        (_, PrivateKey::Other) => return Err(KeyPairError::UnknownKeyType),
        (None | Some(PublicKey::Other), _) => return Err(KeyPairError::UnknownAlgorithm),
        (Some(public @ PublicKey::Rsa { .. }), PrivateKey::Matched(own @ PublicKey::Rsa { .. }))
        | (Some(public @ PublicKey::Ecdsa { .. }), PrivateKey::Matched(own @ PublicKey::Ecdsa { .. })) => {
            public == own
        }
        (Some(PublicKey::Ed25519(public)), PrivateKey::Ed25519(seed)) => {
            derive_ed25519(&seed).is_none_or(|own| own == public)
        }
        _ => return Err(KeyPairError::TypeMismatch),
    };
    if is_pair {
        Ok(())
    } else {
        Err(KeyPairError::KeyMismatch)
    }
}

/// The content of the first certificate.
fn find_certificate(text: &[u8]) -> Result<Vec<u8>, KeyPairError> {
    find_block(text, |label| label == "CERTIFICATE").map_err(|skipped| match skipped.as_slice() {
        [] => KeyPairError::NoPem("certificate"),
        [label] if label.ends_with("PRIVATE KEY") => KeyPairError::KeyForCertificate,
        _ => KeyPairError::NoCertificate(skipped),
    })
}

/// The content of the first private key.
fn find_key(text: &[u8]) -> Result<Vec<u8>, KeyPairError> {
    let is_key = |label: &str| label == "PRIVATE KEY" || label.ends_with(" PRIVATE KEY");
    find_block(text, is_key).map_err(|skipped| match skipped.as_slice() {
        [] => KeyPairError::NoPem("key"),
        [label] if label == "CERTIFICATE" => KeyPairError::CertificateForKey,
        _ => KeyPairError::NoKey(skipped),
    })
}

/// The content of the first block of PEM whose label is wanted, or the labels of all that there are.
fn find_block(text: &[u8], is_wanted: impl Fn(&str) -> bool) -> Result<Vec<u8>, Vec<String>> {
    let mut skipped = Vec::new();
    let mut rest = text;
    while let Some((block, following)) = decode_block(rest) {
        if is_wanted(&block.label) {
            return Ok(block.bytes);
        }
        skipped.push(block.label);
        rest = following;
    }
    Err(skipped)
}
