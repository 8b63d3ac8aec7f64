//! The project's own golden cases: decision, message and cost of each must be exact.
#![allow(clippy::unwrap_used, reason = "a test that fails may stop")]

use std::path::Path;

use pratique_conformance::{ConformanceArguments, report};

#[track_caller]
fn check(suite: &str) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let arguments = ConformanceArguments {
        directory,
        suite: Some(suite.to_owned()),
        ..ConformanceArguments::default()
    };
    let report = report(&arguments).unwrap();
    assert!(!report.is_empty(), "no case of suite {suite}");
    assert!(report.is_exact(), "{report}");
}

#[test]
fn expressions() {
    check("cel");
}

#[test]
fn policies() {
    check("policy");
}

#[test]
fn manifests() {
    check("load");
}

#[test]
fn webhooks() {
    check("webhook");
}

#[test]
fn plugins() {
    check("plugins");
}

#[test]
fn validation() {
    check("validation");
}
