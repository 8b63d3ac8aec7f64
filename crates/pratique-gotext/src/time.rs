//! Points in time and spans of time, as Go's `time` package and cel-go treat them.
//!
//! No clock is read here, and no time zone of the machine.
//!
//! ```
//! use pratique_gotext::time::{Duration, TimeLayout, Timestamp, parse};
//!
//! let start = Timestamp::parse("2023-01-01T00:00:00+02:00")?;
//! let later = start.checked_add(Duration::parse("1h15m30.5s")?)?;
//! assert_eq!(later.to_string(), "2023-01-01T01:15:30.5+02:00");
//!
//! assert_eq!(
//!     parse("2023-13-01T00:00:00Z", TimeLayout::Rfc3339).unwrap_err().to_string(),
//!     r#"parsing time "2023-13-01T00:00:00Z": month out of range"#,
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calendar;
mod duration;
mod quote;
mod rfc3339;
mod timestamp;

pub(crate) use calendar::days_in_month;
pub use duration::{Duration, DurationError, DurationField};
pub use rfc3339::{ParseError, ParsedTime, TimeLayout, parse};
pub use timestamp::{Timestamp, TimestampError, TimestampField};

/// An arithmetic result beyond the range of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
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
