//! What a scraper sees, read by a parser that accepts nothing but what the formats allow.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test may stop where it fails"
)]

mod cost;
mod exposition;
mod sample;
mod strict;
