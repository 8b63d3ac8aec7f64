//! The client of one endpoint: its connections, trust and credentials.

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;

use super::client_error::ClientError;
use super::credentials::{CredentialSource, WebhookHeaders};
use super::resolve::NameResolver;
use super::target::EndpointTarget;
use super::trust::{TrustError, TrustedAuthorities};
use super::verify::EndpointVerifier;
use super::{Certificate, identity};
use crate::caller::Endpoint;

/// Idle connections kept for one endpoint, and how long. As many as there were calls at once are kept: handshakes cost
/// more than they do.
const IDLE_CONNECTIONS: usize = 256;
const IDLE: Duration = Duration::from_secs(90);
/// When an idle connection is checked.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const KEEP_ALIVE_ANSWER: Duration = Duration::from_secs(15);

/// A client.
pub(super) struct EndpointClient {
    pub(super) http: reqwest::Client,
    pub(super) target: EndpointTarget,
    pub(super) headers: WebhookHeaders,
    pub(super) resolver: NameResolver,
    /// The settings of its connections.
    pub(super) tls: Arc<ClientConfig>,
    verifier: Arc<EndpointVerifier>,
}

impl EndpointClient {
    /// The client of an endpoint.
    pub(super) fn new(
        endpoint: &Endpoint,
        address: Option<&str>,
        source: &dyn CredentialSource,
    ) -> Result<Self, ClientError> {
        let target = EndpointTarget::new(endpoint, address)?;
        let credentials = source.credentials(&target.authority)?;
        let name = endpoint.server_name.clone();
        let name = name
            .map(ServerName::try_from)
            .transpose()
            .map_err(ClientError::library)?;
        let provider = pratique_crypto::provider().map_err(TrustError::from)?;
        let trust = TrustedAuthorities::new(endpoint.ca_bundle.as_deref())?;
        let verifier = Arc::new(EndpointVerifier::new(
            trust,
            provider.signature_verification_algorithms,
            name,
        ));
        let pair = credentials.certificate.as_ref();
        let pair = pair
            .map(|(certificate, key)| identity::read(certificate, key))
            .transpose()?;
        let mut tls = tls(provider, Arc::clone(&verifier), pair)?;
        let headers = credentials.headers()?;
        let resolver = NameResolver::new(target.pinned.clone());
        let mut builder = reqwest::Client::builder();
        tls.alpn_protocols = if target.is_local {
            vec![b"h2".to_vec(), b"http/1.1".to_vec()]
        } else {
            builder = builder.http1_only();
            vec![b"http/1.1".to_vec()]
        };
        let http = builder
            .tls_backend_preconfigured(tls.clone())
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .no_proxy()
            .dns_resolver(resolver.clone())
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .pool_idle_timeout(IDLE)
            .tcp_keepalive(KEEP_ALIVE)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .http2_keep_alive_timeout(KEEP_ALIVE_ANSWER)
            .build()
            .map_err(ClientError::library)?;
        Ok(Self {
            http,
            target,
            headers,
            resolver,
            tls: Arc::new(tls),
            verifier,
        })
    }

    /// The certificate of the last handshake.
    pub(super) fn certificate(&self) -> Option<Certificate> {
        self.verifier.certificate()
    }
}

fn tls(
    provider: Arc<CryptoProvider>,
    verifier: Arc<EndpointVerifier>,
    pair: Option<identity::ClientIdentity>,
) -> Result<ClientConfig, ClientError> {
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(ClientError::library)?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    match pair {
        None => Ok(builder.with_no_client_auth()),
        Some((chain, key)) => builder
            .with_client_auth_cert(chain, key)
            .map_err(|error| identity::mismatch(&error).into()),
    }
}
