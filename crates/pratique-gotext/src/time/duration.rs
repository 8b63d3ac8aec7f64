//! A span of time.

use std::fmt::{self, Display, Formatter};

use super::quote::quote;
use super::timestamp::grouped_fraction;
use super::{Overflow, SECOND};
use crate::strconv::{plain_form, split_sign};

/// A span of time: some 292 years either way, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration {
    nanos: i64,
}

/// Why a text is no duration, with Go's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("time: {problem} duration {}", quote(text.as_bytes()))]
pub struct DurationError<'t> {
    text: &'t str,
    problem: DurationProblem<'t>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum DurationProblem<'t> {
    #[error("invalid")]
    Invalid,
    #[error("missing unit in")]
    MissingUnit,
    #[error("unknown unit {} in", quote(.0.as_bytes()))]
    UnknownUnit(&'t str),
}

/// What CEL can ask a duration for: all of it in a unit, cut toward zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurationField {
    /// Hours.
    Hours,
    /// Minutes.
    Minutes,
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
}

impl Duration {
    /// A duration of nanoseconds.
    #[inline]
    pub const fn from_nanos(nanos: i64) -> Self {
        Duration { nanos }
    }

    /// Its length in nanoseconds: `int(duration)`.
    #[inline]
    pub const fn nanos(self) -> i64 {
        self.nanos
    }

    /// A duration: a sign, and numbers with a unit each (`h`, `m`, `s`, `ms`, `us`, `ns`), or `0`.
    ///
    /// ```
    /// use pratique_gotext::time::Duration;
    ///
    /// assert_eq!(Duration::parse("1m0.5s").map(Duration::nanos), Ok(60_500_000_000));
    /// let error = Duration::parse("1d").unwrap_err();
    /// assert_eq!(error.to_string(), r#"time: unknown unit "d" in duration "1d""#);
    /// ```
    ///
    /// # Errors
    /// When the text is none, or too long a time.
    // Upstream: time/format.go, ParseDuration
    pub fn parse(text: &str) -> Result<Self, DurationError<'_>> {
        let invalid = DurationError {
            text,
            problem: DurationProblem::Invalid,
        };
        let (negative, mut rest) = split_sign(text);
        if rest == "0" {
            return Ok(Duration { nanos: 0 });
        }
        if rest.is_empty() {
            return Err(invalid);
        }
        let mut total = 0u64;
        while !rest.is_empty() {
            let (nanos, after) = parse_term(rest).map_err(|problem| DurationError { text, problem })?;
            total = total.checked_add(nanos).and_then(at_most_min).ok_or(invalid)?;
            rest = after;
        }
        let nanos = if negative {
            0i64.checked_sub_unsigned(total)
        } else {
            i64::try_from(total).ok()
        };
        nanos.map(Self::from_nanos).ok_or(invalid)
    }

    /// The sum of two durations.
    #[inline]
    pub fn checked_add(self, other: Duration) -> Result<Self, Overflow> {
        self.nanos
            .checked_add(other.nanos)
            .map(Self::from_nanos)
            .ok_or(Overflow::Integer)
    }

    /// The difference of two durations.
    #[inline]
    pub fn checked_sub(self, other: Duration) -> Result<Self, Overflow> {
        self.nanos
            .checked_sub(other.nanos)
            .map(Self::from_nanos)
            .ok_or(Overflow::Integer)
    }

    /// As long a time the other way.
    #[inline]
    pub fn checked_neg(self) -> Result<Self, Overflow> {
        self.nanos
            .checked_neg()
            .map(Self::from_nanos)
            .ok_or(Overflow::Integer)
    }

    /// All of it in a unit.
    pub fn field(self, field: DurationField) -> i64 {
        // The first three go through doubles in Go, where a last nanosecond can round up.
        match field {
            DurationField::Hours => self.in_units(3_600 * SECOND) as i64,
            DurationField::Minutes => self.in_units(60 * SECOND) as i64,
            DurationField::Seconds => self.in_units(SECOND) as i64,
            DurationField::Milliseconds => self.nanos / 1_000_000,
        }
    }

    /// The form of protobuf's JSON: seconds with 0, 3, 6 or 9 digits of fraction.
    pub fn to_proto_json(self) -> String {
        let sign = if self.nanos < 0 { "-" } else { "" };
        let seconds = (self.nanos / SECOND).unsigned_abs();
        // The remainder of a second fits.
        let nanos = u32::try_from((self.nanos % SECOND).unsigned_abs()).unwrap_or(0);
        format!("{sign}{seconds}{}s", grouped_fraction(nanos))
    }

    fn in_units(self, unit: i64) -> f64 {
        (self.nanos / unit) as f64 + (self.nanos % unit) as f64 / unit as f64
    }
}

