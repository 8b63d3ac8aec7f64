//! Time zones, as the `getHours(timezone)` family takes them.

use jiff::tz::{TimeZone, TimeZoneDatabase};
use pratique_gotext::strconv::{NumberError, atoi};

use super::{Timestamp, TimestampField};

/// Seconds in a day.
const DAY: i64 = 86_400;

/// A time zone.
#[derive(Clone, Debug)]
pub enum Zone {
    /// A fixed number of seconds east of UTC.
    Fixed(i64),
    /// A zone of the IANA database.
    Named(TimeZone),
}

/// Why a text is no time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ZoneError {
    /// No zone has this name, in this case of letters.
    #[error("unknown time zone {0}")]
    Unknown(String),
    /// A name that leads out of a directory of zones.
    #[error("time: invalid location name")]
    Invalid,
    /// The name of a group of zones: `America`.
    #[error("is a directory")]
    Group,
    /// A name below that of a zone: `UTC/x`.
    #[error("not a directory")]
    BelowZone,
    /// A name that no file can have.
    #[error("invalid argument")]
    Nul,
    /// Hours or minutes that are no numbers.
    #[error(transparent)]
    Number(#[from] NumberError),
}

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Zone = Zone::Fixed(0);

    /// A zone from its IANA name, `UTC`, `Local` (here also UTC), the empty text (UTC), or hours and minutes
    /// with a colon between: `02:00`, `-07:30`. Neither hours nor minutes have a limit.
    pub fn parse(text: &str) -> Result<Self, ZoneError> {
        match text.split_once(':') {
            Some((hours, minutes)) => Ok(Zone::Fixed(fixed_offset(text, atoi(hours)?, atoi(minutes)?))),
            None if matches!(text, "" | "UTC" | "Local") => Ok(Zone::UTC),
            None => named(text),
        }
    }

    /// A part of a date and time of day in this zone.
    pub fn field(&self, of: Timestamp, field: TimestampField) -> i64 {
        of.field(field, self.offset_at(of.seconds()))
    }

    /// Seconds east of UTC at some seconds since 1970.
    fn offset_at(&self, seconds: i64) -> i64 {
        match self {
            Zone::Fixed(offset) => *offset,
            Zone::Named(zone) => jiff::Timestamp::from_second(within_database(seconds))
                .map_or(0, |timestamp| i64::from(zone.to_offset(timestamp).seconds())),
        }
    }
}

