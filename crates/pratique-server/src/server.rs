//! The server: takes connections, and ends when told.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::accept::AcceptFailures;
use crate::connection;
use crate::connections::Connections;
use crate::context::ServerContext;
pub(crate) use crate::context::ServerContext as Shared;
use crate::health::Health;
use crate::listen;
use crate::reviewer::Reviewer;
use crate::settings::Settings;
use crate::shutdown::{Shutdown, Stage};
use crate::unsent;

/// Answers AdmissionReviews.
#[derive(Debug)]
pub struct Server {
    /// One or more.
    listeners: Vec<TcpListener>,
    health: Option<Health>,
    shared: Arc<ServerContext>,
    connections: Arc<Connections>,
    shutdown: Shutdown,
}

impl Server {
    /// Listens at an address.
    ///
    /// # Errors
    /// As [`bind_all`](Self::bind_all).
    pub async fn bind(
        address: SocketAddr,
        reviewer: Arc<dyn Reviewer>,
        settings: Settings,
    ) -> io::Result<Self> {
        Self::bind_all(&[address], reviewer, settings).await
    }

    /// Listens at several addresses, such as those of a name; those that this machine does not have are passed over. Where
    /// the first one has port 0, all have the port that the system gives it. `[::]` is all addresses, also those of IPv4.
    ///
    /// # Errors
    /// When an address is in use or may not be had, or this machine has none of them; and when one is not of this machine
    /// alone although there are no certificates.
    pub async fn bind_all(
        addresses: &[SocketAddr],
        reviewer: Arc<dyn Reviewer>,
        settings: Settings,
    ) -> io::Result<Self> {
        let outside = addresses.iter().find(|address| !address.ip().is_loopback());
        if let Some(address) = outside.filter(|_| settings.certificates.is_none()) {
            let message = format!("plain HTTP is served to this machine only, not at {address}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let listeners = listen::all(addresses)?;
        let connections = Arc::new(Connections::new(settings.limits.connections.max(1)));
        let health = settings.health.clone();
        let (shared, shutdown) = (Arc::new(ServerContext::new(reviewer, settings)), Shutdown::new());
        let health = match health.is_empty() {
            true => None,
            false => Some(Health::start(&health, shared.clone(), shutdown.watch()).map_err(of_health)?),
        };
        Ok(Server {
            listeners,
            health,
            shared,
            connections,
            shutdown,
        })
    }

    /// Where it listens; the first address of several.
    ///
    /// # Errors
    /// When the system does not know.
    pub fn address(&self) -> io::Result<SocketAddr> {
        let first = self.listeners.first().ok_or(io::ErrorKind::AddrNotAvailable)?;
        first.local_addr()
    }

    /// Where it serves health and metrics besides, if it does.
    #[must_use]
    pub fn health_address(&self) -> Option<SocketAddr> {
        Some(self.health.as_ref()?.address)
    }

    /// What ends it.
    #[must_use]
    pub fn shutdown(&self) -> Shutdown {
        self.shutdown.clone()
    }

    /// Serves until it is told to end and the requests that it has are answered, or have had their time. Tells whether
    /// all were answered.
    pub async fn run(self) -> bool {
        let mut stage = self.shutdown.watch();
        let supervised = self.shared.clone();
        let supervisor = tokio::spawn(async move { supervised.supervise().await });
        let mut failures = AcceptFailures::default();
        let unsent = self.shared.clone();
        let expiring = tokio::spawn(async move { unsent::expire(&unsent).await });
        let grace = loop {
            if let Stage::Closing(grace) = *stage.borrow_and_update() {
                break grace;
            }
            tokio::select! {
                accepted = listen::accept(&self.listeners) => self.accepted(accepted, &stage, &mut failures).await,
                // The sender of stages is in `self`: there is one.
                _ = stage.changed() => {}
            }
        };
        // Those whose connections the system has made are not turned away.
        while let Some(waiting) = listen::waiting(&self.listeners) {
            self.accepted(Ok(waiting), &stage, &mut failures).await;
        }
        supervisor.abort();
        drop(self.listeners);
        let answered = timeout(grace, self.connections.gone()).await.is_ok();
        if !answered {
            tracing::warn!("Requests took too long to wait for");
            self.connections.dismiss();
        }
        expiring.abort();
        drop(self.health);
        answered
    }

    async fn accepted(
        &self,
        accepted: io::Result<(tokio::net::TcpStream, SocketAddr)>,
        stage: &watch::Receiver<Stage>,
        failures: &mut AcceptFailures,
    ) {
        match accepted {
            // If all are busy the newcomer is turned away.
            Ok((stream, _)) => {
                if let Some(place) = self.connections.enter() {
                    let (shared, stage) = (self.shared.clone(), stage.clone());
                    tokio::spawn(async move { connection::serve(stream, place, shared, stage).await });
                    self.connections.settle().await;
                }
            }
            Err(error) => failures.handle(&error, &self.connections).await,
        }
    }
}

fn of_health(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("health and metrics: {error}"))
}
