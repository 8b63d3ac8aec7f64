//! A server for AdmissionReviews over HTTPS.
//!
//! A [`Server`] takes AdmissionReviews at `/mutate`, `/validate` and `/admit`, and passes their requests to an
//! [`AdmissionHandler`]. It has health checks (`/livez`, `/readyz`), metrics (`/metrics`), the configuration in use
//! (`/configz`) and a status page (`/`). [`Limits`] bound the resources that clients may use, so that slow, large or many
//! requests do not affect others. Temporary errors have a `Retry-After` header, which API servers follow.
//!
//! An [`AdmissionService`] is the same without sockets: a [`tower`](tower_service::Service) service to be mounted in an
//! existing server.
//!
//! A request that cannot be evaluated, for example because of a panic, gets an HTTP error: the API server then applies
//! the failure policy of the webhook.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use pratique::Admission;
//! use pratique_metrics::Metrics;
//! use pratique_server::{ConnectionDrain, KnownState, LiveHandler, LastReloads, Server, Settings};
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let live = Admission::builder().live().start()?;
//! let handler = LiveHandler::new(live, LastReloads::default(), KnownState::default());
//! let settings = Settings::new(Metrics::new("1.0"));
//! // Without certificates, only on a loopback address.
//! let server = Server::bind("127.0.0.1:0".parse()?, Arc::new(handler), settings).await?;
//! println!("http://{}/validate", server.address()?);
//! let shutdown = server.shutdown();
//! # let ending = shutdown.clone();
//! # tokio::spawn(async move {
//! #     ending.begin(ConnectionDrain { delay: Duration::ZERO, grace: Duration::from_secs(1) }).await;
//! # });
//! // Runs until `shutdown.begin(ConnectionDrain { .. })`, for example on a signal.
//! assert!(server.run().await);
//! # Ok::<(), Box<dyn std::error::Error>>(()) })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accept;
mod annotations;
mod audit_metrics;
mod backlog;
mod body;
mod budget;
mod client;
mod configz;
mod connection;
mod connections;
mod context;
mod evaluation;
mod exchange;
mod expiry;
mod fair_semaphore;
mod followed_source;
mod frames;
mod handler;
mod health;
mod host;
mod large_requests;
mod limits;
mod listen;
mod live;
mod page;
mod pool;
mod query;
mod recent;
mod refusal_metrics;
mod registration;
mod reservation;
mod respond;
mod response_body;
mod resting;
mod review;
mod rotation;
mod routes;
mod server;
mod service;
mod settings;
mod shutdown;
mod supervision;
mod throttle;
mod tls;
mod unknown_state;
mod webhook_plugins;
mod weight;

pub use configz::{ReloadAttempt, Source};
pub use followed_source::FollowedSource;
pub use handler::{AdmissionHandler, HandlerUnavailable, ReviewFuture, ReviewResult};
pub use limits::Limits;
pub use live::{LastReloads, LiveHandler};
pub use pratique::observer::AdmissionPhases;
pub use registration::{Endpoint, WebhookRegistration};
pub use response_body::ResponseBody;
pub use rotation::CertificateRotation;
pub use server::Server;
pub use service::{AdmissionService, ResponseFuture};
pub use settings::Settings;
pub use shutdown::{ConnectionDrain, ServerShutdown};
pub use tls::{CertificateError, CertificateFiles, Certificates};
pub use unknown_state::{KnownState, UnknownState};
pub use webhook_plugins::{NotOffered, WebhookPlugin};
