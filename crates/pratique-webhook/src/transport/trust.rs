//! The trusted authorities: those of a bundle, or those of the system.

use std::sync::{Arc, OnceLock};

use pratique_crypto::{NoProvider, provider};

use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, UnixTime};

use super::certificate::Certificate;
use super::refusal::CertificateRefusal;

/// Why there are no usable authorities. The messages are Go's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TrustError {
    /// The bundle is not PEM.
    #[error("unable to load root certificates: unable to parse bytes as PEM block")]
    NoPem,
    /// None of its certificates can be decoded.
    #[error("unable to load root certificates: failed to parse certificate: {0}")]
    Certificate(CertificateRefusal),
    /// It has no certificate.
    #[error("unable to load root certificates: no valid certificate authority data seen")]
    NoCertificate,
    /// The authorities of the system cannot be loaded.
    #[error("x509: failed to load system roots and no roots provided: {0}")]
    System(String),
    /// Nothing can be verified without a crypto provider.
    #[error(transparent)]
    Provider(#[from] NoProvider),
}

/// The trusted authorities.
#[derive(Debug)]
pub(super) enum TrustedAuthorities {
    /// Those of the operating system.
    System(Arc<dyn ServerCertVerifier>),
    /// Those of a bundle.
    Bundle(CertificateBundle),
}

/// The certificates of a bundle.
#[derive(Debug)]
pub(super) struct CertificateBundle {
    roots: Vec<TrustedRoot>,
    verifier: Option<Arc<WebPkiServerVerifier>>,
    /// The period in which all of them are valid: its start and end.
    from: i64,
    until: i64,
}

#[derive(Debug)]
struct TrustedRoot {
    der: CertificateDer<'static>,
    read: Certificate,
}

impl TrustedAuthorities {
    /// The authorities of a PEM bundle; those of the system without one.
    pub(super) fn new(bundle: Option<&[u8]>) -> Result<Self, TrustError> {
        match bundle.filter(|bundle| !bundle.is_empty()) {
            None => system().map(Self::System),
            Some(pem) => CertificateBundle::read(pem).map(Self::Bundle),
        }
    }
}

/// The verifier with the authorities of the system, loaded once.
fn system() -> Result<Arc<dyn ServerCertVerifier>, TrustError> {
    static SYSTEM: OnceLock<Result<Arc<dyn ServerCertVerifier>, TrustError>> = OnceLock::new();
    let load = || -> Result<Arc<dyn ServerCertVerifier>, TrustError> {
        let verifier = rustls_platform_verifier::Verifier::new(provider()?);
        match verifier {
            Ok(verifier) => Ok(Arc::new(verifier)),
            Err(reason) => Err(TrustError::System(reason.to_string())),
        }
    };
    SYSTEM.get_or_init(load).clone()
}

impl CertificateBundle {
    fn read(pem: &[u8]) -> Result<Self, TrustError> {
        let mut first_fault = None;
        let mut roots = Vec::new();
        for der in CertificateDer::pem_slice_iter(pem).flatten() {
            match Certificate::read(&der) {
                Ok(read) => roots.push(TrustedRoot { der, read }),
                Err(fault) => drop(first_fault.get_or_insert(fault)),
            }
        }
        if roots.is_empty() {
            return Err(match first_fault {
                _ if !has_block(pem) => TrustError::NoPem,
                Some(fault) => TrustError::Certificate(fault),
                None => TrustError::NoCertificate,
            });
        }
        Ok(Self::new(roots))
    }

    fn new(roots: Vec<TrustedRoot>) -> Self {
        let signing = |root: &&TrustedRoot| !root.read.cannot_sign;
        Self {
            verifier: verifier(roots.iter().filter(signing)),
            from: roots
                .iter()
                .map(|root| root.read.not_before)
                .max()
                .unwrap_or(i64::MIN),
            until: roots
                .iter()
                .map(|root| root.read.not_after)
                .min()
                .unwrap_or(i64::MAX),
            roots,
        }
    }

    /// Whether a certificate is itself in the bundle.
    pub(super) fn contains(&self, der: &CertificateDer<'_>) -> bool {
        self.roots.iter().any(|root| root.der == *der)
    }

    /// The verifier with the authorities that may sign at that time; `None` if there is no such authority.
    pub(super) fn verifier(&self, now: UnixTime) -> Option<Arc<WebPkiServerVerifier>> {
        let at = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        if self.from <= at && at <= self.until {
            return self.verifier.clone();
        }
        let signing = |root: &&TrustedRoot| !root.read.cannot_sign && root.read.validity_fault(now).is_none();
        verifier(self.roots.iter().filter(signing))
    }

    /// Go's hint at why an authority of the bundle did not sign a certificate that names it.
    pub(super) fn hint(&self, leaf: &Certificate, bad_signature: bool, now: UnixTime) -> Option<String> {
        let root = self
            .roots
            .iter()
            .find(|root| root.read.subject_raw == leaf.issuer_raw)?;
        let reason = if root.read.cannot_sign {
            "x509: invalid signature: parent certificate cannot sign this kind of certificate".to_owned()
        } else if bad_signature {
            "x509: ECDSA verification failure".to_owned()
        } else {
            root.read.validity_fault(now)?.to_string()
        };
        Some(format!(
            " (possibly because of {} while trying to verify candidate authority certificate {})",
            pratique_gotext::strconv::quote(&reason),
            pratique_gotext::strconv::quote(&root.read.subject)
        ))
    }
}

fn verifier<'a>(roots: impl Iterator<Item = &'a TrustedRoot>) -> Option<Arc<WebPkiServerVerifier>> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(roots.map(|root| root.der.clone()));
    if store.is_empty() {
        return None;
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider().ok()?)
        .build()
        .ok()
}

/// Whether there is a block whose base64 is whole, as Go wants it.
fn has_block(pem: &[u8]) -> bool {
    let text = String::from_utf8_lossy(pem);
    text.split("-----BEGIN ").skip(1).any(|block| {
        let inside = block.split_once("-----END ").map(|(inside, _)| inside);
        let base64 = inside.and_then(|inside| inside.split_once("-----"));
        base64.is_some_and(|(_, base64)| {
            let text: String = base64.split_ascii_whitespace().collect();
            pratique_json::base64::decode(&text).is_ok()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_bundles() {
        let check = |pem: &str, expected: &str| {
            let fault = TrustedAuthorities::new(Some(pem.as_bytes()))
                .map(|_| ())
                .unwrap_err();
            assert_eq!(
                fault.to_string(),
                format!("unable to load root certificates: {expected}")
            );
        };
        check("no pem", "unable to parse bytes as PEM block");
        check("\n", "unable to parse bytes as PEM block");
        check(
            "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n",
            "unable to parse bytes as PEM block",
        );
        check(
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
            "failed to parse certificate: x509: malformed certificate",
        );
        check(
            "-----BEGIN EC PRIVATE KEY-----\nMIIB\n-----END EC PRIVATE KEY-----\n",
            "no valid certificate authority data seen",
        );
    }
}
