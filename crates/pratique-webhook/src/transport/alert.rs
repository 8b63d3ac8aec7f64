//! The alert of a server that closes connections before a request is sent.
//!
//! With TLS 1.3 a server checks the certificate of a client, or its lack, after the client has taken the handshake for done. An alert
//! that arrives before the request is read by nobody who waits for an answer: the client only learns that the connection is closed.
//! Go's client waits for neither, and reports the alert.
// Upstream: Go's net/http/transport.go, persistConn.mapRoundTripError

use std::io;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use rustls::pki_types::ServerName;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use super::client::EndpointClient;
use super::failure::{address_of, bare_host, find};

/// How long an alert is waited for: the server has refused connections before.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// The alert to a connection on which nothing is sent, or the error of its handshake, if there is one.
pub(super) async fn read_alert(
    client: &EndpointClient,
    url: &Url,
    deadline: Instant,
) -> Option<rustls::Error> {
    let until = deadline.min(Instant::now() + MAX_WAIT);
    let listened = timeout_at(until, listen(client, url)).await.ok()?;
    find::<rustls::Error>(&listened.err()?).cloned()
}

/// Connects, and reads until something comes.
async fn listen(client: &EndpointClient, url: &Url) -> io::Result<()> {
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let address = address_of(client, url).ok_or_else(missing)?;
    let name = ServerName::try_from(bare_host(url).to_owned()).map_err(io::Error::other)?;
    let connector = TlsConnector::from(Arc::clone(&client.tls));
    let stream = TcpStream::connect(address).await?;
    let mut stream = connector.connect(name, stream).await?;
    stream.read(&mut [0; 1]).await.map(drop)
}
