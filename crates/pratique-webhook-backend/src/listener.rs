//! The listeners, and the sockets behind them.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

use crate::authority::{BackendCertificates, CertificateIdentity};
use crate::connection::{SharedConnection, serve};
use crate::record::BackendState;

/// A listener, by its behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Listener {
    /// A certificate for 127.0.0.1, `localhost` and `hook.webhooks.svc`; HTTP/1.1.
    Backend,
    /// A certificate of an unknown authority.
    Untrusted,
    /// A certificate for `other.example.com`.
    WrongHost,
    /// A certificate that expired yesterday.
    Expired,
    /// HTTP without TLS.
    Plain,
    /// A port without a listener: connections are refused.
    Closed,
    /// Insists on a client certificate.
    ClientCertificate,
    /// As `Backend`, and offers HTTP/2.
    Http2,
    /// Accepts connections and sends nothing.
    Silent,
    /// As `Backend`, with answers that are not HTTP.
    Noise,
}

impl Listener {
    pub(crate) const ALL: [Self; 10] = [
        Self::Backend,
        Self::Untrusted,
        Self::WrongHost,
        Self::Expired,
        Self::Plain,
        Self::Closed,
        Self::ClientCertificate,
        Self::Http2,
        Self::Silent,
        Self::Noise,
    ];

    pub(crate) fn placeholder(self) -> &'static str {
        match self {
            Self::Backend => "BACKEND",
            Self::Untrusted => "UNTRUSTED",
            Self::WrongHost => "WRONGHOST",
            Self::Expired => "EXPIRED",
            Self::Plain => "PLAIN",
            Self::Closed => "CLOSED",
            Self::ClientCertificate => "MUTUAL",
            Self::Http2 => "HTTP2",
            Self::Silent => "SILENT",
            Self::Noise => "NOISE",
        }
    }

    fn identity(self) -> CertificateIdentity {
        CertificateIdentity {
            names: match self {
                Self::Untrusted | Self::Expired => &["localhost", "127.0.0.1"],
                Self::WrongHost => &["other.example.com"],
                _ => &["localhost", "hook.webhooks.svc", "127.0.0.1"],
            },
            expired: self == Self::Expired,
            untrusted: self == Self::Untrusted,
        }
    }
}

/// The protocol of a listener.
#[derive(Clone)]
enum ListenerProtocol {
    Plain,
    Silent,
    Noise(TlsAcceptor),
    Tls(TlsAcceptor, Arc<CommonNames>),
}

/// Names a client's certificate.
type CommonNames = dyn Fn(&CertificateDer<'_>) -> &'static str + Send + Sync;

/// A listener at work, until dropped.
pub(crate) struct ListeningBackend {
    pub(crate) listener: Listener,
    pub(crate) address: SocketAddr,
    task: Option<JoinHandle<()>>,
    /// Reserves the port of a listener that does not listen.
    _reserved: Option<TcpSocket>,
}

impl Drop for ListeningBackend {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl ListeningBackend {
    pub(crate) async fn start(
        listener: Listener,
        certificates: &Arc<BackendCertificates>,
        state: &Arc<BackendState>,
    ) -> io::Result<Self> {
        let any: SocketAddr = (std::net::Ipv4Addr::LOCALHOST, 0).into();
        if listener == Listener::Closed {
            let socket = TcpSocket::new_v4()?;
            socket.bind(any)?;
            return Ok(Self {
                listener,
                address: socket.local_addr()?,
                task: None,
                _reserved: Some(socket),
            });
        }
        let socket = TcpListener::bind(any).await?;
        let address = socket.local_addr()?;
        let protocol = listener_protocol(listener, certificates)?;
        Ok(Self {
            listener,
            address,
            task: Some(tokio::spawn(accept(socket, protocol, Arc::clone(state)))),
            _reserved: None,
        })
    }
}

fn listener_protocol(
    listener: Listener,
    certificates: &Arc<BackendCertificates>,
) -> io::Result<ListenerProtocol> {
    let protocols: &[&str] = match listener {
        Listener::Plain => return Ok(ListenerProtocol::Plain),
        Listener::Silent => return Ok(ListenerProtocol::Silent),
        Listener::Http2 => &["h2", "http/1.1"],
        _ => &["http/1.1"],
    };
    let requires_certificate = listener == Listener::ClientCertificate;
    let config = certificates.server(&listener.identity(), requires_certificate, protocols);
    let acceptor = TlsAcceptor::from(Arc::new(config.map_err(io::Error::other)?));
    if listener == Listener::Noise {
        return Ok(ListenerProtocol::Noise(acceptor));
    }
    let certificates = Arc::clone(certificates);
    Ok(ListenerProtocol::Tls(
        acceptor,
        Arc::new(move |one: &CertificateDer<'_>| certificates.common_name(one)),
    ))
}

/// Serves connections; they end with this task.
async fn accept(socket: TcpListener, protocol: ListenerProtocol, state: Arc<BackendState>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = socket.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let Ok((shared, stream)) = SharedConnection::new(stream, &state) else { continue };
                connections.spawn(converse(shared, stream, protocol.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn converse(shared: Arc<SharedConnection>, stream: tokio::net::TcpStream, protocol: ListenerProtocol) {
    let disconnected = shared.state.disconnected();
    let served = async {
        match protocol {
            ListenerProtocol::Plain => serve(stream, &shared, None, false).await,
            ListenerProtocol::Silent => listen(stream).await,
            ListenerProtocol::Noise(acceptor) => {
                if let Ok(mut stream) = acceptor.accept(stream).await
                    && stream.read(&mut [0; 1024]).await.is_ok_and(|length| length > 0)
                    && stream.write_all(b"220 mail.example.com ESMTP\r\n").await.is_ok()
                {
                    listen(stream).await;
                }
            }
            ListenerProtocol::Tls(acceptor, names) => {
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let (_, session) = stream.get_ref();
                let certificates = session.peer_certificates().unwrap_or_default();
                let client = certificates.first().map(|certificate| names(certificate));
                let http2 = session.alpn_protocol() == Some(b"h2");
                serve(stream, &shared, client, http2).await;
            }
        }
    };
    tokio::select! {
        () = served => {}
        () = disconnected => {}
    }
}

/// Reads all bytes to the end of the stream.
async fn listen(mut stream: impl AsyncRead + Unpin) {
    let mut heard = [0; 1024];
    while stream.read(&mut heard).await.is_ok_and(|length| length > 0) {}
}