impl Duration {
    /// The form that messages of the reference show: `1h0m0.5s`, and less than a second `500ms`.
    // Upstream: time/time.go, Duration.String
    pub fn in_messages(&self) -> String {
        let nanos = self.nanos.unsigned_abs();
        let sign = if self.nanos < 0 { "-" } else { "" };
        let in_unit = |nanos: u64, unit: u64, digits: usize| {
            let fraction = format!(".{:0digits$}", nanos % unit);
            let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
            format!("{}{fraction}", nanos / unit)
        };
        let second = SECOND.unsigned_abs();
        match (nanos, nanos / (60 * second)) {
            (0, _) => "0s".to_owned(),
            (..1_000, _) => format!("{sign}{nanos}ns"),
            (..1_000_000, _) => format!("{sign}{}µs", in_unit(nanos, 1_000, 3)),
            (..1_000_000_000, _) => format!("{sign}{}ms", in_unit(nanos, 1_000_000, 6)),
            (_, minutes) => {
                let seconds = in_unit(nanos % (60 * second), second, 9);
                match (minutes / 60, minutes % 60) {
                    (0, 0) => format!("{sign}{seconds}s"),
                    (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
                    (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
                }
            }
        }
    }
}

/// Seconds as the shortest decimal of a double, and `s`: `string(duration)`.
impl Display for Duration {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}s", plain_form(self.in_units(SECOND), None))
    }
}

/// One number and its unit, in nanoseconds; and the rest of the text.
fn parse_term(text: &str) -> Result<(u64, &str), DurationProblem<'_>> {
    let (digits, rest) = split_digits(text);
    let whole = digits.bytes().try_fold(0u64, |value, digit| {
        at_most_min(value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?)
    });
    let whole = whole.ok_or(DurationProblem::Invalid)?;
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), split_digits);
    if digits.is_empty() && fraction.is_empty() {
        return Err(DurationProblem::Invalid);
    }
    let end = rest
        .find(|next: char| next == '.' || next.is_ascii_digit())
        .unwrap_or(rest.len());
    let (name, rest) = rest.split_at_checked(end).unwrap_or((rest, ""));
    if name.is_empty() {
        return Err(DurationProblem::MissingUnit);
    }
    let unit = unit(name).ok_or(DurationProblem::UnknownUnit(name))?;
    let nanos = whole.checked_mul(unit).and_then(at_most_min);
    let nanos = nanos.and_then(|nanos| at_most_min(nanos + fraction_of(fraction, unit)));
    Ok((nanos.ok_or(DurationProblem::Invalid)?, rest))
}

