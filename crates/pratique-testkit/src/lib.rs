//! Doubles that tests and benchmarks share: [`NoOpinion`] answers authorization checks, [`TestCluster`] has the namespaces
//! and params that a test gives it, [`NoNamespaces`] and [`NamesOnly`] are what is left of one for matchers, and
//! [`CountingExecutor`] runs work on several threads and counts how often.
//!
//! [`check_plugin_cases`] runs recorded cases of admission plugins, and [`validate`] a single request.
//!
//! [`FakeStore`] is an S3-compatible store.
//!
//! Scripted webhooks on real listeners are in `pratique-webhook-backend`.

#![allow(
    clippy::expect_used,
    reason = "a test whose setting cannot be made should stop"
)]

mod authorizer;
mod cluster;
mod executor;
mod namespaces;
mod plugin_case;
mod store;

pub use authorizer::NoOpinion;
pub use cluster::TestCluster;
pub use executor::CountingExecutor;
pub use namespaces::{NamesOnly, NoNamespaces};
pub use plugin_case::{check_plugin_cases, validate};
pub use store::FakeStore;
