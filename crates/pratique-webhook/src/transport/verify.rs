//! Verification of server certificates, with Go's reasons.
//!
//! The TLS library decides about chains and signatures. The checks that Go makes before are made here as well, in the
//! same order, so that a certificate with several faults is refused for the same one: validity, then the name, then the
//! signature.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};

use super::certificate::Certificate;
use super::refusal::CertificateRefusal;
use super::trust::{CertificateBundle, TrustedAuthorities};

/// The verifier of one endpoint.
#[derive(Debug)]
pub(super) struct EndpointVerifier {
    trust: TrustedAuthorities,
    signatures: WebPkiSupportedAlgorithms,
    /// The name that certificates must have, if it is not the host's.
    name: Option<ServerName<'static>>,
    /// The certificate of the last handshake.
    certificate: Mutex<Option<Certificate>>,
}

impl EndpointVerifier {
    pub(super) fn new(
        trust: TrustedAuthorities,
        signatures: WebPkiSupportedAlgorithms,
        name: Option<ServerName<'static>>,
    ) -> Self {
        Self {
            trust,
            signatures,
            name,
            certificate: Mutex::new(None),
        }
    }

    /// The certificate of the last handshake.
    pub(super) fn certificate(&self) -> Option<Certificate> {
        self.certificate
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn check_certificate(
        &self,
        der: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<(), CertificateRefusal> {
        let leaf = Certificate::read(der)?;
        *self.certificate.lock().unwrap_or_else(PoisonError::into_inner) = Some(leaf.clone());
        if let Some(fault) = leaf.validity_fault(now) {
            return Err(fault);
        }
        check_name(&leaf, name)?;
        match &self.trust {
            TrustedAuthorities::System(verifier) => verifier
                .verify_server_cert(der, intermediates, name, &[], now)
                .map(drop)
                .map_err(|error| refusal(&error)),
            TrustedAuthorities::Bundle(bundle) => check_chain(bundle, &leaf, der, intermediates, name, now),
        }
    }
}

impl ServerCertVerifier for EndpointVerifier {
    fn verify_server_cert(
        &self,
        der: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let name = self.name.as_ref().unwrap_or(host);
        match self.check_certificate(der, intermediates, name, now) {
            Ok(()) => Ok(ServerCertVerified::assertion()),
            Err(refusal) => {
                let refusal = OtherError(Arc::new(refusal));
                Err(Error::InvalidCertificate(CertificateError::Other(refusal)))
            }
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signature, &self.signatures)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signature, &self.signatures)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signatures.supported_schemes()
    }
}

/// A certificate that is itself in the bundle is trusted without further checks.
fn check_chain(
    bundle: &CertificateBundle,
    leaf: &Certificate,
    der: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
    name: &ServerName<'_>,
    now: UnixTime,
) -> Result<(), CertificateRefusal> {
    if bundle.contains(der) {
        return if leaf.serves {
            Ok(())
        } else {
            Err(CertificateRefusal::Usage)
        };
    }
    let unknown = |bad_signature: bool| {
        let hint = bundle.hint(leaf, bad_signature, now).unwrap_or_default();
        CertificateRefusal::UnknownAuthority(hint)
    };
    let verifier: Arc<WebPkiServerVerifier> = bundle.verifier(now).ok_or_else(|| unknown(false))?;
    match verifier.verify_server_cert(der, intermediates, name, &[], now) {
        Ok(_) => Ok(()),
        Err(Error::InvalidCertificate(CertificateError::UnknownIssuer)) => Err(unknown(false)),
        Err(Error::InvalidCertificate(CertificateError::BadSignature)) => Err(unknown(true)),
        Err(error) => Err(refusal(&error)),
    }
}

/// The reason of the library as Go has it, where Go has one.
fn refusal(error: &Error) -> CertificateRefusal {
    let Error::InvalidCertificate(error) = error else {
        return CertificateRefusal::Library(error.to_string());
    };
    match error {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            CertificateRefusal::UnknownAuthority(String::new())
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            CertificateRefusal::Usage
        }
        CertificateError::BadEncoding => CertificateRefusal::Malformed,
        CertificateError::UnhandledCriticalExtension => CertificateRefusal::CriticalExtension,
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => CertificateRefusal::Validity(String::new()),
        other => CertificateRefusal::Library(format!("x509: {other}")),
    }
}

/// Whether a certificate is for a name or address; the error lists those for which it is.
fn check_name(certificate: &Certificate, name: &ServerName<'_>) -> Result<(), CertificateRefusal> {
    match name {
        ServerName::DnsName(host) => check_host(certificate, host.as_ref()),
        ServerName::IpAddress(address) => check_address(certificate, IpAddr::from(*address)),
        _ => Ok(()),
    }
}

/// From this number on, names are counted and not listed.
const MAX_LISTED: usize = 100;

