//! A point in time.

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use super::calendar::{CivilTime, DAY, civil_from_seconds, days_from_civil};
use super::{Duration, Overflow, SECOND, TimeLayout, parse};

/// A point in time between the years 1 and 9999, with the offset from UTC that it was written with. Only messages of
/// protocol buffers can hold [others](Timestamp::of_message).
///
/// Two timestamps are equal when they are the same instant; the offset shows only in the text.
#[derive(Clone, Copy, Debug)]
pub struct Timestamp {
    seconds: i64,
    nanos: u32,
    offset_minutes: i16,
}

/// Why a text or a number is no timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimestampError {
    /// It does not look like one.
    #[error("type conversion error from 'string' to 'google.protobuf.Timestamp'")]
    Syntax,
    /// It is before the year 1 or after the year 9999.
    #[error("timestamp overflow")]
    Overflow,
}

/// A part of a date or time of day that CEL can ask a timestamp for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampField {
    /// The year.
    FullYear,
    /// The month, from 0.
    Month,
    /// The day of the year, from 0.
    DayOfYear,
    /// The day of the month, from 1.
    Date,
    /// The day of the month, from 0.
    DayOfMonth,
    /// The day of the week, from 0 for Sunday.
    DayOfWeek,
    /// The hour.
    Hours,
    /// The minute.
    Minutes,
    /// The second.
    Seconds,
    /// The millisecond.
    Milliseconds,
}

impl Timestamp {
    /// The first second of the year 1.
    const MIN: i64 = -62_135_596_800;
    /// The last second of the year 9999.
    const MAX: i64 = 253_402_300_799;

    /// A timestamp in UTC from seconds since 1970, as `timestamp(int)` makes it.
    #[inline]
    pub fn from_seconds(seconds: i64) -> Result<Self, Overflow> {
        Self::new(seconds, 0, 0)
    }

    /// A timestamp from the fields of a message, which may be of any year; the nanoseconds may make up seconds.
    pub fn of_message(seconds: i64, nanos: i64) -> Self {
        Timestamp {
            seconds: seconds.wrapping_add(nanos.div_euclid(SECOND)),
            nanos: u32::try_from(nanos.rem_euclid(SECOND)).unwrap_or_default(),
            offset_minutes: 0,
        }
    }

    /// Whether it is between the years 1 and 9999.
    #[inline]
    pub fn is_in_range(self) -> bool {
        (Self::MIN..=Self::MAX).contains(&self.seconds)
    }

