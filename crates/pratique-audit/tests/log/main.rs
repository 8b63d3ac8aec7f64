//! Audit logs: what they say, and what happens when they cannot be written.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

mod faults;
mod lines;
mod rotation;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pratique_audit::{Event, Level, Log};
use pratique_types::{AdmissionRequest, AdmissionResponse};

/// A moment with microseconds.
fn moment() -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(1_795_226_642_934_138)
}

/// Records an event with this uid.
fn record(log: &Log, uid: &str) -> bool {
    let request = AdmissionRequest {
        uid: uid.into(),
        ..AdmissionRequest::default()
    };
    let response = AdmissionResponse {
        allowed: true,
        ..AdmissionResponse::default()
    };
    log.record(&Event::new(
        Level::Metadata,
        &request,
        &response,
        (moment(), moment()),
    ))
}

/// The uids in a file, in order.
fn uids(text: &str) -> Vec<String> {
    let uid = |line: &str| {
        let event: serde_json::Value = serde_json::from_str(line).expect(line);
        event["auditID"].as_str().unwrap().to_owned()
    };
    text.lines().map(uid).collect()
}

/// Nothing that ends by itself takes so long, not even on a machine with much else to do.
const DEADLINE: Duration = Duration::from_secs(60);

/// Waits for something to hold.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < DEADLINE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
