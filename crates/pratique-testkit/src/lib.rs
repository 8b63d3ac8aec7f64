//! Doubles that tests and benchmarks share: [`NoOpinion`] answers authorization checks, [`TestCluster`] has the namespaces
//! and params that a test gives it, [`NoNamespaces`] and [`NamesOnly`] are what is left of one for matchers, and
//! [`CountingExecutor`] runs work on several threads and counts how often.
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

pub use authorizer::NoOpinion;
pub use cluster::TestCluster;
pub use executor::CountingExecutor;
pub use namespaces::{NamesOnly, NoNamespaces};
