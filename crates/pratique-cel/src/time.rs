//! Points in time, spans of time, and time zones, as Go's `time` package and cel-go treat them.
//!
//! No clock is read here, and no time zone of the machine: the zone `Local` is UTC.

mod zone;

pub use pratique_gotext::time::{
    Duration, DurationError, DurationField, Overflow, Timestamp, TimestampError, TimestampField,
};
pub use zone::{Zone, ZoneError};
