//! The time of the clock.

use std::time::SystemTime;

use pratique_gotext::time::Timestamp;

/// The time in RFC 3339, in whole seconds.
pub(crate) fn now() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let seconds = since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX));
    let time = Timestamp::from_seconds(seconds);
    time.map(|time| time.to_string()).unwrap_or_default()
}
