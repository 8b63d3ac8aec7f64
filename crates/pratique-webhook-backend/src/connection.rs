//! One connection: HTTP on a stream, until it is closed, cut or shut down by a script.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};

use crate::answer::{ConnectionCut, ScriptedBody, answer};
use crate::record::BackendState;
use crate::script::RefusedCall;
use crate::shared_stream::SharedStream;

/// The state that the handlers of a connection share.
pub(crate) struct SharedConnection {
    pub(crate) state: Arc<BackendState>,
    /// The connection is reset.
    pub(crate) cut: Notify,
    /// Notified when the connection has to announce that it takes no further calls.
    pub(crate) leave: Notify,
    /// The connection is left with this error, and answers nothing that is under way.
    abandon: watch::Sender<Option<h2::Reason>>,
    /// The same socket again, for its settings.
    socket: TcpStream,
}

impl SharedConnection {
    pub(crate) fn new(stream: TcpStream, state: &Arc<BackendState>) -> io::Result<(Arc<Self>, TcpStream)> {
        stream.set_nodelay(true)?;
        let stream = stream.into_std()?;
        let socket = TcpStream::from_std(stream.try_clone()?)?;
        state.open.fetch_add(1, Ordering::SeqCst);
        state.accepted.fetch_add(1, Ordering::SeqCst);
        let shared = Arc::new(Self {
            state: Arc::clone(state),
            cut: Notify::new(),
            leave: Notify::new(),
            abandon: watch::Sender::new(None),
            socket,
        });
        Ok((shared, TcpStream::from_std(stream)?))
    }
}

impl Drop for SharedConnection {
    fn drop(&mut self) {
        self.state.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Serves a connection of a client with a certificate of this name.
pub(crate) async fn serve<S>(
    stream: S,
    shared: &Arc<SharedConnection>,
    client: Option<&'static str>,
    http2: bool,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let handler = Arc::clone(shared);
    let service = service_fn(move |request: Request<Incoming>| {
        let shared = Arc::clone(&handler);
        async move { handle(request, shared, client).await }
    });
    if http2 {
        let stream = SharedStream::new(stream);
        let builder = http2::Builder::new(TokioExecutor::new());
        let mut connection = Box::pin(builder.serve_connection(TokioIo::new(stream.clone()), service));
        let mut abandoned = shared.abandon.subscribe();
        loop {
            tokio::select! {
                _ = connection.as_mut() => return,
                () = shared.cut.notified() => return reset(shared),
                () = shared.leave.notified() => connection.as_mut().graceful_shutdown(),
                _ = abandoned.changed() => {
                    let reason = (*abandoned.borrow()).unwrap_or(h2::Reason::NO_ERROR);
                    drop(connection);
                    return go_away(stream, reason).await;
                }
            }
        }
    }
    let stream = TokioIo::new(stream);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new());
    let mut connection = pin!(builder.serve_connection(stream, service));
    loop {
        tokio::select! {
            _ = connection.as_mut() => return,
            () = shared.cut.notified() => return reset(shared),
            () = shared.leave.notified() => connection.as_mut().graceful_shutdown(),
        }
    }
}

/// Announces that no stream was accepted, and closes. Nothing else is being sent, so the bytes sent end with a frame.
async fn go_away<S: AsyncRead + AsyncWrite + Unpin>(mut stream: SharedStream<S>, reason: h2::Reason) {
    let mut frame = vec![0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    frame.extend(u32::from(reason).to_be_bytes());
    // If it fails, so does the test that needs it.
    let _ = stream.write_all(&frame).await;
    let _ = stream.shutdown().await;
    // A connection that is closed with unread bytes is reset.
    let _ = tokio::time::timeout(Duration::from_secs(1), async {
        let mut heard = [0; 1024];
        while stream.read(&mut heard).await.is_ok_and(|length| length > 0) {}
    })
    .await;
}

fn reset(shared: &SharedConnection) {
    // If it fails, the connection is closed in order instead, and the test that needs a reset fails.
    let _ = shared.socket.set_zero_linger();
}

async fn handle(
    request: Request<Incoming>,
    shared: Arc<SharedConnection>,
    client: Option<&'static str>,
) -> Result<Response<ScriptedBody>, ConnectionCut> {
    let answered = answer(request, &shared, client).await;
    match answered {
        Err(ConnectionCut::Reset) => shared.cut.notify_one(),
        Err(ConnectionCut::Refused(RefusedCall::Leave)) => {
            shared.abandon.send_replace(Some(h2::Reason::NO_ERROR));
        }
        Err(ConnectionCut::Refused(RefusedCall::Calm)) => {
            shared.abandon.send_replace(Some(h2::Reason::ENHANCE_YOUR_CALM));
        }
        answered => return answered,
    }
    // The connection ends before this does.
    match std::future::pending::<Infallible>().await {}
}