    /// A timestamp from RFC 3339 as Go's `time.Parse` reads it.
    ///
    /// # Errors
    /// When the text is none, or one of another year.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        let parsed = parse(text, TimeLayout::Rfc3339).map_err(|_| TimestampError::Syntax)?;
        Self::new(parsed.seconds, parsed.nanos, parsed.offset_minutes).map_err(|_| TimestampError::Overflow)
    }

    /// Seconds since 1970-01-01T00:00:00Z: `int(timestamp)`.
    #[inline]
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Nanoseconds after that second.
    #[inline]
    pub fn nanos(self) -> u32 {
        self.nanos
    }

    /// This time and some.
    pub fn checked_add(self, duration: Duration) -> Result<Self, Overflow> {
        let nanos = i64::from(self.nanos) + duration.nanos() % SECOND;
        let more = duration.nanos() / SECOND + nanos.div_euclid(SECOND);
        let seconds = self.seconds.checked_add(more).ok_or(Overflow::Integer)?;
        let nanos = u32::try_from(nanos.rem_euclid(SECOND)).map_err(|_| Overflow::Integer)?;
        Self::new(seconds, nanos, self.offset_minutes)
    }

    /// This time less some.
    pub fn checked_sub(self, duration: Duration) -> Result<Self, Overflow> {
        self.checked_add(duration.checked_neg()?)
    }

    /// The time from another timestamp to this one.
    pub fn checked_since(self, other: Timestamp) -> Result<Duration, Overflow> {
        let seconds = self.seconds.checked_sub(other.seconds);
        let nanos = seconds.and_then(|seconds| seconds.checked_mul(SECOND));
        let nanos = nanos.and_then(|nanos| nanos.checked_add(i64::from(self.nanos) - i64::from(other.nanos)));
        nanos.map(Duration::from_nanos).ok_or(Overflow::Integer)
    }

    /// A part of the date and time of day in a time zone that many seconds east of UTC.
    pub fn field(self, field: TimestampField, offset: i64) -> i64 {
        let local = self.seconds.saturating_add(offset);
        let days = local.div_euclid(DAY);
        let civil = civil_from_seconds(local);
        match field {
            TimestampField::FullYear => civil.year,
            TimestampField::Month => civil.month - 1,
            TimestampField::DayOfYear => days - days_from_civil(civil.year, 1, 1),
            TimestampField::Date => civil.day,
            TimestampField::DayOfMonth => civil.day - 1,
            // 1970 began on a Thursday.
            TimestampField::DayOfWeek => (days + 4).rem_euclid(7),
            TimestampField::Hours => civil.hour,
            TimestampField::Minutes => civil.minute,
            TimestampField::Seconds => civil.second,
            TimestampField::Milliseconds => i64::from(self.nanos / 1_000_000),
        }
    }

    /// The key of comparison: seconds since the year 1, which wrap where they are out of any calendar.
    #[inline]
    fn order(self) -> (i64, u32) {
        (self.seconds.wrapping_sub(Self::MIN), self.nanos)
    }

    /// The form of protobuf's JSON: UTC, with 0, 3, 6 or 9 digits of fraction.
    pub fn to_proto_json(self) -> String {
        let fraction = grouped_fraction(self.nanos);
        format!("{}{fraction}Z", DateTime(civil_from_seconds(self.seconds)))
    }

    fn new(seconds: i64, nanos: u32, offset_minutes: i16) -> Result<Self, Overflow> {
        let timestamp = Timestamp {
            seconds,
            nanos,
            offset_minutes,
        };
        if timestamp.is_in_range() {
            Ok(timestamp)
        } else {
            Err(Overflow::Timestamp)
        }
    }
}

impl Timestamp {
    /// The form that messages of the reference show: `2020-01-01 00:00:00.5 +0000 UTC`.
    // Upstream: time/format.go, Time.String
    pub fn in_messages(&self) -> String {
        let minutes = self.offset_minutes.unsigned_abs();
        let sign = if self.offset_minutes < 0 { '-' } else { '+' };
        let offset = format!("{sign}{:02}{:02}", minutes / 60, minutes % 60);
        let zone = if minutes == 0 { "UTC" } else { &offset };
        let time = self.local_text().replacen('T', " ", 1);
        format!("{time} {offset} {zone}")
    }

    /// The form of Go code: `time.Date(2020, time.January, 1, 0, 0, 0, 500000000, time.UTC)`.
    // Upstream: time/format.go, Time.GoString
    pub fn literal(&self) -> String {
        const MONTHS: [&str; 12] = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ];
        let CivilTime {
            year,
            month,
            day,
            hour,
            minute,
            second,
        } = civil_from_seconds(self.local_seconds());
        let month = usize::try_from(month - 1)
            .ok()
            .and_then(|month| MONTHS.get(month));
        let month = month.copied().unwrap_or_default();
        let zone = match self.offset_minutes {
            0 => "time.UTC",
            _ => r#"time.Location("")"#,
        };
        let nanos = self.nanos;
        format!("time.Date({year}, time.{month}, {day}, {hour}, {minute}, {second}, {nanos}, {zone})")
    }

    /// Seconds since 1970-01-01T00:00:00 where it was written.
    fn local_seconds(&self) -> i64 {
        self.seconds.saturating_add(i64::from(self.offset_minutes) * 60)
    }

    /// Date and time where it was written, without the offset.
    fn local_text(&self) -> String {
        let mut text = DateTime(civil_from_seconds(self.local_seconds())).to_string();
        if self.nanos > 0 {
            let digits = format!(".{:09}", self.nanos);
            text.push_str(digits.trim_end_matches('0'));
        }
        text
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        Self::parse(text)
    }
}

