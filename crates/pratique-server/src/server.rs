//! The server: listens, accepts connections, shuts down.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::accept::AcceptFailures;
use crate::connection;
use crate::connections::ConnectionRegistry;
use crate::context::ServerContext;
use crate::handler::AdmissionHandler;
use crate::health::HealthListener;
use crate::listen;
use crate::response_body;
use crate::settings::Settings;
use crate::shutdown::{ServerShutdown, ServerStage};

/// A server for AdmissionReviews.
#[derive(Debug)]
pub struct Server {
    /// At least one.
    listeners: Vec<TcpListener>,
    health: Option<HealthListener>,
    context: Arc<ServerContext>,
    connections: Arc<ConnectionRegistry>,
    shutdown: ServerShutdown,
}

impl Server {
    /// Binds a server to an address.
    ///
    /// # Errors
    /// As [`bind_all`](Self::bind_all).
    pub async fn bind(
        address: SocketAddr,
        handler: Arc<dyn AdmissionHandler>,
        settings: Settings,
    ) -> io::Result<Self> {
        Self::bind_all(&[address], handler, settings).await
    }

    /// Binds a server to several addresses, such as those of a host name. Addresses that this machine does not have are
    /// skipped. If the first one has port 0, all use the port that the system assigns to it. `[::]` includes IPv4.
    ///
    /// # Errors
    /// If an address is in use or not permitted, if this machine has none of them, or if there are no certificates and an
    /// address is not a loopback address.
    pub async fn bind_all(
        addresses: &[SocketAddr],
        handler: Arc<dyn AdmissionHandler>,
        settings: Settings,
    ) -> io::Result<Self> {
        let outside = addresses.iter().find(|address| !address.ip().is_loopback());
        if let Some(address) = outside.filter(|_| settings.certificates.is_none()) {
            let message = format!("plain HTTP is served to this machine only, not at {address}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let listeners = listen::listen_on_all(addresses)?;
        let connections = Arc::new(ConnectionRegistry::new(settings.limits.connections.max(1)));
        let health = settings.health.clone();
        let (context, shutdown) = (
            Arc::new(ServerContext::new(handler, settings)),
            ServerShutdown::new(),
        );
        let health = if health.is_empty() {
            None
        } else {
            Some(HealthListener::start(&health, context.clone(), shutdown.watch()).map_err(health_error)?)
        };
        Ok(Server {
            listeners,
            health,
            context,
            connections,
            shutdown,
        })
    }

    /// The first address that it listens on.
    ///
    /// # Errors
    /// If the system does not return the address.
    pub fn address(&self) -> io::Result<SocketAddr> {
        let first = self.listeners.first().ok_or(io::ErrorKind::AddrNotAvailable)?;
        first.local_addr()
    }

    /// The address of the health listener, if there is one.
    #[must_use]
    pub fn health_address(&self) -> Option<SocketAddr> {
        Some(self.health.as_ref()?.address)
    }

    /// The handle that shuts the server down.
    #[must_use]
    pub fn shutdown(&self) -> ServerShutdown {
        self.shutdown.clone()
    }

    /// Serves until it is shut down and all requests are answered or the grace period is over. Returns whether all were
    /// answered.
    pub async fn run(self) -> bool {
        let mut stage = self.shutdown.watch();
        let supervised = self.context.clone();
        let supervisor = tokio::spawn(async move { supervised.supervise().await });
        let mut failures = AcceptFailures::default();
        let context = self.context.clone();
        let expiring = tokio::spawn(async move { response_body::expire(&context).await });
        let grace = loop {
            if let ServerStage::Closing(grace) = *stage.borrow_and_update() {
                break grace;
            }
            tokio::select! {
                accepted = listen::accept(&self.listeners) => self.accepted(accepted, &stage, &mut failures).await,
                // The sender is in `self`, so the channel is open.
                _ = stage.changed() => {}
            }
        };
        // Connections that the system has accepted are served.
        while let Some(waiting) = listen::waiting(&self.listeners) {
            self.accepted(Ok(waiting), &stage, &mut failures).await;
        }
        supervisor.abort();
        drop(self.listeners);
        let answered = timeout(grace, self.connections.all_closed()).await.is_ok();
        if !answered {
            tracing::warn!("Requests took too long to wait for");
            self.connections.close_all();
        }
        expiring.abort();
        drop(self.health);
        answered
    }

    async fn accepted(
        &self,
        accepted: io::Result<(tokio::net::TcpStream, SocketAddr)>,
        stage: &watch::Receiver<ServerStage>,
        failures: &mut AcceptFailures,
    ) {
        match accepted {
            // If all connections are busy, the new one is closed.
            Ok((stream, _)) => {
                if let Some(guard) = self.connections.register() {
                    let (context, stage) = (self.context.clone(), stage.clone());
                    tokio::spawn(async move { connection::serve(stream, guard, context, stage).await });
                    self.connections.throttle().await;
                }
            }
            Err(error) => failures.handle(&error, &self.connections).await,
        }
    }
}

fn health_error(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("health and metrics: {error}"))
}
