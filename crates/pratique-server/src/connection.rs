//! Serves one connection: TLS handshake, HTTP/1 or HTTP/2, shutdown.

use std::convert::Infallible;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::{CONNECTION, HeaderValue};
use http::{Request, Response, Version};
use hyper::body::{Body, Incoming};
use hyper::rt::{Read, Write};
use hyper::server::conn;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::client::{ClientPermissions, is_local};
use crate::connections::{ConnectionGuard, TrackedConnection};
use crate::context::ServerContext;
use crate::frames::{AddressShare, CountedStream, InTurn, MAX_STREAMS, OpenRequest};
use crate::response_body::{self, ResponseBody};
use crate::resting::RestingConnection;
use crate::routes;
use crate::shutdown::{ServerStage, closing};

/// The time for an evicted connection to finish its requests.
const EVICTION_GRACE: Duration = Duration::from_secs(1);
/// The time for a new connection to send its first request during shutdown.
const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// The part of the shutdown's grace period in which new connections may complete their handshake and first request.
const NEW_CONNECTION_SHARE: u32 = 3;
/// The interval of keep-alive probes, and the timeout for their responses.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(30);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of streams of a connection that are reset because of errors.
const MAX_ERRORS: usize = 128;

/// Serves a connection until it ends.
pub(crate) async fn serve(
    stream: TcpStream,
    guard: ConnectionGuard,
    context: Arc<ServerContext>,
    stage: watch::Receiver<ServerStage>,
) {
    prepare(&stream);
    let Ok(peer) = stream.peer_addr() else {
        return tracing::debug!("Connection closed by its client before it was served");
    };
    let is_local = is_local(peer.ip());
    let local = stream.local_addr().ok().map(|address| address.ip());
    let connection = &guard.connection;
    if context.certificates.is_none() {
        let client = ClientPermissions::new(None, is_local, local);
        let service = service(client, connection, &context, &stage);
        let http = http1(&context).serve_connection(TokioIo::new(stream), service);
        return drive(Box::pin(http), connection, stage).await;
    }
    let share = context.address_shares.of_address(peer.ip());
    // What a handshake needs is freed with it.
    let Some(stream) = Box::pin(shake_hands(stream, connection, &share, &context, &stage)).await else {
        return;
    };
    let http = open(stream, share, (is_local, local), connection, &context, &stage);
    drive(http, connection, stage).await;
}

/// Begins to serve a connection past its handshake.
// No part of the task: a future that has the stream for a moment keeps room for it.
fn open(
    stream: TlsStream<TcpStream>,
    share: Arc<AddressShare>,
    (is_local, local): (bool, Option<IpAddr>),
    connection: &Arc<TrackedConnection>,
    context: &Arc<ServerContext>,
    stage: &watch::Receiver<ServerStage>,
) -> OpenConnection {
    let (_, session) = stream.get_ref();
    let requests_certificates = context
        .certificates
        .as_ref()
        .is_some_and(|certificates| certificates.requests_client_certificates());
    let authenticated = requests_certificates.then(|| session.peer_certificates().is_some());
    let client = ClientPermissions::new(authenticated, is_local, local);
    let is_http2 = session.alpn_protocol() == Some(b"h2");
    let service = service(client, connection, context, stage);
    let (connection, context) = (connection.clone(), context.clone());
    if !is_http2 {
        let builder = http1(&context);
        let http = RestingConnection::new(stream, service, builder, connection, context);
        return Box::pin(http);
    }
    let turns = share.turns.clone();
    let stream = CountedStream::new(stream, connection.clone(), share, context.backlog.clone());
    let http = http2().serve_connection(TokioIo::new(stream), service);
    let http = BacklogLeaver(http, connection.clone());
    Box::pin(InTurn::new(http, &turns, move || connection.needs_turn()))
}

