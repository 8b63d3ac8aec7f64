//! A server, asked over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may stop where it fails"
)]

mod certificates;
mod client;
mod drain;
mod endpoints;
mod evaluation;
mod files;
mod followed_cluster;
mod handler;
mod health;
mod hostile;
mod http2;
mod http2_floods;
mod keep_alive;
mod page;
mod running;
mod service;
mod slow_reader;
