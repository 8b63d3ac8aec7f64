//! The metric families of admission control with the names of an API server. Families that an API server does not have
//! begin with `pratique_`.
//!
//! [`Metrics`] has a method for each event that is counted. [`Metrics::gather`] returns all families with data,
//! [`Metrics::to_text`] writes them as an API server does, and [`Metrics::openmetrics`] as OpenMetrics; [`Format::accepted`]
//! chooses the format for a client.
//!
//! ```
//! use pratique_metrics::Metrics;
//! use std::time::SystemTime;
//!
//! let metrics = Metrics::new("the-name-of-this-server");
//! metrics.reload_succeeded("ValidatingAdmissionPolicy", "sha256:78da", SystemTime::now());
//! assert!(metrics.to_text().contains("automatic_reloads_total"));
//! ```
//!
//! Counting allocates only for new combinations of labels. Names of policies and webhooks are the only labels without a
//! fixed set of values: past [`SERIES_LIMIT`] series of a family, further names are counted as `unexpected`.

mod encode;
mod families;
mod family;
mod format;
mod histogram;
mod labels;
mod metrics;
mod openmetrics;
mod snapshot;
mod summary;
mod text;

pub use family::SERIES_LIMIT;
pub use format::Format;
pub use labels::{Action, ConditionOwner, Operation, PolicyError, StepType, WebhookError, WebhookType};
pub use metrics::Metrics;
pub use snapshot::{
    MetricFamily, MetricKind, MetricSeries, SampleDistribution, SampleQuantiles, SeriesValue,
};
pub use text::write as write_text;
