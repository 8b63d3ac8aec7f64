//! The facade as its users have it: the chain, the live handle, the service.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

#[cfg(feature = "objects")]
mod api_objects;
mod authorization;
mod auto_traits;
mod builder;
mod chain;
#[cfg(all(
    feature = "watch",
    feature = "metrics",
    feature = "audit",
    feature = "webhooks"
))]
mod clients;
#[cfg(feature = "parallel")]
mod cores;
#[cfg(all(feature = "watch", feature = "metrics", feature = "audit"))]
mod directories;
#[cfg(feature = "watch")]
mod example;
#[cfg(feature = "webhooks")]
mod guards;
mod limits;
mod live;
mod live_plugins;
#[cfg(all(feature = "watch", feature = "metrics", feature = "audit"))]
mod load;
#[cfg(feature = "webhooks")]
mod logs;
mod object_model;
mod old_object;
mod params;
mod plugins;
#[cfg(feature = "webhooks")]
mod webhooks;
mod whole_chain;
mod world;

#[cfg(all(
    feature = "watch",
    feature = "metrics",
    feature = "audit",
    feature = "webhooks"
))]
mod manifests;
#[cfg(all(
    feature = "watch",
    feature = "metrics",
    feature = "audit",
    feature = "webhooks"
))]
mod story;
