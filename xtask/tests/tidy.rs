//! The shape of the sources holds: `cargo xtask tidy` shows it.
#![allow(clippy::unwrap_used, reason = "a test that fails may stop")]

use pratique_harness::workspace;
use xtask::tidy;

#[test]
fn sources_are_tidy() {
    let report = tidy::check(&workspace::root()).unwrap();
    assert!(report.files.len() > 100, "{} files", report.files.len());
    assert!(report.faults.is_empty(), "{}", report.faults.join("\n"));
}