/// RFC 3339 in the timestamp's own offset, with as many digits of fraction as it has: `string(timestamp)`.
impl Display for Timestamp {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.local_text())?;
        let minutes = self.offset_minutes.unsigned_abs();
        match self.offset_minutes {
            0 => formatter.write_str("Z"),
            offset => {
                let sign = if offset < 0 { '-' } else { '+' };
                write!(formatter, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        }
    }
}

impl PartialEq for Timestamp {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl Hash for Timestamp {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.seconds, self.nanos).hash(state);
    }
}

/// A fraction of a second in groups of three digits, with its point; empty for none.
pub(super) fn grouped_fraction(nanos: u32) -> String {
    match nanos {
        0 => String::new(),
        nanos if nanos % 1_000_000 == 0 => format!(".{:03}", nanos / 1_000_000),
        nanos if nanos % 1_000 == 0 => format!(".{:06}", nanos / 1_000),
        nanos => format!(".{nanos:09}"),
    }
}

/// A date and time of day as RFC 3339 writes it, years of at least four digits.
struct DateTime(CivilTime);

impl Display for DateTime {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let CivilTime {
            year,
            month,
            day,
            hour,
            minute,
            second,
        } = self.0;
        let sign = if year < 0 { "-" } else { "" };
        let year = year.unsigned_abs();
        write!(
            formatter,
            "{sign}{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_prints() {
        let check = |text: &str, expected: &str| {
            let shown =
                Timestamp::parse(text).map_or_else(|error| format!("{error:?}"), |time| time.to_string());
            assert_eq!(shown, expected, "{text}");
        };
        check("2023-01-01T00:00:00Z", "2023-01-01T00:00:00Z");
        check("2023-01-01T00:00:00+02:00", "2023-01-01T00:00:00+02:00");
        check("2023-01-01T00:00:00-00:00", "2023-01-01T00:00:00Z");
        check("2023-01-01T00:00:00+24:60", "2023-01-01T00:00:00+25:00");
        check("2023-01-01T00:00:00.120300000Z", "2023-01-01T00:00:00.1203Z");
        check("2023-01-01T00:00:00,5Z", "2023-01-01T00:00:00.5Z");
        check("2023-01-01T0:00:00.1234567899Z", "2023-01-01T00:00:00.123456789Z");
        check("2024-02-29T23:59:59-23:59", "2024-02-29T23:59:59-23:59");
        check("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z");
        check("0000-12-31T23:00:00-01:00", "0000-12-31T23:00:00-01:00");
        check("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z");
        check("0001-01-01T00:00:00+01:00", "Overflow");
        check("9999-12-31T23:59:59-00:01", "Overflow");
        check("0000-01-01T00:00:00Z", "Overflow");
        for text in [
            "",
            "2023",
            "2023-01-01",
            "2023-1-01T00:00:00Z",
            "2023-13-01T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2023-01-00T00:00:00Z",
            "2023-01-01T24:00:00Z",
            "2023-01-01T00:60:00Z",
            "2023-01-01T00:00:60Z",
            "2023-01-01T00:00:00",
            "2023-01-01t00:00:00Z",
            "2023-01-01 00:00:00Z",
            "2023-01-01T00:00:00z",
            "2023-01-01T00:00:00.Z",
            "2023-01-01T00:00:00+0200",
            "2023-01-01T00:00:00+25:00",
            "2023-01-01T00:00:00+02:61",
            "2023-01-01T00:00:00Z ",
            "+2023-01-01T00:00:00Z",
            "2023-01-01T00:0:00Z",
            "12023-01-01T00:00:00Z",
        ] {
            check(text, "Syntax");
        }
    }

    #[test]
    fn equal_instants() {
        assert_eq!(
            Timestamp::parse("2023-01-01T00:00:00Z"),
            Timestamp::parse("2023-01-01T02:00:00+02:00")
        );
        assert!(
            Timestamp::parse("2023-01-01T00:00:00.1Z").unwrap()
                < Timestamp::parse("2023-01-01T00:00:00.2Z").unwrap()
        );
    }