/// A time of the same offset that the database knows: it ends before the last day of 9999, but what holds then holds
/// for good, in each cycle of the calendar.
fn within_database(seconds: i64) -> i64 {
    const CYCLE: i64 = 146_097 * DAY;
    let (first, last) = (jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
    match seconds {
        _ if seconds < first => first,
        _ if seconds > last => last - CYCLE + 1 + (seconds - last - 1) % CYCLE,
        _ => seconds,
    }
}

/// Seconds east of UTC. The sums wrap, as Go's do.
fn fixed_offset(text: &str, hours: i64, minutes: i64) -> i64 {
    let hours = hours.wrapping_mul(60);
    let minutes = if text.starts_with('-') {
        hours.wrapping_sub(minutes)
    } else {
        hours.wrapping_add(minutes)
    };
    minutes.wrapping_mul(60_000_000_000) / 1_000_000_000
}

fn named(name: &str) -> Result<Zone, ZoneError> {
    if name.contains("..") || name.starts_with(['/', '\\']) {
        return Err(ZoneError::Invalid);
    }
    if name.contains('\0') {
        return Err(ZoneError::Nul);
    }
    let database = TimeZoneDatabase::bundled();
    match database.get(name) {
        // The database ignores case; a file system of zones does not.
        Ok(zone) if zone.iana_name() == Some(name) => Ok(Zone::Named(zone)),
        _ if is_group(&database, name) => Err(ZoneError::Group),
        _ if is_below_zone(&database, name) => Err(ZoneError::BelowZone),
        _ => Err(ZoneError::Unknown(name.to_owned())),
    }
}

fn is_group(database: &TimeZoneDatabase, name: &str) -> bool {
    let name = name.trim_end_matches('/');
    database.available().any(|zone| is_below(zone.as_str(), name))
}

fn is_below_zone(database: &TimeZoneDatabase, name: &str) -> bool {
    name.contains('/') && database.available().any(|zone| is_below(name, zone.as_str()))
}

/// Whether a path begins with a directory.
fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory)
        .is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets() {
        // 2023-07-01T00:30:00Z
        let check = |text, expected: i64| {
            assert_eq!(
                Zone::parse(text).map(|zone| zone.offset_at(1_688_171_400)),
                Ok(expected),
                "{text}"
            )
        };
        check("", 0);
        check("UTC", 0);
        check("Local", 0);
        check("Europe/Berlin", 7_200);
        check("US/Central", -18_000);
        check("Asia/Kolkata", 19_800);
        check("EST5EDT", -14_400);
        check("Etc/GMT+1", -3_600);
        check("02:00", 7_200);
        check("+24:00", 86_400);
        check("-07:30", -27_000);
        check("-0:30", -1_800);
        check("1:-1", 3_540);
        check("99:00", 356_400);
        check("200000000:00", 576_981_125);
    }

    #[test]
    fn fields() {
        use TimestampField as F;
        let all = [
            F::FullYear,
            F::Month,
            F::DayOfYear,
            F::Date,
            F::DayOfMonth,
            F::DayOfWeek,
            F::Hours,
            F::Minutes,
            F::Seconds,
            F::Milliseconds,
        ];
        let check = |text: &str, zone: &str, expected: [i64; 10]| {
            let zone = Zone::parse(zone).unwrap();
            assert_eq!(
                all.map(|field| zone.field(Timestamp::parse(text).unwrap(), field)),
                expected
            );
        };
        check(
            "2024-12-31T23:59:58.987Z",
            "",
            [2024, 11, 365, 31, 30, 2, 23, 59, 58, 987],
        );
        check(
            "2024-12-31T23:59:58.987+05:00",
            "UTC",
            [2024, 11, 365, 31, 30, 2, 18, 59, 58, 987],
        );
        check(
            "2023-07-01T22:30:00Z",
            "Europe/Berlin",
            [2023, 6, 182, 2, 1, 0, 0, 30, 0, 0],
        );
        check(
            "2023-07-01T00:30:00Z",
            "-07:30",
            [2023, 5, 180, 30, 29, 5, 17, 0, 0, 0],
        );
        check(
            "9999-12-31T03:59:59Z",
            "America/New_York",
            [9999, 11, 363, 30, 29, 4, 22, 59, 59, 0],
        );
        check(
            "0001-01-01T00:00:00Z",
            "-1:00",
            [0, 11, 365, 31, 30, 0, 23, 0, 0, 0],
        );
    }

    #[test]
    fn zones_of_any_year() {
        let zone = Zone::parse("America/New_York").unwrap();
        let time = Timestamp::of_message(9_007_199_254_740_993, 0);
        assert_eq!(zone.field(time, TimestampField::Hours), 2);
    }

    #[test]
    fn errors() {
        let check = |text, expected: &str| assert_eq!(Zone::parse(text).unwrap_err().to_string(), expected);
        check("utc", "unknown time zone utc");
        check("europe/berlin", "unknown time zone europe/berlin");
        check("Etc/Unknown", "unknown time zone Etc/Unknown");
        check("+0200", "unknown time zone +0200");
        check("America", "is a directory");
        check("Australia/", "is a directory");
        check("UTC/x", "not a directory");
        check("Europe/Berlin/", "not a directory");
        check("../x", "time: invalid location name");
        check("/x", "time: invalid location name");
        check("/\0", "time: invalid location name");
        check("UTC\0", "invalid argument");
        check(":", r#"strconv.Atoi: parsing "": invalid syntax"#);
        check("1:x", r#"strconv.Atoi: parsing "x": invalid syntax"#);
        check(
            "9999999999999999999:00",
            r#"strconv.Atoi: parsing "9999999999999999999": value out of range"#,
        );
    }
}
