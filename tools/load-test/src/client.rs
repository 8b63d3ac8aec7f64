//! A client of HTTP over TLS that keeps its connection, as API servers do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pratique_harness::ToolError;
use rustls::client::WantsClientCert;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, ConfigBuilder, RootCertStore, StreamOwned};

/// How long to wait for anything.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whose certificates are trusted.
#[derive(Clone, Debug)]
pub struct ClientTrust(Arc<ClientConfig>);

/// A connection.
pub struct LoadClient(BufReader<StreamOwned<ClientConnection, TcpStream>>);

/// An answer.
pub struct LoadAnswer {
    /// The status code; 0 where there is none.
    pub code: u16,
    /// Whether the connection ends with it.
    pub last: bool,
    /// As long as `Content-Length` says.
    pub body: Vec<u8>,
}

impl ClientTrust {
    /// In certificates that this authority signed.
    pub fn from_authority(authority: &Path) -> Result<Self, ToolError> {
        Ok(ClientTrust(Arc::new(builder(authority)?.with_no_client_auth())))
    }

    /// The same, of a client that shows a certificate.
    pub fn with_certificate(authority: &Path, certificate: &Path, key: &Path) -> Result<Self, ToolError> {
        let failed = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let chain =
            CertificateDer::from_pem_file(certificate).map_err(|error| failed(certificate, &error))?;
        let private = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, &error))?;
        let config = builder(authority)?.with_client_auth_cert(vec![chain], private);
        Ok(ClientTrust(Arc::new(
            config.map_err(|error| failed(key, &error))?,
        )))
    }

    /// The same, for a client that speaks only this protocol, such as `h2`.
    pub fn with_protocol(&self, protocol: &str) -> Self {
        let mut config = ClientConfig::clone(&self.0);
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        ClientTrust(Arc::new(config))
    }

    /// The configuration of a client.
    pub(crate) fn config(&self) -> ClientConfig {
        ClientConfig::clone(&self.0)
    }
}

/// A configuration that trusts in certificates that this authority signed.
fn builder(authority: &Path) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, ToolError> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", authority.display());
    let certificate = CertificateDer::from_pem_file(authority).map_err(|error| failed(&error))?;
    let mut roots = RootCertStore::empty();
    roots.add(certificate).map_err(|error| failed(&error))?;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?;
    Ok(config.with_root_certificates(roots))
}

/// The head of a review that is posted.
pub fn head(path: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
}

impl LoadClient {
    /// Connects. Whether anybody is there shows with the first request.
    pub fn connect(address: SocketAddr, trust: &ClientTrust) -> Result<Self, ToolError> {
        let failed = |error: &dyn std::fmt::Display| format!("connecting: {error}");
        let stream = TcpStream::connect(address).map_err(|error| failed(&error))?;
        stream.set_nodelay(true).map_err(|error| failed(&error))?;
        stream
            .set_read_timeout(Some(PATIENCE))
            .map_err(|error| failed(&error))?;
        let name = ServerName::IpAddress(address.ip().into());
        let connection = ClientConnection::new(trust.0.clone(), name).map_err(|error| failed(&error))?;
        Ok(LoadClient(BufReader::new(StreamOwned::new(connection, stream))))
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.get_mut().write_all(bytes)?;
        self.0.get_mut().flush()
    }

    /// Posts a body for review.
    pub fn review(&mut self, body: &str) -> Result<LoadAnswer, ToolError> {
        self.post("/validate?timeout=10s", body)
    }

    /// Posts a body.
    pub fn post(&mut self, path: &str, body: &str) -> Result<LoadAnswer, ToolError> {
        self.ask(&[head(path, body.len()).as_bytes(), body.as_bytes()].concat())
    }

    /// Gets what is at a path.
    pub fn get(&mut self, path: &str) -> Result<LoadAnswer, ToolError> {
        self.ask(format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").as_bytes())
    }

    fn ask(&mut self, whole: &[u8]) -> Result<LoadAnswer, ToolError> {
        self.send(whole).map_err(|error| format!("sending: {error}"))?;
        self.read()
            .map_err(|error| ToolError::from(format!("reading: {error}")))
    }

    /// Reads bytes as they are: how many there were.
    pub fn receive(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }

    /// Has sending fail that does not get on for so long.
    pub fn give_up_sending_after(&mut self, time: Duration) -> std::io::Result<()> {
        self.0.get_mut().sock.set_write_timeout(Some(time))
    }

    /// Has receiving fail for which nothing came for so long.
    pub fn give_up_receiving_after(&mut self, time: Duration) -> std::io::Result<()> {
        self.0.get_mut().sock.set_read_timeout(Some(time))
    }

    /// Reads an answer.
    pub fn read(&mut self) -> std::io::Result<LoadAnswer> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.0.read_line(&mut head)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        let head = head.to_ascii_lowercase();
        let value = |name: &str| {
            head.lines()
                .find_map(|line| line.strip_prefix(name))
                .map(str::trim)
        };
        let length = value("content-length:")
            .and_then(|text| text.parse().ok())
            .unwrap_or(0);
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        let code = head.split(' ').nth(1).and_then(|text| text.parse().ok());
        Ok(LoadAnswer {
            code: code.unwrap_or_default(),
            last: value("connection:") == Some("close"),
            body,
        })
    }
}