/// Makes the handshake of TLS; `None` if that fails or takes too long.
async fn shake_hands(
    stream: TcpStream,
    connection: &TrackedConnection,
    share: &AddressShare,
    context: &ServerContext,
    stage: &watch::Receiver<ServerStage>,
) -> Option<TlsStream<TcpStream>> {
    let certificates = context.certificates.as_ref()?;
    let handshake = TlsAcceptor::from(certificates.current()).accept(stream);
    let handshake = InTurn::new(handshake, &share.turns, || true);
    let accepting = timeout(context.limits.handshake_timeout, handshake);
    // The handshake continues during shutdown: the connection was accepted, so its client expects a response.
    let accepted = tokio::select! {
        accepted = accepting => accepted,
        () = new_connections_expired(stage.clone()) => return None,
        () = connection.close_requested() => return None,
    };
    match accepted {
        Ok(Ok(stream)) => return Some(stream),
        Ok(Err(error)) => tracing::debug!(err = %error, "TLS handshake failed"),
        Err(_) => tracing::debug!("TLS handshake took too long"),
    }
    None
}

fn http1(context: &ServerContext) -> conn::http1::Builder {
    let mut builder = conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(context.limits.head_timeout)
        .max_buf_size(64 << 10);
    builder
}

fn http2() -> conn::http2::Builder<TokioExecutor> {
    let mut builder = conn::http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE_INTERVAL)
        .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
        // What clients assume before they are told. API servers open another connection for more.
        .max_concurrent_streams(MAX_STREAMS)
        // Errors of a client for which streams are reset; RFC 9113 has none that many clients make.
        .max_local_error_reset_streams(MAX_ERRORS)
        .max_header_list_size(16 << 10)
        .initial_stream_window_size(256 << 10)
        // The data that a connection may send ahead: there is no memory for more from a thousand connections.
        .initial_connection_window_size(256 << 10);
    builder
}

type ResponseFuture = Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>;

/// What answers the requests of a connection.
pub(crate) trait RequestService:
    Service<Request<Incoming>, Response = Response<ResponseBody>, Error = Infallible, Future = ResponseFuture>
    + Unpin
{
}

impl<S> RequestService for S where
    S: Service<
            Request<Incoming>,
            Response = Response<ResponseBody>,
            Error = Infallible,
            Future = ResponseFuture,
        > + Unpin
{
}

