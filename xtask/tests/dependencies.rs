//! The dependencies are those that `deny.toml` allows.
#![allow(clippy::unwrap_used, reason = "a test that fails may stop")]

use pratique_harness::workspace;
use xtask::dependencies;

#[test]
fn dependencies_are_allowed() {
    let faults = dependencies::check(&workspace::root()).unwrap();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
