//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONNECTION, HeaderValue};
use http::{Request, Version};
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::client::{Client, is_local};
use crate::connections::{Place, Slot};
use crate::context::ServerContext;
use crate::routes;

use crate::shutdown::{Stage, closing};
use crate::unsent::{self, Sending};

/// How long a connection that makes room may still take.
const LEAVING: Duration = Duration::from_secs(1);
/// How long a new connection may take to send its first request when the server ends.
const FIRST_REQUEST: Duration = Duration::from_secs(5);
/// Which part of the time that a server has to end a new connection may take for its handshake, and for its first request.
const NEWCOMERS_SHARE: u32 = 3;
/// How often a silent client is asked whether it is there, and how long it may take to say so.
const ALIVE: Duration = Duration::from_secs(30);
const ANSWER: Duration = Duration::from_secs(10);

/// Serves a connection to its end.
pub(crate) async fn serve(
    stream: TcpStream,
    place: Place,
    shared: Arc<ServerContext>,
    stage: watch::Receiver<Stage>,
) {
    prepare(&stream);
    let is_local = stream.peer_addr().is_ok_and(|address| is_local(address.ip()));
    let local = stream.local_addr().ok().map(|address| address.ip());
    let Some(certificates) = &shared.certificates else {
        let client = Client::of(None, is_local, local);
        return first(TokioIo::new(stream), client, &place.slot, &shared, stage).await;
    };
    let accepting = timeout(
        shared.limits.handshake,
        TlsAcceptor::from(certificates.current()).accept(stream),
    );
    // A handshake goes on when the server begins to end: the client may have a request, which it was promised an answer to
    // when its connection was taken.
    let accepted = tokio::select! {
        accepted = accepting => accepted,
        () = newcomers_had_their_time(stage.clone()) => return,
        () = place.slot.left() => return,
    };
    let stream = match accepted {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(err = %error, "TLS handshake failed"),
        Err(_) => return tracing::debug!("TLS handshake took too long"),
    };
    let (_, session) = stream.get_ref();
    let authenticated = certificates
        .asks_clients()
        .then(|| session.peer_certificates().is_some());
    let client = Client::of(authenticated, is_local, local);
    let second = session.alpn_protocol() == Some(b"h2");
    let stream = TokioIo::new(stream);
    if second {
        self::second(stream, client, &place.slot, &shared, stage).await;
    } else {
        first(stream, client, &place.slot, &shared, stage).await;
    }
}

/// HTTP/1.
async fn first<I>(
    io: I,
    client: Client,
    slot: &Arc<Slot>,
    shared: &Arc<ServerContext>,
    stage: watch::Receiver<Stage>,
) where
    I: Read + Write + Unpin + Send,
{
    let service = service(client, slot, shared, &stage);
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(shared.limits.head)
        .max_buf_size(64 << 10);
    drive(builder.serve_connection(io, service), slot, stage).await;
}

/// HTTP/2.
async fn second<I>(
    io: I,
    client: Client,
    slot: &Arc<Slot>,
    shared: &Arc<ServerContext>,
    stage: watch::Receiver<Stage>,
) where
    I: Read + Write + Unpin + Send,
{
    let service = service(client, slot, shared, &stage);
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .keep_alive_interval(ALIVE)
        .keep_alive_timeout(ANSWER)
        .max_concurrent_streams(250)
        .max_header_list_size(16 << 10)
        .initial_stream_window_size(256 << 10)
        // What a connection may send without being read: no server has memory for more of a thousand of them.
        .initial_connection_window_size(256 << 10);
    drive(builder.serve_connection(io, service), slot, stage).await;
}

type Replying = Pin<Box<dyn Future<Output = Result<Sending, Infallible>> + Send>>;

