//! The dependencies are those that `deny.toml` allows.
#![allow(clippy::unwrap_used, reason = "a test that fails may stop")]

use xtask::{dependencies, tidy};

#[test]
fn dependencies_are_allowed() {
    let faults = dependencies::check(&tidy::workspace()).unwrap();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
