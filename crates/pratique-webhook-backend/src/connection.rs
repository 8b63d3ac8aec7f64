//! One connection: HTTP on a stream, until it is closed, cut or told to leave.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::answer::{Body, Cut, answer};
use crate::record::State;

/// What the handlers of a connection share.
pub(crate) struct Line {
    pub(crate) state: Arc<State>,
    /// The connection is reset.
    pub(crate) cut: Notify,
    /// The connection takes no further calls, and says so.
    pub(crate) leave: Notify,
    /// The same socket again, for its settings.
    socket: TcpStream,
}

impl Line {
    pub(crate) fn new(stream: TcpStream, state: &Arc<State>) -> io::Result<(Arc<Self>, TcpStream)> {
        stream.set_nodelay(true)?;
        let stream = stream.into_std()?;
        let socket = TcpStream::from_std(stream.try_clone()?)?;
        state.open.fetch_add(1, Ordering::SeqCst);
        state.accepted.fetch_add(1, Ordering::SeqCst);
        let line = Arc::new(Self {
            state: Arc::clone(state),
            cut: Notify::new(),
            leave: Notify::new(),
            socket,
        });
        Ok((line, TcpStream::from_std(stream)?))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.state.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Serves a connection of a client with a certificate of this name.
pub(crate) async fn serve<S>(stream: S, line: &Arc<Line>, client: Option<&'static str>, http2: bool)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let handler = Arc::clone(line);
    let service = service_fn(move |request: Request<Incoming>| {
        let line = Arc::clone(&handler);
        async move { handle(request, line, client).await }
    });
    let stream = TokioIo::new(stream);
    if http2 {
        let builder = http2::Builder::new(TokioExecutor::new());
        let mut connection = pin!(builder.serve_connection(stream, service));
        loop {
            tokio::select! {
                _ = connection.as_mut() => return,
                () = line.cut.notified() => return reset(line),
                () = line.leave.notified() => connection.as_mut().graceful_shutdown(),
            }
        }
    }
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new());
    let mut connection = pin!(builder.serve_connection(stream, service));
    loop {
        tokio::select! {
            _ = connection.as_mut() => return,
            () = line.cut.notified() => return reset(line),
            () = line.leave.notified() => connection.as_mut().graceful_shutdown(),
        }
    }
}

fn reset(line: &Line) {
    // Should it fail, the connection is closed in order instead, and the test that wanted a reset says so.
    let _ = line.socket.set_zero_linger();
}

async fn handle(
    request: Request<Incoming>,
    line: Arc<Line>,
    client: Option<&'static str>,
) -> Result<Response<Body>, Cut> {
    let answered = answer(request, &line, client).await;
    if let Err(Cut::Reset) = answered {
        line.cut.notify_one();
        // The connection ends before this does.
        std::future::pending::<Infallible>().await;
    }
    answered
}
