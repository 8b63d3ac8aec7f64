//! Dates and times, as the `date` and `datetime` formats want them.

use crate::time::days_in_month;

/// Whether `value` is a day of the proleptic Gregorian calendar as `YYYY-MM-DD`.
// Upstream: strfmt/date.go, IsDate
pub fn is_date(value: &str) -> bool {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = value.as_bytes() else {
        return false;
    };
    let (Some(century), Some(years)) = (two_digits(*y1, *y2), two_digits(*y3, *y4)) else {
        return false;
    };
    let (Some(month), Some(day)) = (two_digits(*m1, *m2), two_digits(*d1, *d2)) else {
        return false;
    };
    let year = i64::from(century * 100 + years);
    let (month, day) = (i64::from(month), i64::from(day));
    (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day)
}

/// Whether `value` is a date and a time of day with a zone.
///
/// More lenient than RFC 3339 where upstream is: any character may stand for the point before the fraction, the offset
/// is not range-checked, and whatever follows a second `T` is ignored.
// Upstream: strfmt/time.go, IsDateTime
pub fn is_datetime(value: &str) -> bool {
    let mut parts = value.split(['T', 't']);
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else {
        return false;
    };
    is_date(date) && is_time(time)
}

fn is_time(value: &str) -> bool {
    let Some((clock, rest)) = value.split_at_checked(8) else {
        return false;
    };
    let [h1, h2, b':', m1, m2, b':', s1, s2] = clock.as_bytes() else {
        return false;
    };
    let within = |high: u8, low: u8, limit: u32| two_digits(high, low).is_some_and(|number| number <= limit);
    within(*h1, *h2, 23) && within(*m1, *m2, 59) && within(*s1, *s2, 59) && is_fraction_and_zone(rest)
}

fn is_fraction_and_zone(rest: &str) -> bool {
    is_zone(rest) || without_fraction(rest).is_some_and(is_zone)
}

fn without_fraction(rest: &str) -> Option<&str> {
    let mut characters = rest.chars();
    characters.next().filter(|point| *point != '\n')?;
    let digits = characters.as_str();
    let zone = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    (zone.len() < digits.len()).then_some(zone)
}

fn is_zone(zone: &str) -> bool {
    match zone.as_bytes() {
        [b'z' | b'Z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => [h1, h2, m1, m2].iter().all(|byte| byte.is_ascii_digit()),
        _ => false,
    }
}

fn two_digits(high: u8, low: u8) -> Option<u32> {
    let digit = |byte: u8| char::from(byte).to_digit(10);
    Some(digit(high)? * 10 + digit(low)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for valid in [
            "2024-02-29",
            "2000-02-29",
            "0000-02-29",
            "9999-12-31",
            "2023-04-30",
        ] {
            assert!(is_date(valid), "{valid}");
        }
        for invalid in [
            "",
            "2023-02-29",
            "1900-02-29",
            "2023-04-31",
            "2023-00-01",
            "2023-13-01",
            "2023-1-1",
            "+023-01-01",
            "2023-01-00",
            "2023-01-01 ",
        ] {
            assert!(!is_date(invalid), "{invalid}");
        }
    }

    #[test]
    fn times() {
        for valid in [
            "2023-01-01T00:00:00Z",
            "2023-01-01t23:59:59z",
            "2023-01-01T00:00:00.123456789012+99:99",
            "2023-01-01T00:00:00é5Z",
            "2023-01-01T00:00:00+123Z",
            "2023-01-01T00:00:00Ztail",
            "2023-01-01T00:00:0012-01:00",
        ] {
            assert!(is_datetime(valid), "{valid}");
        }
        for invalid in [
            "2023-01-01",
            "2023-01-01T",
            "2023-01-01 00:00:00Z",
            "2023-01-01T24:00:00Z",
            "2023-01-01T00:60:00Z",
            "2023-01-01T00:00:60Z",
            "2023-01-01T00:00:00",
            "2023-01-01T00:00:00.Z",
            "2023-01-01T00:00:00\n5Z",
            "2023-01-01T00:00:00+0100",
            "2023-02-30T00:00:00Z",
        ] {
            assert!(!is_datetime(invalid), "{invalid}");
        }
    }
}
