//! The settings of a server.

use std::net::SocketAddr;
use std::sync::Arc;

use pratique_audit::{Log, RequestRecorder};
use pratique_metrics::Metrics;

use crate::limits::Limits;
use crate::rotation::CertificateRotation;
use crate::tls::Certificates;

/// The settings of a [`Server`](crate::Server) or an [`AdmissionService`](crate::AdmissionService).
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bounds on what clients may use.
    pub limits: Limits,
    /// The metrics, served at `/metrics`.
    pub metrics: Metrics,
    /// Further addresses for health checks and metrics over plain HTTP, for probes and scrapers. May be empty.
    pub health: Vec<SocketAddr>,
    /// The audit log of decisions.
    pub audit: Option<Log>,
    /// A record of requests with their answers.
    pub recorder: Option<Arc<RequestRecorder>>,
    /// The certificates for HTTPS. Without certificates, the server speaks plain HTTP on loopback addresses only.
    pub certificates: Option<Arc<Certificates>>,
    /// The reloader of the certificates; `/readyz` fails once it has ended.
    pub rotation: Option<Arc<CertificateRotation>>,
    /// Whether `/metrics` requires a client certificate as well, if clients are asked for one.
    pub protected_metrics: bool,
    /// Whether the status page at `/` is served.
    pub page: bool,
    /// The host names of the status page, besides `localhost` and the addresses of this machine.
    pub page_hosts: Vec<String>,
}

impl Settings {
    /// Default settings with these metrics.
    #[must_use]
    pub fn new(metrics: Metrics) -> Self {
        Settings {
            limits: Limits::default(),
            metrics,
            health: Vec::new(),
            audit: None,
            recorder: None,
            certificates: None,
            rotation: None,
            protected_metrics: false,
            page: false,
            page_hosts: Vec::new(),
        }
    }
}
