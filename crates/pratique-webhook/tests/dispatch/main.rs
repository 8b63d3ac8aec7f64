//! Requests before webhooks that are played within the process: order, turns, failures, deadlines.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

mod conditions;
mod deadlines;
mod failures;
mod memory;
mod mutating;
mod observation;
mod scene;
mod undecided_webhooks;
mod validating;