fn check_host(certificate: &Certificate, host: &str) -> Result<(), CertificateRefusal> {
    let names = &certificate.names;
    if names.iter().any(|pattern| matches(pattern, host)) {
        return Ok(());
    }
    let legacy = certificate.legacy_name.as_deref();
    Err(match names.len() {
        _ if legacy.is_some_and(|name| matches(name, host)) => CertificateRefusal::LegacyName,
        count @ MAX_LISTED.. => CertificateRefusal::ManyOthers {
            valid: format!("{count} names"),
            wanted: host.to_owned(),
        },
        0 => CertificateRefusal::NoNames(host.to_owned()),
        _ => CertificateRefusal::Other {
            valid: names.join(", "),
            wanted: host.to_owned(),
        },
    })
}

fn check_address(certificate: &Certificate, wanted: IpAddr) -> Result<(), CertificateRefusal> {
    let addresses = &certificate.addresses;
    if addresses
        .iter()
        .any(|address| address.to_canonical() == wanted.to_canonical())
    {
        return Ok(());
    }
    let legacy = certificate.legacy_name.as_deref();
    let listed: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    Err(match listed.len() {
        _ if legacy.is_some_and(|name| matches(name, &wanted.to_string())) => CertificateRefusal::LegacyName,
        0 => CertificateRefusal::NoAddresses(wanted),
        count @ MAX_LISTED.. => CertificateRefusal::ManyOthers {
            valid: format!("{count} IP SANs"),
            wanted: wanted.to_string(),
        },
        _ => CertificateRefusal::Other {
            valid: listed.join(", "),
            wanted: wanted.to_string(),
        },
    })
}

/// Compares labels; only a whole first one may be `*`.
fn matches(pattern: &str, host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    if pattern.is_empty() || host.is_empty() {
        return false;
    }
    let wild = pattern.strip_prefix("*.");
    match (wild, host.split_once('.')) {
        (Some(rest), Some((first, of))) => !first.is_empty() && rest.eq_ignore_ascii_case(of),
        (Some(_), None) => false,
        (None, _) => pattern.eq_ignore_ascii_case(host),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(names: &[&str], addresses: &[&str]) -> Certificate {
        let (signed, _) = rcgen_pair();
        let mut certificate = Certificate::read(&signed).unwrap();
        certificate.names = names.iter().map(|&name| name.to_owned()).collect();
        certificate.addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        certificate
    }

    fn rcgen_pair() -> (CertificateDer<'static>, rcgen::KeyPair) {
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        (params.self_signed(&key).unwrap().der().clone(), key)
    }

    #[test]
    fn names() {
        let check = |names: &[&str], addresses: &[&str], wanted: &str, expected: &str| {
            let wanted = ServerName::try_from(wanted.to_owned()).unwrap();
            let found = check_name(&certificate(names, addresses), &wanted);
            assert_eq!(
                found.err().map(|refusal| refusal.to_string()).unwrap_or_default(),
                expected
            );
        };
        check(&["a.example"], &[], "A.example", "");
        check(&["*.example"], &[], "a.example", "");
        check(
            &["*.example"],
            &[],
            "b.a.example",
            "x509: certificate is valid for *.example, not b.a.example",
        );
        check(
            &["a.b", "c"],
            &[],
            "d",
            "x509: certificate is valid for a.b, c, not d",
        );
        check(
            &[],
            &[],
            "d",
            "x509: certificate is not valid for any names, but wanted to match d",
        );
        check(&[], &["::1", "10.0.0.1"], "::1", "");
        check(
            &["a"],
            &[],
            "127.0.0.1",
            "x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
        );
        check(
            &[],
            &["10.0.0.1"],
            "127.0.0.1",
            "x509: certificate is valid for 10.0.0.1, not 127.0.0.1",
        );
        let many: Vec<String> = (0..100).map(|number| format!("n{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        check(
            &many,
            &[],
            "x",
            "x509: certificate is valid for 100 names, but none matched x",
        );
    }

    #[test]
    fn a_certificate_in_its_own_bundle_is_trusted() {
        let (signed, _) = rcgen_pair();
        let pem = format!(
            "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
            pratique_json::base64::encode(&signed)
        );
        let signatures = pratique_crypto::provider()
            .unwrap()
            .signature_verification_algorithms;
        let verifier = EndpointVerifier::new(
            TrustedAuthorities::new(Some(pem.as_bytes())).unwrap(),
            signatures,
            None,
        );
        let check = |host: &str, now: UnixTime, expected: &str| {
            let host = ServerName::try_from(host.to_owned()).unwrap();
            let found = verifier.check_certificate(&signed, &[], &host, now);
            assert_eq!(
                found.err().map(|refusal| refusal.to_string()).unwrap_or_default(),
                expected
            );
        };
        check("localhost", UnixTime::now(), "");
        check(
            "other",
            UnixTime::now(),
            "x509: certificate is valid for localhost, not other",
        );
        let early = UnixTime::since_unix_epoch(std::time::Duration::from_secs(0));
        check(
            "localhost",
            early,
            "x509: certificate has expired or is not yet valid: current time 1970-01-01T00:00:00Z is before 1975-01-01T00:00:00Z",
        );
    }
}
