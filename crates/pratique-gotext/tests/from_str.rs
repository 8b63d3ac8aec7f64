//! What has a text form is read from it with `parse`, as elsewhere in Rust.
#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

use std::fmt::{Debug, Display};
use std::str::FromStr;

use pratique_gotext::net::{Cidr, Ip};
use pratique_gotext::quantity::Quantity;
use pratique_gotext::semver::Version;
use pratique_gotext::time::Timestamp;
use pratique_gotext::url::Url;

/// Reads a text, which has the canonical form `expected`, and refuses another one.
#[track_caller]
fn check<T: FromStr<Err: Debug> + Debug + Display>(text: &str, expected: &str, refused: &str) {
    assert_eq!(text.parse::<T>().unwrap().to_string(), expected);
    assert!(refused.parse::<T>().is_err(), "{refused}");
}

#[test]
fn texts_are_parsed() {
    check::<Quantity>("1.5Gi", "1536Mi", "1.5 Gi");
    check::<Ip>("2001:DB8::1", "2001:db8::1", "256.0.0.1");
    check::<Cidr>("10.0.0.1/8", "10.0.0.1/8", "10.0.0.1/33");
    check::<Version>("1.2.3-rc.1", "1.2.3-rc.1", "1.2");
    check::<Url>(
        "https://example.com/a%20b",
        "https://example.com/a%20b",
        "https://example.com/%zz",
    );
    check::<Timestamp>(
        "2026-11-29T12:00:00+01:00",
        "2026-11-29T12:00:00+01:00",
        "2026-11-29",
    );
}
