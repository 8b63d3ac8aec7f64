//! Two certificate authorities, the certificates that they signed, and TLS settings with them.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

type AuthorityError = Box<dyn std::error::Error + Send + Sync>;

const HOUR: Duration = Duration::from_secs(3600);

/// The subject and validity of a server's certificate.
pub(crate) struct CertificateIdentity {
    pub(crate) names: &'static [&'static str],
    pub(crate) expired: bool,
    pub(crate) untrusted: bool,
}

/// The authorities and the client's certificate.
pub(crate) struct BackendCertificates {
    pub(crate) ca_pem: String,
    pub(crate) client_pem: String,
    pub(crate) client_key_pem: String,
    client: CertificateDer<'static>,
    trusted: CertificateAuthority,
    other: CertificateAuthority,
}

struct CertificateAuthority {
    certificate: rcgen::Certificate,
    issuer: Issuer<'static, KeyPair>,
}

impl BackendCertificates {
    pub(crate) fn new() -> Result<Self, AuthorityError> {
        let trusted = CertificateAuthority::new("conformance-ca")?;
        let (client, key) =
            trusted.sign("webhook-client", &[], false, ExtendedKeyUsagePurpose::ClientAuth)?;
        Ok(Self {
            ca_pem: trusted.certificate.pem(),
            client_pem: client.pem(),
            client_key_pem: key.serialize_pem(),
            client: client.der().clone(),
            trusted,
            other: CertificateAuthority::new("other-ca")?,
        })
    }

    /// The TLS settings of a listener of this identity. Client certificates are requested, or required.
    pub(crate) fn server(
        &self,
        identity: &CertificateIdentity,
        client_wanted: bool,
        protocols: &[&str],
    ) -> Result<ServerConfig, AuthorityError> {
        let authority = if identity.untrusted {
            &self.other
        } else {
            &self.trusted
        };
        let usage = ExtendedKeyUsagePurpose::ServerAuth;
        let (certificate, key) = authority.sign("backend", identity.names, identity.expired, usage)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(self.trusted.certificate.der().clone())?;
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let clients = if client_wanted {
            clients
        } else {
            clients.allow_unauthenticated()
        };
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(clients.build()?)
            .with_single_cert(vec![certificate.der().clone()], key)?;
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        Ok(config)
    }

    /// The common name of a client's certificate.
    pub(crate) fn common_name(&self, certificate: &CertificateDer<'_>) -> &'static str {
        if *certificate == self.client {
            "webhook-client"
        } else {
            "somebody"
        }
    }
}

impl CertificateAuthority {
    fn new(name: &str) -> Result<Self, AuthorityError> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        params.not_before = (SystemTime::now() - HOUR).into();
        params.not_after = (SystemTime::now() + 24 * HOUR).into();
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?;
        Ok(Self {
            certificate,
            issuer: Issuer::new(params, key),
        })
    }

    fn sign(
        &self,
        name: &str,
        names: &[&str],
        expired: bool,
        usage: ExtendedKeyUsagePurpose,
    ) -> Result<(rcgen::Certificate, KeyPair), AuthorityError> {
        let mut params =
            CertificateParams::new(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())?;
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![usage];
        let now = SystemTime::now();
        params.not_before = (now - 48 * HOUR).into();
        params.not_after = if expired { now - 24 * HOUR } else { now + 12 * HOUR }.into();
        let key = KeyPair::generate()?;
        Ok((params.signed_by(&key, &self.issuer)?, key))
    }
}
