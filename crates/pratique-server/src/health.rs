//! The health listener: health checks and metrics over plain HTTP on a separate address, served by a separate thread.
//!
//! Probes and scrapers then depend neither on resources that clients of reviews may exhaust, nor on TLS.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};
use tokio::time::{sleep, timeout};

use crate::connections::{ConnectionGuard, ConnectionRegistry};
use crate::context::ServerContext;
use crate::listen;
use crate::routes;
use crate::shutdown::ServerStage;

/// The maximum number of connections. Past it, the oldest one is evicted.
const CONNECTIONS: usize = 64;
/// The timeout of a connection, which has one request.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause after a failure to accept a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The health listener, which serves until it is dropped.
#[derive(Debug)]
pub(crate) struct HealthListener {
    pub(crate) address: SocketAddr,
    _end: oneshot::Sender<()>,
}

impl HealthListener {
    /// Listens on those of the addresses that this machine has.
    pub(crate) fn start(
        addresses: &[SocketAddr],
        context: Arc<ServerContext>,
        stage: watch::Receiver<ServerStage>,
    ) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let listeners = {
            let _entered = runtime.enter();
            listen::listen_on_all(addresses)?
        };
        let first = listeners.first().ok_or(io::ErrorKind::AddrNotAvailable)?;
        let address = first.local_addr()?;
        let (end, ended) = oneshot::channel::<()>();
        thread::Builder::new().name("health".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = accept(&listeners, &context, &stage) => {}
                    // The sender was dropped.
                    _ = ended => {}
                }
            });
            // Connections are not waited for.
            runtime.shutdown_background();
        })?;
        Ok(HealthListener { address, _end: end })
    }
}

async fn accept(
    listeners: &[TcpListener],
    context: &Arc<ServerContext>,
    stage: &watch::Receiver<ServerStage>,
) {
    let connections = Arc::new(ConnectionRegistry::new(CONNECTIONS));
    loop {
        match listen::accept(listeners).await {
            Ok((stream, _)) => {
                if let Some(guard) = connections.register() {
                    let (context, stage) = (context.clone(), stage.clone());
                    tokio::spawn(async move { serve(stream, guard, context, stage).await });
                }
            }
            Err(error) => {
                tracing::debug!(err = %error, "Cannot accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn serve(
    stream: TcpStream,
    guard: ConnectionGuard,
    context: Arc<ServerContext>,
    stage: watch::Receiver<ServerStage>,
) {
    let service = service_fn(|request: Request<Incoming>| {
        // The body is not read.
        let (head, _) = request.into_parts();
        let leaving = *stage.borrow() != ServerStage::Serving;
        let answer = routes::health(&head, leaving, &context);
        async { Ok::<Response<Full<Bytes>>, Infallible>(answer.map(Full::new)) }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .keep_alive(false)
        .max_buf_size(16 << 10);
    let serving = timeout(
        CONNECTION_TIMEOUT,
        builder.serve_connection(TokioIo::new(stream), service),
    );
    tokio::select! {
        served = serving => match served {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(err = %error, "Connection ended"),
            Err(_) => tracing::debug!("Connection took too long"),
        },
        () = guard.connection.close_requested() => {}
    }
}
