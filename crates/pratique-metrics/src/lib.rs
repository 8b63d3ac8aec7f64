//! The metric families of admission control, by the names that an API server gives them; those of which an API server has
//! none begin with `pratique_`.
//!
//! [`Metrics`] counts: its methods are what can happen, and each knows the families that it moves. [`Metrics::gather`]
//! gives a [`Family`] for each with data, [`Metrics::text`] writes them as an API server does, and
//! [`Metrics::openmetrics`] as OpenMetrics; [`Format::accepted`] says which of them a client wants.
//!
//! ```
//! use pratique_metrics::{Metrics, Plugin};
//! use std::time::SystemTime;
//!
//! let metrics = Metrics::new("the-name-of-this-server");
//! metrics.reload_succeeded(Plugin::ValidatingAdmissionPolicy, "sha256:78da", SystemTime::now());
//! assert!(metrics.text().contains("automatic_reloads_total"));
//! ```
//!
//! Counting allocates nothing once a combination of labels was seen. Names of policies and webhooks are the only labels
//! without a fixed set of values: past [`SERIES_LIMIT`] series of a family, further names are counted as `unexpected`.

mod collect;
mod counts;
mod families;
mod family;
mod format;
mod histogram;
mod labels;
mod openmetrics;
mod snapshot;
mod summary;
mod text;

pub use counts::Metrics;
pub use family::SERIES_LIMIT;
pub use format::Format;
pub use labels::{Action, ConditionOwner, Operation, Phase, Plugin, PolicyError, WebhookError, WebhookType};
pub use snapshot::{Distribution, Family, Kind, Quantiles, Series, Value};