/// A fraction of a unit, computed in doubles as Go does; digits that overflow 63 bits do not count.
fn fraction_of(digits: &str, unit: u64) -> u64 {
    let (mut value, mut scale) = (0u64, 1f64);
    for digit in digits.bytes() {
        if value > (i64::MAX as u64) / 10 {
            break;
        }
        let next = value * 10 + u64::from(digit - b'0');
        if next > MIN_MAGNITUDE {
            break;
        }
        value = next;
        scale *= 10.0;
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

/// The length of the longest negative duration.
const MIN_MAGNITUDE: u64 = i64::MIN.unsigned_abs();

fn at_most_min(nanos: u64) -> Option<u64> {
    (nanos <= MIN_MAGNITUDE).then_some(nanos)
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text
        .find(|next: char| !next.is_ascii_digit())
        .unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Nanoseconds in a unit; a microsecond has both its micro signs.
fn unit(name: &str) -> Option<u64> {
    Some(match name {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses() {
        let check = |text, expected: Option<i64>| {
            assert_eq!(
                Duration::parse(text).map(Duration::nanos).ok(),
                expected,
                "{text}"
            )
        };
        check("0", Some(0));
        check("-0", Some(0));
        check("1h15m30.918273645s", Some(4_530_918_273_645));
        check("+5.s", Some(5_000_000_000));
        check("-.5ms", Some(-500_000));
        check("1us2µs3μs4ns", Some(6_004));
        check("9223372036854775807ns", Some(i64::MAX));
        check("-9223372036854775808ns", Some(i64::MIN));
        check("9223372036854775808ns", None);
        check("2562047h47m16.854775807s", Some(i64::MAX));
        check("2562048h", None);
        check("0.100000000000000000000h", Some(360_000_000_000));
        check("0.830103483285477580700h", Some(2_988_372_539_827));
        check("1s1s", Some(2_000_000_000));
        for text in [
            "",
            "-",
            "3",
            "s",
            ".s",
            "-.s",
            "1d",
            "1 s",
            "1s ",
            "1.2.3s",
            "00",
            "1sm",
            "--1s",
            "99999999999999999999s",
            "1e3s",
        ] {
            check(text, None);
        }
    }

    /// The results of Go 1.26 for the same texts.
    #[test]
    fn faults() {
        let check = |text: &str, expected: &str| {
            let shown = Duration::parse(text).map_or_else(|error| error.to_string(), |_| String::new());
            assert_eq!(shown, expected);
        };
        check("", r#"time: invalid duration """#);
        check("-", r#"time: invalid duration "-""#);
        check(".s", r#"time: invalid duration ".s""#);
        check("2562048h", r#"time: invalid duration "2562048h""#);
        check("3", r#"time: missing unit in duration "3""#);
        check("1s2", r#"time: missing unit in duration "1s2""#);
        check("1d", r#"time: unknown unit "d" in duration "1d""#);
        check(
            "1s é",
            r#"time: unknown unit "s \xc3\xa9" in duration "1s \xc3\xa9""#,
        );
        check("1.2.3s", r#"time: missing unit in duration "1.2.3s""#);
    }

    #[test]
    fn messages() {
        let check = |nanos, expected: &str| assert_eq!(Duration::from_nanos(nanos).in_messages(), expected);
        check(0, "0s");
        check(1, "1ns");
        check(-1_500, "-1.5µs");
        check(500_000_000, "500ms");
        check(60 * SECOND, "1m0s");
        check(3_601 * SECOND, "1h0m1s");
        check(i64::MIN, "-2562047h47m16.854775808s");
    }

    #[test]
    fn prints() {
        let check = |text, expected: &str, json: &str| {
            let duration = Duration::parse(text).unwrap();
            assert_eq!(duration.to_string(), expected);
            assert_eq!(duration.to_proto_json(), json);
        };
        check("1h", "3600s", "3600s");
        check("-1.5s", "-1.5s", "-1.500s");
        check("0", "0s", "0s");
        check("1ns", "0.000000001s", "0.000000001s");
        check("-250us", "-0.00025s", "-0.000250s");
        check(
            "2562047h47m16.854775807s",
            "9223372036.854776s",
            "9223372036.854775807s",
        );
    }

    #[test]
    fn fields() {
        let check = |nanos, expected: [i64; 4]| {
            let all = [
                DurationField::Hours,
                DurationField::Minutes,
                DurationField::Seconds,
                DurationField::Milliseconds,
            ];
            assert_eq!(
                all.map(|field| Duration::from_nanos(nanos).field(field)),
                expected
            );
        };
        check(3_661_999_999_999, [1, 61, 3_661, 3_661_999]);
        check(-5_400_000_000_000, [-1, -90, -5_400, -5_400_000]);
        check(
            i64::MAX,
            [2_562_047, 153_722_867, 9_223_372_036, 9_223_372_036_854],
        );
    }

    #[test]
    fn arithmetic() {
        let (most, least) = (Duration::from_nanos(i64::MAX), Duration::from_nanos(i64::MIN));
        let one = Duration::from_nanos(1);
        assert_eq!(most.checked_add(one), Err(Overflow::Integer));
        assert_eq!(least.checked_sub(one), Err(Overflow::Integer));
        assert_eq!(least.checked_neg(), Err(Overflow::Integer));
        assert_eq!(most.checked_add(least), Ok(Duration::from_nanos(-1)));
    }
}
