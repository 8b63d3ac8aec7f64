//! Health and metrics at an address of their own: plain HTTP, served by a thread of its own.
//!
//! Probes and scrapers then depend on nothing that clients of reviews could use up, nor on TLS.

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

use crate::connections::{Connections, Place};
use crate::context::ServerContext;
use crate::listen;
use crate::routes;
use crate::shutdown::Stage;

/// How many connections there may be. Past that, new ones take the place of the oldest.
const CONNECTIONS: usize = 64;
/// How long a connection may take, for its one request.
const TIME: Duration = Duration::from_secs(10);
/// How long to wait when the system gives no connection.
const BREATH: Duration = Duration::from_millis(100);

/// Serves until this is dropped.
#[derive(Debug)]
pub(crate) struct Health {
    pub(crate) address: SocketAddr,
    _end: oneshot::Sender<()>,
}

impl Health {
    /// Serves at these addresses of which this machine has one.
    pub(crate) fn start(
        addresses: &[SocketAddr],
        shared: Arc<ServerContext>,
        stage: watch::Receiver<Stage>,
    ) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let listeners = {
            let _entered = runtime.enter();
            listen::all(addresses)?
        };
        let first = listeners.first().ok_or(io::ErrorKind::AddrNotAvailable)?;
        let address = first.local_addr()?;
        let (end, ended) = oneshot::channel::<()>();
        thread::Builder::new().name("health".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = accept(&listeners, &shared, &stage) => {}
                    // That it is dropped ends it.
                    _ = ended => {}
                }
            });
            // Others end the server.
            runtime.shutdown_background();
        })?;
        Ok(Health { address, _end: end })
    }
}

async fn accept(listeners: &[TcpListener], shared: &Arc<ServerContext>, stage: &watch::Receiver<Stage>) {
    let connections = Arc::new(Connections::new(CONNECTIONS));
    loop {
        match listen::accept(listeners).await {
            Ok((stream, _)) => {
                if let Some(place) = connections.enter() {
                    let (shared, stage) = (shared.clone(), stage.clone());
                    tokio::spawn(async move { serve(stream, place, shared, stage).await });
                }
            }
            Err(error) => {
                tracing::debug!(err = %error, "Cannot accept a connection");
                sleep(BREATH).await;
            }
        }
    }
}

async fn serve(stream: TcpStream, place: Place, shared: Arc<ServerContext>, stage: watch::Receiver<Stage>) {
    let service = service_fn(|request: Request<Incoming>| {
        // Its body is not read.
        let (head, _) = request.into_parts();
        let leaving = *stage.borrow() != Stage::Serving;
        let answer = routes::health(&head, leaving, &shared);
        async { Ok::<Response<Full<Bytes>>, Infallible>(answer.map(Full::new)) }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .keep_alive(false)
        .max_buf_size(16 << 10);
    let serving = timeout(TIME, builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        served = serving => match served {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(err = %error, "Connection ended"),
            Err(_) => tracing::debug!("Connection took too long"),
        },
        () = place.slot.left() => {}
    }
}
