//! Points in time and spans of time, as Go's `time` package and cel-go treat them.
//!
//! No clock is read here, and no time zone of the machine: the zone `Local` is UTC.

mod calendar;
mod duration;
mod rfc3339;
mod timestamp;
mod zone;

pub use duration::{Duration, DurationField};
pub use timestamp::{Timestamp, TimestampError, TimestampField};
pub use zone::{Zone, ZoneError};

/// An arithmetic result beyond the range of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Overflow {
    /// Before the year 1 or after the year 9999.
    #[error("timestamp overflow")]
    Timestamp,
    /// More nanoseconds than 64 bits hold.
    #[error("integer overflow")]
    Integer,
}

/// Nanoseconds in a second.
const SECOND: i64 = 1_000_000_000;
