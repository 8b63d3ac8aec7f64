//! Directories that change while they are watched, in all the ways that file systems and their users know.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test may stop where it fails"
)]

mod changes;
mod example;
mod faults;
mod flood;
mod log;
mod logs;
mod polling;
mod rewritten;
mod start;
mod world;