fn service(
    client: ClientPermissions,
    connection: &Arc<TrackedConnection>,
    context: &Arc<ServerContext>,
    stage: &watch::Receiver<ServerStage>,
) -> impl RequestService + Send + use<> {
    let (connection, context, stage) = (connection.clone(), context.clone(), stage.clone());
    service_fn(move |request: Request<Incoming>| -> ResponseFuture {
        connection.request_started();
        let open = OpenRequest::new(&connection);
        let (connection, context, stage) = (connection.clone(), context.clone(), stage.clone());
        Box::pin(async move {
            let version = request.version();
            let leaving = || *stage.borrow() != ServerStage::Serving;
            let mut answer = match response_body::reserve(&request, &connection, &context) {
                Ok(share) => {
                    let answer =
                        routes::handle(request, None, client, leaving(), &connection, &context).await;
                    response_body::attach(answer, share, &connection)
                }
                Err(refusal) => response_body::attach(*refusal, None, &connection),
            };
            let length = answer.size_hint().exact();
            connection.frames.answered(length.unwrap_or_default());
            drop(open);
            if version <= Version::HTTP_11 && leaving() {
                answer
                    .headers_mut()
                    .insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok(answer)
        })
    })
}

/// A connection that can be shut down after its current requests.
trait GracefulShutdown: Future<Output = hyper::Result<()>> {
    fn shut_down(self: Pin<&mut Self>);
}

impl<I, S> GracefulShutdown for conn::http1::Connection<I, S>
where
    I: Read + Write + Unpin,
    S: RequestService,
{
    fn shut_down(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

impl<I, S> GracefulShutdown for conn::http2::Connection<I, S, TokioExecutor>
where
    I: Read + Write + Unpin,
    S: RequestService,
{
    fn shut_down(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

impl<S: RequestService> GracefulShutdown for RestingConnection<S> {
    fn shut_down(self: Pin<&mut Self>) {
        self.get_mut().end_after_request();
    }
}

/// A connection that gives up its place in the backlog where what it read was no request.
struct BacklogLeaver<H>(H, Arc<TrackedConnection>);

impl<H: Future + Unpin> Future for BacklogLeaver<H> {
    type Output = H::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<H::Output> {
        let polled = Pin::new(&mut self.0).poll(context);
        if self.1.frames.open_requests() == 0 {
            self.1.backlog.leave();
        }
        polled
    }
}

impl<H: GracefulShutdown + Unpin> GracefulShutdown for BacklogLeaver<H> {
    fn shut_down(self: Pin<&mut Self>) {
        Pin::new(&mut self.get_mut().0).shut_down();
    }
}

impl<H, N> GracefulShutdown for InTurn<H, N>
where
    H: GracefulShutdown,
    N: Fn() -> bool + Unpin,
{
    fn shut_down(self: Pin<&mut Self>) {
        self.inner().shut_down();
    }
}

/// A connection past its handshake. It is large, and moved: futures that take it would each have room for it.
type OpenConnection = Pin<Box<dyn GracefulShutdown + Send>>;

async fn drive(http: OpenConnection, connection: &TrackedConnection, stage: watch::Receiver<ServerStage>) {
    let ended = tokio::select! {
        ended = serve_until_closed(http, connection, stage) => ended,
        () = connection.aborted() => return tracing::debug!("Connection closed: its client does not read, or not fast enough"),
    };
    if let Some(Err(error)) = ended {
        tracing::debug!(err = %error, "Connection ended");
    }
}

/// Serves a connection until it ends, is evicted, or the server shuts down.
async fn serve_until_closed(
    mut http: OpenConnection,
    connection: &TrackedConnection,
    mut stage: watch::Receiver<ServerStage>,
) -> Option<hyper::Result<()>> {
    tokio::select! {
            ended = http.as_mut() => Some(ended),
            () = shutdown_is_due(&mut stage, connection) => {
                http.as_mut().shut_down();
                tokio::select! {
                    ended = http.as_mut() => Some(ended),
                    () = connection.close_requested() => None,
                }
            }
            () = connection.close_requested() => {
                http.as_mut().shut_down();
                if connection.closes_immediately() {
    None
    } else {
    timeout(EVICTION_GRACE, http.as_mut()).await.ok()
    }
            }
        }
}

/// Waits until the connection has to shut down. A new connection gets the time to send its first request, as its client
/// could not know that the server is about to end.
// As in Go: net/http/server.go, Server.closeIdleConns
async fn shutdown_is_due(stage: &mut watch::Receiver<ServerStage>, connection: &TrackedConnection) {
    let first_request = timeout(FIRST_REQUEST_TIMEOUT, connection.first_request());
    closing(stage).await;
    tokio::select! {
        // A request or the timeout.
        _ = first_request => {}
        () = new_connections_expired(stage.clone()) => {}
    }
}

/// Waits until the time for new connections during shutdown is over.
async fn new_connections_expired(mut stage: watch::Receiver<ServerStage>) {
    let grace = closing(&mut stage).await;
    sleep(grace / NEW_CONNECTION_SHARE).await;
}

/// Sets socket options. TCP keep-alive detects clients that are gone.
fn prepare(stream: &TcpStream) {
    let keep_alive = socket2::TcpKeepalive::new()
        .with_time(KEEP_ALIVE_INTERVAL)
        .with_interval(KEEP_ALIVE_TIMEOUT);
    let prepared = stream
        .set_nodelay(true)
        .and_then(|()| socket2::SockRef::from(stream).set_tcp_keepalive(&keep_alive));
    if let Err(error) = prepared {
        tracing::debug!(err = %error, "Connection cannot be prepared");
    }
}
