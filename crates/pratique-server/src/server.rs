//! The server: takes connections, and ends when told.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use pratique_audit::Log;
use pratique_metrics::Metrics;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::accept::AcceptFailures;
use crate::audit_losses;
use crate::budget::Budget;
use crate::connection;
use crate::connections::Connections;
use crate::evaluation::Evaluators;
use crate::health::Health;
use crate::largest::Largest;
use crate::limits::Limits;
use crate::listen;
use crate::recent::Recent;
use crate::refused;
use crate::reviewer::Reviewer;
use crate::rotation::Rotation;
use crate::shutdown::{Shutdown, Stage};
use crate::supervise::{Supervision, supervise};
use crate::tls::Certificates;
use crate::turns::Turns;
use crate::unsent;

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What clients may take.
    pub limits: Limits,
    /// Served at `/metrics`.
    pub metrics: Metrics,
    /// Where health and metrics are served as well, by plain HTTP: for probes and scrapers that depend on nothing else.
    /// Nowhere if there are none.
    pub health: Vec<SocketAddr>,
    /// Where decisions are kept.
    pub audit: Option<Arc<Log>>,
    /// The certificates of HTTPS. Without, there is only HTTP, and that only to this machine.
    pub certificates: Option<Arc<Certificates>>,
    /// Looks after the certificates; `/readyz` says no once it does not any more.
    pub rotation: Option<Arc<Rotation>>,
    /// Whether `/metrics`, too, is only for clients with a certificate, where these are asked for one.
    pub protected_metrics: bool,
    /// Whether `/` shows people what goes on.
    pub page: bool,
    /// The names that `/` answers to, besides `localhost` and the addresses of this machine.
    pub page_hosts: Vec<String>,
}

/// Answers AdmissionReviews.
#[derive(Debug)]
pub struct Server {
    /// One or more.
    listeners: Vec<TcpListener>,
    health: Option<Health>,
    shared: Arc<Shared>,
    connections: Arc<Connections>,
    shutdown: Shutdown,
}

/// What all requests share.
pub(crate) struct Shared {
    pub(crate) reviewer: Arc<dyn Reviewer>,
    pub(crate) limits: Limits,
    pub(crate) metrics: Metrics,
    pub(crate) audit: Option<Arc<Log>>,
    pub(crate) certificates: Option<Arc<Certificates>>,
    pub(crate) rotation: Option<Arc<Rotation>>,
    pub(crate) supervision: Supervision,
    pub(crate) protected_metrics: bool,
    pub(crate) page_hosts: Vec<String>,
    pub(crate) recent: Option<Recent>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) largest: Largest,
    pub(crate) evaluators: Evaluators,
    pub(crate) turns: Arc<Turns>,
}

impl Settings {
    /// With these metrics, and usual limits.
    #[must_use]
    pub fn new(metrics: Metrics) -> Self {
        Settings {
            limits: Limits::default(),
            metrics,
            health: Vec::new(),
            audit: None,
            certificates: None,
            rotation: None,
            protected_metrics: false,
            page: false,
            page_hosts: Vec::new(),
        }
    }
}

impl Shared {
    /// To be called within a runtime. The addresses of health are not listened at.
    pub(crate) fn new(reviewer: Arc<dyn Reviewer>, settings: Settings) -> Self {
        let Settings {
            limits,
            metrics,
            health: _,
            audit,
            certificates,
            rotation,
            protected_metrics,
            page,
            page_hosts,
        } = settings;
        let supervision = Supervision::new(&metrics);
        refused::announce(&metrics);
        let mut limits = limits;
        if let Some(audit) = &audit {
            audit_losses::count(audit, &metrics);
            limits.memory -= audit.bytes().min(limits.memory / 2);
        }
        Shared {
            reviewer,
            limits,
            metrics,
            audit,
            certificates,
            rotation,
            supervision,
            protected_metrics,
            page_hosts,
            recent: page.then(Recent::default),
            budget: Arc::new(Budget::new(limits.memory)),
            largest: Largest::new(),
            evaluators: Evaluators::new(limits.requests),
            turns: Arc::new(Turns::new(limits.requests.max(1))),
        }
    }
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
        let (shared, shutdown) = (Arc::new(Shared::new(reviewer, settings)), Shutdown::new());
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
        let supervisor = tokio::spawn(async move { supervise(&supervised).await });
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

impl std::fmt::Debug for Shared {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Shared")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
