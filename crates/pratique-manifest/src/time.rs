//! Times in RFC 3339, with the server's words for those that are not.
//!
//! The server is lenient: an hour may have one digit, a fraction may follow a comma, an offset may be 24 hours.

use k8s_openapi::jiff::{SignedDuration, Timestamp, civil, fmt::strtime, tz::TimeZone};
use pratique_gotext::time::quote as quoted;

const LAYOUT: &str = "2006-01-02T15:04:05Z07:00";

/// A time in UTC, in whole seconds; none for the zero time. Times outside of the years that a timestamp here can have
/// become its first or last.
pub(crate) fn canonical(text: &str) -> Result<Option<String>, String> {
    let mut reader = Reader { text, rest: text };
    let (date, time, offset) = reader.read()?;
    if (date, time, offset) == (civil::date(1, 1, 1), civil::Time::midnight(), 0) {
        return Ok(None);
    }
    let bound = if date.year() > 5000 {
        Timestamp::MAX
    } else {
        Timestamp::MIN
    };
    let local = date.to_datetime(time).to_zoned(TimeZone::UTC);
    let utc = local.ok().and_then(|local| {
        let offset = SignedDuration::from_secs(offset);
        local.timestamp().checked_sub(offset).ok()
    });
    strtime::format("%Y-%m-%dT%H:%M:%SZ", utc.unwrap_or(bound))
        .map(Some)
        .map_err(|_| reader.out_of_range("year"))
}

/// Goes through a time part by part; the first that does not fit is named.
struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
}

impl Reader<'_> {
    /// A date, a time of day, and its offset from UTC in seconds.
    fn read(&mut self) -> Result<(civil::Date, civil::Time, i64), String> {
        let year = self.number("2006", 4, 4)?;
        self.literal("-")?;
        let month = self.number("01", 2, 2)?;
        if !(1..=12).contains(&month) {
            return Err(self.out_of_range("month"));
        }
        self.literal("-")?;
        let day = self.number("02", 2, 2)?;
        self.literal("T")?;
        let hour = self.number("15", 1, 2)?;
        self.at_most(hour, 23, "hour")?;
        self.literal(":")?;
        let minute = self.number("04", 2, 2)?;
        self.at_most(minute, 59, "minute")?;
        self.literal(":")?;
        let second = self.number("05", 2, 2)?;
        self.at_most(second, 59, "second")?;
        self.skip_fraction();
        let offset = self.zone()?;
        if !self.rest.is_empty() {
            let extra = quoted(self.rest);
            return Err(format!("parsing time {}: extra text: {extra}", quoted(self.text)));
        }
        let narrow = |value: i64| i8::try_from(value).unwrap_or_default();
        let date = civil::Date::new(
            i16::try_from(year).unwrap_or_default(),
            narrow(month),
            narrow(day),
        );
        let date = date.map_err(|_| self.out_of_range("day"))?;
        let time = civil::Time::new(narrow(hour), narrow(minute), narrow(second), 0);
        Ok((date, time.map_err(|_| self.out_of_range("second"))?, offset))
    }

    /// A number of so many digits, named by how the layout writes it.
    fn number(&mut self, element: &str, least: usize, most: usize) -> Result<i64, String> {
        let digits = self
            .rest
            .bytes()
            .take(most)
            .take_while(u8::is_ascii_digit)
            .count();
        let value = self.rest.get(..digits).filter(|_| digits >= least);
        let value = value.and_then(|digits| digits.parse().ok());
        let value = value.ok_or_else(|| self.unexpected(self.rest, element))?;
        self.rest = self.rest.get(digits..).unwrap_or_default();
        Ok(value)
    }

    fn literal(&mut self, element: &str) -> Result<(), String> {
        self.rest = self
            .rest
            .strip_prefix(element)
            .ok_or_else(|| self.unexpected(self.rest, element))?;
        Ok(())
    }

    fn at_most(&self, value: i64, max: i64, name: &str) -> Result<(), String> {
        if value > max {
            return Err(self.out_of_range(name));
        }
        Ok(())
    }

    fn skip_fraction(&mut self) {
        let is_digit = |c: char| c.is_ascii_digit();
        if let Some(after) = self.rest.strip_prefix(['.', ','])
            && after.starts_with(is_digit)
        {
            self.rest = after.trim_start_matches(is_digit);
        }
    }

    fn zone(&mut self) -> Result<i64, String> {
        const ELEMENT: &str = "Z07:00";
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let whole = self.rest;
        let part = |from, to| {
            let digits = whole
                .get(from..to)
                .filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
            digits.and_then(|digits| digits.parse::<i64>().ok())
        };
        let sign = match whole.as_bytes() {
            [b'+', _, _, b':', _, _, ..] => 1,
            [b'-', _, _, b':', _, _, ..] => -1,
            _ => return Err(self.unexpected(whole, ELEMENT)),
        };
        let (Some(hours), Some(minutes)) = (part(1, 3), part(4, 6)) else {
            return Err(self.unexpected(whole, ELEMENT));
        };
        self.at_most(hours, 24, "time zone offset hour")?;
        self.at_most(minutes, 60, "time zone offset minute")?;
        self.rest = whole.get(6..).unwrap_or_default();
        Ok(sign * (hours * 60 + minutes) * 60)
    }

    fn unexpected(&self, rest: &str, element: &str) -> String {
        let (text, rest) = (quoted(self.text), quoted(rest));
        format!("parsing time {text} as {LAYOUT:?}: cannot parse {rest} as {element:?}")
    }

    fn out_of_range(&self, name: &str) -> String {
        format!("parsing time {}: {name} out of range", quoted(self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_seconds_or_say_why_not() {
        for (text, expected) in [
            ("2026-01-02T03:04:05Z", Ok("2026-01-02T03:04:05Z")),
            ("2026-01-02T03:04:05.678+01:00", Ok("2026-01-02T02:04:05Z")),
            ("2026-01-02T3:04:05,5+24:00", Ok("2026-01-01T03:04:05Z")),
            (
                "2026-01-02T03:04:05+25:00",
                Err(r#"parsing time "2026-01-02T03:04:05+25:00": time zone offset hour out of range"#),
            ),
            (
                "é\t",
                Err(
                    r#"parsing time "\xc3\xa9\x09" as "2006-01-02T15:04:05Z07:00": cannot parse "\xc3\xa9\x09" as "2006""#,
                ),
            ),
            (
                "yesterday",
                Err(
                    r#"parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006""#,
                ),
            ),
            (
                "2026-01-02",
                Err(r#"parsing time "2026-01-02" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T""#),
            ),
            (
                "2026-13-02T03:04:05Z",
                Err(r#"parsing time "2026-13-02T03:04:05Z": month out of range"#),
            ),
            (
                "2026-02-30T03:04:05Z",
                Err(r#"parsing time "2026-02-30T03:04:05Z": day out of range"#),
            ),
            (
                "2026-01-02T03:04:05Zx",
                Err(r#"parsing time "2026-01-02T03:04:05Zx": extra text: "x""#),
            ),
        ] {
            assert_eq!(
                canonical(text),
                expected.map(|text| Some(text.to_owned())).map_err(str::to_owned)
            );
        }
    }
}