    #[test]
    fn arithmetic() {
        let time = |text: &str| Timestamp::parse(text).unwrap();
        let sum = |text: &str, nanos| {
            time(text)
                .checked_add(Duration::from_nanos(nanos))
                .map(|sum| sum.to_string())
        };
        assert_eq!(
            sum("2023-01-01T00:00:00+02:00", -1),
            Ok("2022-12-31T23:59:59.999999999+02:00".to_owned())
        );
        assert_eq!(
            sum("2023-01-01T00:00:00.9Z", 100_000_000),
            Ok("2023-01-01T00:00:01Z".to_owned())
        );
        assert_eq!(sum("9999-12-31T23:59:59.999999999Z", 1), Err(Overflow::Timestamp));
        assert_eq!(sum("0001-01-01T00:00:00Z", -1), Err(Overflow::Timestamp));
        let since = |text: &str, other| time(text).checked_since(time(other)).map(Duration::nanos);
        assert_eq!(
            since("2023-01-01T00:00:01Z", "2023-01-01T00:00:00.5Z"),
            Ok(500_000_000)
        );
        assert_eq!(
            since("9999-12-31T00:00:00Z", "0001-01-01T00:00:00Z"),
            Err(Overflow::Integer)
        );
        let least = Duration::from_nanos(i64::MIN);
        assert_eq!(
            time("2023-01-01T00:00:00Z").checked_sub(least),
            Err(Overflow::Integer)
        );
    }

    #[test]
    fn any_year_of_a_message() {
        let of = |seconds, nanos| Timestamp::of_message(seconds, nanos);
        assert_eq!(
            of(9_007_199_254_740_993, 0).to_string(),
            "285428751-11-12T07:36:33Z"
        );
        assert_eq!(
            of(9_007_199_254_740_993, 0).field(TimestampField::Hours, -5 * 3_600),
            2
        );
        assert_eq!(of(i64::MAX, 2_000_000_000).seconds(), i64::MIN + 1);
        assert!(of(i64::MAX, 0) < of(0, 0));
        assert!(of(0, -1) < of(0, 0) && of(0, 0).is_in_range() && !of(i64::MAX, 0).is_in_range());
        assert_eq!(of(i64::MAX, 0).checked_since(of(-1, 0)), Err(Overflow::Integer));
        assert_eq!(
            of(i64::MAX, 0).checked_add(Duration::from_nanos(SECOND)),
            Err(Overflow::Integer)
        );
    }

    /// The results of Go 1.26 for the same times.
    #[test]
    fn messages() {
        let check = |text: &str, plain: &str, literal: &str| {
            let time = Timestamp::parse(text).unwrap();
            assert_eq!(
                (time.in_messages().as_str(), time.literal().as_str()),
                (plain, literal)
            );
        };
        check(
            "2020-02-01T00:00:00.500Z",
            "2020-02-01 00:00:00.5 +0000 UTC",
            "time.Date(2020, time.February, 1, 0, 0, 0, 500000000, time.UTC)",
        );
        check(
            "2020-12-31T23:59:09-01:30",
            "2020-12-31 23:59:09 -0130 -0130",
            r#"time.Date(2020, time.December, 31, 23, 59, 9, 0, time.Location(""))"#,
        );
    }

    #[test]
    fn proto_json() {
        let check = |text: &str, expected: &str| {
            assert_eq!(Timestamp::parse(text).unwrap().to_proto_json(), expected)
        };
        check("2023-01-01T00:00:00+02:00", "2022-12-31T22:00:00Z");
        check("2023-01-01T00:00:00.5Z", "2023-01-01T00:00:00.500Z");
        check("2023-01-01T00:00:00.0005Z", "2023-01-01T00:00:00.000500Z");
        check("2023-01-01T00:00:00.000000005Z", "2023-01-01T00:00:00.000000005Z");
    }
}
