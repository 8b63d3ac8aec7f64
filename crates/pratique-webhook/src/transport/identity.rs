//! A client certificate and its key, decoded from PEM.
// Upstream: the messages are those of Go's crypto/tls/tls.go, X509KeyPair.

use rustls::pki_types::pem::{PemObject, SectionKind};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Why a client certificate or its key is not usable. The messages are Go's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum IdentityError {
    /// The certificate is not PEM.
    #[error("tls: failed to find any PEM data in certificate input")]
    NoCertificatePem,
    /// The certificate is a key.
    #[error(
        "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may \
         have been switched"
    )]
    KeyAsCertificate,
    /// The certificate is something else; the types of its blocks are listed.
    #[error(
        "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the following \
         types: [{0}]"
    )]
    OtherThanCertificate(String),
    /// The key is not PEM.
    #[error("tls: failed to find any PEM data in key input")]
    NoKeyPem,
    /// The key is a certificate.
    #[error("tls: found a certificate rather than a key in the PEM for the private key")]
    CertificateAsKey,
    /// The key is something else; the types of its blocks are listed.
    #[error(
        "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM blocks of \
         the following types: [{0}]"
    )]
    OtherThanKey(String),
    /// The key is not that of the certificate.
    #[error("tls: private key does not match public key")]
    Mismatch,
    /// The key cannot be decoded.
    #[error("tls: failed to parse private key")]
    InvalidKey,
}

/// A chain of certificates and the first one's key.
pub(super) type ClientIdentity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// Decodes a certificate chain and its key.
pub(super) fn read(certificate: &[u8], key: &[u8]) -> Result<ClientIdentity, IdentityError> {
    let chain = chain(certificate)?;
    Ok((chain, private_key(key)?))
}

/// Why a key cannot be used with its certificate.
pub(super) fn mismatch(error: &rustls::Error) -> IdentityError {
    match error {
        rustls::Error::InconsistentKeys(_) => IdentityError::Mismatch,
        _ => IdentityError::InvalidKey,
    }
}

fn sections(pem: &[u8]) -> Vec<(SectionKind, Vec<u8>)> {
    <(SectionKind, Vec<u8>)>::pem_slice_iter(pem).flatten().collect()
}

fn chain(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, IdentityError> {
    let sections = sections(pem);
    let skipped: Vec<SectionKind> = sections.iter().map(|(kind, _)| *kind).collect();
    let is_certificate = |kind: &SectionKind| *kind == SectionKind::Certificate;
    let chain: Vec<CertificateDer<'static>> = sections
        .into_iter()
        .filter(|(kind, _)| is_certificate(kind))
        .map(|(_, der)| CertificateDer::from(der))
        .collect();
    if !chain.is_empty() {
        return Ok(chain);
    }
    Err(match skipped.as_slice() {
        [] => IdentityError::NoCertificatePem,
        [one] if is_key(*one) => IdentityError::KeyAsCertificate,
        kinds => IdentityError::OtherThanCertificate(listed(kinds)),
    })
}

fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, IdentityError> {
    let sections = sections(pem);
    let skipped: Vec<SectionKind> = sections.iter().map(|(kind, _)| *kind).collect();
    if let Some((kind, der)) = sections.into_iter().find(|(kind, _)| is_key(*kind)) {
        return Ok(match kind {
            SectionKind::RsaPrivateKey => PrivateKeyDer::Pkcs1(der.into()),
            SectionKind::EcPrivateKey => PrivateKeyDer::Sec1(der.into()),
            _ => PrivateKeyDer::Pkcs8(der.into()),
        });
    }
    Err(match skipped.as_slice() {
        [] => IdentityError::NoKeyPem,
        [SectionKind::Certificate] => IdentityError::CertificateAsKey,
        kinds => IdentityError::OtherThanKey(listed(kinds)),
    })
}

fn is_key(kind: SectionKind) -> bool {
    matches!(
        kind,
        SectionKind::PrivateKey | SectionKind::RsaPrivateKey | SectionKind::EcPrivateKey
    )
}

fn listed(kinds: &[SectionKind]) -> String {
    let name = |kind: &SectionKind| match kind {
        SectionKind::Certificate => "CERTIFICATE",
        SectionKind::PublicKey => "PUBLIC KEY",
        SectionKind::RsaPrivateKey => "RSA PRIVATE KEY",
        SectionKind::PrivateKey => "PRIVATE KEY",
        SectionKind::EcPrivateKey => "EC PRIVATE KEY",
        SectionKind::Crl => "X509 CRL",
        SectionKind::Csr => "CERTIFICATE REQUEST",
        _ => "UNKNOWN",
    };
    kinds.iter().map(name).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults() {
        const KEY: &[u8] = b"-----BEGIN EC PRIVATE KEY-----\nMIIB\n-----END EC PRIVATE KEY-----\n";
        const CERTIFICATE: &[u8] = b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
        const REQUEST: &[u8] =
            b"-----BEGIN CERTIFICATE REQUEST-----\nMIIB\n-----END CERTIFICATE REQUEST-----\n";
        let check = |certificate: &[u8], key: &[u8], expected: &str| {
            assert_eq!(read(certificate, key).unwrap_err().to_string(), expected);
        };
        check(
            b"abc",
            b"abc",
            "tls: failed to find any PEM data in certificate input",
        );
        check(
            CERTIFICATE,
            b"abc",
            "tls: failed to find any PEM data in key input",
        );
        check(
            KEY,
            CERTIFICATE,
            "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs \
             may have been switched",
        );
        check(
            CERTIFICATE,
            CERTIFICATE,
            "tls: found a certificate rather than a key in the PEM for the private key",
        );
        check(
            REQUEST,
            KEY,
            "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the \
             following types: [CERTIFICATE REQUEST]",
        );
    }
}
