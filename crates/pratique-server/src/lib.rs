//! Answers AdmissionReviews over HTTPS.
//!
//! A [`Server`] takes AdmissionReviews at `/mutate`, `/validate` and `/admit`, and hands their requests to a
//! [`Reviewer`]; `/livez`, `/readyz`, `/metrics` and `/configz` tell how it is, and `/` shows it to people. What clients
//! may take of it is bounded by [`Limits`]: who is slow, large or many is turned away, and others do not notice. Who is
//! turned away for now is told when to come again, which API servers do.
//!
//! An [`AdmissionService`] is the same without the sockets: a [`tower`](tower_service::Service) service for a server that is
//! there already.
//!
//! Whatever keeps a request from being judged, a fault in the judging included, is an HTTP error: an API server then
//! does what the failure policy of its webhook says.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use pratique::Admission;
//! use pratique_metrics::Metrics;
//! use pratique_server::{Drain, KnownCluster, LiveReviewer, Reloads, Server, Settings};
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let live = Admission::builder().live().start()?;
//! let reviewer = LiveReviewer::new(live, Reloads::default(), KnownCluster::default());
//! let settings = Settings::new(Metrics::new("1.0"));
//! // Without certificates, to this machine only.
//! let server = Server::bind("127.0.0.1:0".parse()?, Arc::new(reviewer), settings).await?;
//! println!("http://{}/validate", server.address()?);
//! let shutdown = server.shutdown();
//! # let ending = shutdown.clone();
//! # tokio::spawn(async move {
//! #     ending.begin(Drain { delay: Duration::ZERO, grace: Duration::from_secs(1) }).await;
//! # });
//! // Until `shutdown.begin(Drain { .. })`, as on a signal.
//! assert!(server.run().await);
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accept;
mod annotations;
mod audit_metrics;
mod body;
mod budget;
mod client;
mod configz;
mod connection;
mod connections;
mod context;
mod evaluation;
mod expiry;
mod followed;
mod health;
mod host;
mod largest;
mod limits;
mod listen;
mod live;
mod page;
mod pool;
mod query;
mod recent;
mod refused;
mod registration;
mod reservation;
mod respond;
mod review;
mod reviewer;
mod rotation;
mod routes;
mod server;
mod service;
mod settings;
mod shutdown;
mod supervision;
mod throttle;
mod tls;
mod turns;
mod unknown;
mod unsent;
mod weight;

pub use configz::{Attempt, Source};
pub use followed::Followed;
pub use limits::Limits;
pub use live::{LiveReviewer, Reloads};
pub use registration::{Reached, Registration};
pub use reviewer::{Half, Reviewed, Reviewer, Reviewing, Unavailable};
pub use rotation::Rotation;
pub use server::Server;
pub use service::{AdmissionService, Answering};
pub use settings::Settings;
pub use shutdown::{Drain, Shutdown};
pub use tls::{CertificateError, CertificateFiles, Certificates};
pub use unknown::{KnownCluster, Unknown};
pub use unsent::AnswerBody;
