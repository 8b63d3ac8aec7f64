//! Admission by a real cluster's configuration, tried with a server that speaks as much of the API as that takes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

mod ended_tasks;
mod endless;
mod exec;
mod follow;
mod pages;
mod plugins;
mod real;
mod review;
mod server;
mod writes;