fn service(
    client: Client,
    slot: &Arc<Slot>,
    shared: &Arc<ServerContext>,
    stage: &watch::Receiver<Stage>,
) -> impl Service<Request<Incoming>, Response = Sending, Error = Infallible, Future = Replying> + use<> {
    let (slot, shared, stage) = (slot.clone(), shared.clone(), stage.clone());
    service_fn(move |request: Request<Incoming>| -> Replying {
        slot.asked();
        let (slot, shared, stage) = (slot.clone(), shared.clone(), stage.clone());
        Box::pin(async move {
            let version = request.version();
            let leaving = || *stage.borrow() != Stage::Serving;
            let mut answer = match unsent::share(&request, &slot, &shared) {
                Ok(share) => {
                    let answer = routes::answer(request, None, client, leaving(), &slot, &shared).await;
                    unsent::send(answer, share, &slot)
                }
                Err(refusal) => unsent::send(*refusal, None, &slot),
            };
            if version <= Version::HTTP_11 && leaving() {
                answer
                    .headers_mut()
                    .insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok(answer)
        })
    })
}

/// A connection that can be asked to end after what it has begun.
trait Ends: Future<Output = hyper::Result<()>> {
    fn end(self: Pin<&mut Self>);
}

impl<I, S> Ends for http1::Connection<I, S>
where
    I: Read + Write + Unpin,
    S: Service<Request<Incoming>, Response = Sending, Error = Infallible>,
{
    fn end(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

impl<I, S> Ends for http2::Connection<I, S, TokioExecutor>
where
    I: Read + Write + Unpin,
    S: Service<Request<Incoming>, Response = Sending, Error = Infallible, Future = Replying>,
{
    fn end(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

async fn drive(connection: impl Ends, slot: &Slot, stage: watch::Receiver<Stage>) {
    let ended = tokio::select! {
        ended = until_end(connection, slot, stage) => ended,
        () = slot.is_cut() => return tracing::debug!("Connection closed: its client does not read, or not fast enough"),
    };
    if let Some(Err(error)) = ended {
        tracing::debug!(err = %error, "Connection ended");
    }
}

/// Serves a connection until it ends, or is to.
async fn until_end(
    connection: impl Ends,
    slot: &Slot,
    mut stage: watch::Receiver<Stage>,
) -> Option<hyper::Result<()>> {
    let mut connection = pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = last_request(&mut stage, slot) => {
            connection.as_mut().end();
            tokio::select! {
                ended = connection.as_mut() => Some(ended),
                () = slot.left() => None,
            }
        }
        () = slot.left() => {
            connection.as_mut().end();
            match slot.is_hurried() {
                true => None,
                false => timeout(LEAVING, connection.as_mut()).await.ok(),
            }
        }
    }
}

/// Waits until a connection is to end after the requests that it has. One that is new gets the time to send its first: its
/// client could not know that the server is about to end. `net/http` does the same in `Server.Shutdown`.
async fn last_request(stage: &mut watch::Receiver<Stage>, slot: &Slot) {
    let first = timeout(FIRST_REQUEST, slot.first_request());
    closing(stage).await;
    tokio::select! {
        // Either it has a request, or it has had its time.
        _ = first => {}
        () = newcomers_had_their_time(stage.clone()) => {}
    }
}

/// Waits until so much of the time that a server has to end is over that connections which have not come to a request are
/// given up.
async fn newcomers_had_their_time(mut stage: watch::Receiver<Stage>) {
    let grace = closing(&mut stage).await;
    sleep(grace / NEWCOMERS_SHARE).await;
}

/// Clients that are gone without a word are noticed by the system.
fn prepare(stream: &TcpStream) {
    let alive = socket2::TcpKeepalive::new()
        .with_time(ALIVE)
        .with_interval(ANSWER);
    let prepared = stream
        .set_nodelay(true)
        .and_then(|()| socket2::SockRef::from(stream).set_tcp_keepalive(&alive));
    if let Err(error) = prepared {
        tracing::debug!(err = %error, "Connection cannot be prepared");
    }
}
