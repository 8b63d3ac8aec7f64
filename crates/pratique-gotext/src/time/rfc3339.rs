//! Reading timestamps.
//!
//! That is a little wider than RFC 3339: the hour may be one digit, a comma may stand before the fraction,
//! and an offset may be up to 24 hours and 60 minutes. Digits of the fraction past the ninth are dropped.

use std::fmt::{self, Display, Formatter};

use super::calendar::{DAY, days_from_civil, days_in_month};
use super::quote::quote;

/// How a point in time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLayout {
    /// RFC 3339, with any fraction of a second: `metav1.Time`, `timestamp(string)`.
    Rfc3339,
    /// RFC 3339 with six digits for microseconds: `metav1.MicroTime`.
    Rfc3339Micro,
}

/// The fields of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedTime {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Nanoseconds after that second.
    pub nanos: u32,
    /// The written offset from UTC.
    pub offset_minutes: i16,
}

/// Why a text is no point in time, with Go's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError<'t> {
    text: &'t str,
    layout: TimeLayout,
    problem: TimeProblem,
}

/// The kind of error, and the number of bytes that were left to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeProblem {
    /// The text does not continue as this piece of the layout requires.
    Unfit { piece: &'static str, left: usize },
    /// A number is too small or too large.
    OutOfRange(&'static str),
    /// The text goes on behind the time.
    Extra { left: usize },
}

/// Reads a timestamp.
///
/// ```
/// use pratique_gotext::time::{TimeLayout, parse};
///
/// let time = parse("1970-01-01T00:01:00.5+00:30", TimeLayout::Rfc3339)?;
/// assert_eq!((time.seconds, time.nanos, time.offset_minutes), (-1_740, 500_000_000, 30));
/// # Ok::<(), pratique_gotext::time::ParseError<'static>>(())
/// ```
///
/// # Errors
/// The first piece of the text that does not fit the layout, or the first number that is out of range.
// Upstream: time/format.go, Parse
pub fn parse(text: &str, layout: TimeLayout) -> Result<ParsedTime, ParseError<'_>> {
    read(RestOfText(text.as_bytes()), layout).map_err(|problem| ParseError {
        text,
        layout,
        problem,
    })
}

fn read(mut rest: RestOfText<'_>, layout: TimeLayout) -> Result<ParsedTime, TimeProblem> {
    let year = rest.digits(4, "2006")?;
    rest.expect(b'-', "-")?;
    let month = within(rest.digits(2, "01")?, 1, 12, "month")?;
    rest.expect(b'-', "-")?;
    let day = rest.digits(2, "02")?;
    rest.expect(b'T', "T")?;
    let hour = within(rest.hour()?, 0, 23, "hour")?;
    rest.expect(b':', ":")?;
    let minute = within(rest.digits(2, "04")?, 0, 59, "minute")?;
    rest.expect(b':', ":")?;
    let second = within(rest.digits(2, "05")?, 0, 59, "second")?;
    let nanos = match layout {
        TimeLayout::Rfc3339 => rest.fraction(),
        TimeLayout::Rfc3339Micro => rest.micros()?,
    };
    let offset_minutes = rest.offset()?;
    if !rest.0.is_empty() {
        return Err(TimeProblem::Extra { left: rest.0.len() });
    }
    // Go looks at the day when it has all of the date.
    within(day, 1, days_in_month(year, month), "day")?;
    let local = days_from_civil(year, month, day) * DAY + hour * 3_600 + minute * 60 + second;
    let seconds = local - i64::from(offset_minutes) * 60;
    Ok(ParsedTime {
        seconds,
        nanos,
        offset_minutes,
    })
}

fn within(number: i64, least: i64, most: i64, name: &'static str) -> Result<i64, TimeProblem> {
    if (least..=most).contains(&number) {
        Ok(number)
    } else {
        Err(TimeProblem::OutOfRange(name))
    }
}

/// The rest of the text.
struct RestOfText<'a>(&'a [u8]);

impl RestOfText<'_> {
    fn unfit(&self, piece: &'static str) -> TimeProblem {
        TimeProblem::Unfit {
            piece,
            left: self.0.len(),
        }
    }

    fn expect(&mut self, byte: u8, piece: &'static str) -> Result<(), TimeProblem> {
        match self.0.split_first() {
            Some((first, rest)) if *first == byte => {
                self.0 = rest;
                Ok(())
            }
            _ => Err(self.unfit(piece)),
        }
    }

    fn digits(&mut self, count: usize, piece: &'static str) -> Result<i64, TimeProblem> {
        let split = self.0.split_at_checked(count);
        let read = split.and_then(|(digits, rest)| Some((decimal(digits)?, rest)));
        let (number, rest) = read.ok_or_else(|| self.unfit(piece))?;
        self.0 = rest;
        Ok(number)
    }

    /// One or two digits.
    fn hour(&mut self) -> Result<i64, TimeProblem> {
        let two = self.0.get(1).is_some_and(u8::is_ascii_digit);
        self.digits(if two { 2 } else { 1 }, "15")
    }

    /// A point or comma and digits, if there are some; the nanoseconds.
    fn fraction(&mut self) -> u32 {
        let [b'.' | b',', fraction @ ..] = self.0 else {
            return 0;
        };
        let count = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let Some((digits, rest)) = fraction.split_at_checked(count).filter(|_| count > 0) else {
            return 0;
        };
        self.0 = rest;
        let padded = digits.iter().copied().chain(std::iter::repeat(b'0')).take(9);
        padded.fold(0, |nanos, digit| nanos * 10 + u32::from(digit - b'0'))
    }

    /// A point or comma and six digits, of which Go lets the first be a sign; the nanoseconds.
    fn micros(&mut self) -> Result<u32, TimeProblem> {
        let unfit = self.unfit(".000000");
        let Some(([b'.' | b',', number @ ..], rest)) = self.0.split_at_checked(7) else {
            return Err(unfit);
        };
        let (negative, digits) = match number {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] => (false, digits),
            digits => (false, digits),
        };
        let micros = decimal(digits).ok_or(unfit)?;
        if negative && micros > 0 {
            return Err(TimeProblem::OutOfRange("fractional second"));
        }
        self.0 = rest;
        // Six digits fit.
        Ok(u32::try_from(micros * 1_000).unwrap_or_default())
    }

    /// `Z`, or a sign, hours and minutes. Go looks at the ranges of the numbers before anything else.
    fn offset(&mut self) -> Result<i16, TimeProblem> {
        let unfit = self.unfit("Z07:00");
        if let [b'Z', rest @ ..] = self.0 {
            self.0 = rest;
            return Ok(0);
        }
        let Some(([sign, h1, h2, b':', m1, m2], rest)) = self.0.split_at_checked(6) else {
            return Err(unfit);
        };
        let hours = decimal(&[*h1, *h2]);
        let minutes = hours.and(decimal(&[*m1, *m2]));
        let (hours, minutes) = match (hours, minutes) {
            (_, Some(minutes)) if minutes > 60 => {
                return Err(TimeProblem::OutOfRange("time zone offset minute"));
            }
            (Some(hours), _) if hours > 24 => return Err(TimeProblem::OutOfRange("time zone offset hour")),
            (Some(hours), Some(minutes)) => (hours, minutes),
            _ => return Err(unfit),
        };
        let sign = match sign {
            b'+' => 1,
            b'-' => -1,
            _ => return Err(unfit),
        };
        self.0 = rest;
        i16::try_from(sign * (hours * 60 + minutes)).map_err(|_| unfit)
    }
}

/// The number that digits are.
fn decimal(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |value, digit| {
        digit
            .is_ascii_digit()
            .then(|| value * 10 + i64::from(digit - b'0'))
    })
}

impl TimeLayout {
    fn as_str(self) -> &'static str {
        match self {
            TimeLayout::Rfc3339 => "2006-01-02T15:04:05Z07:00",
            TimeLayout::Rfc3339Micro => "2006-01-02T15:04:05.000000Z07:00",
        }
    }
}

// Upstream: time/format.go, ParseError.Error
impl Display for ParseError<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let bytes = self.text.as_bytes();
        let last = |left: usize| quote(bytes.get(bytes.len().saturating_sub(left)..).unwrap_or_default());
        write!(formatter, "parsing time {}", quote(bytes))?;
        match self.problem {
            TimeProblem::Unfit { piece, left } => {
                let layout = self.layout.as_str();
                write!(
                    formatter,
                    " as \"{layout}\": cannot parse {} as \"{piece}\"",
                    last(left)
                )
            }
            TimeProblem::OutOfRange(name) => write!(formatter, ": {name} out of range"),
            TimeProblem::Extra { left } => write!(formatter, ": extra text: {}", last(left)),
        }
    }
}

impl std::error::Error for ParseError<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(layout: TimeLayout, text: &str, expected: &str) {
        let shown = match parse(text, layout) {
            Ok(time) => format!("{}.{:09} {}", time.seconds, time.nanos, time.offset_minutes),
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expected, "{text}");
    }

    /// The results of Go 1.26 for the same texts.
    #[test]
    fn the_first_error_is_reported() {
        let unfit = |text: &str, rest: &str, piece: &str| {
            let expected = format!(
                "parsing time \"{text}\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"{rest}\" as \"{piece}\""
            );
            check(TimeLayout::Rfc3339, text, &expected);
        };
        unfit("yesterday", "yesterday", "2006");
        unfit("", "", "2006");
        unfit("2026-01-02", "", "T");
        unfit("2026-1-02T03:04:05Z", "1-02T03:04:05Z", "01");
        unfit("2026-01-02 03:04:05Z", " 03:04:05Z", "T");
        unfit("2026-01-02Tx", "x", "15");
        unfit("2026-01-02T3:4:05Z", "4:05Z", "04");
        unfit("2026-01-02T03:04:05", "", "Z07:00");
        unfit("2026-01-02T03:04:05.Z", ".Z", "Z07:00");
        unfit("2026-01-02T03:04:05+0100", "+0100", "Z07:00");
        unfit("2026-01-02T03:04:05+1x:00", "+1x:00", "Z07:00");
        unfit("2026-01-02T03:04:05*01:00", "*01:00", "Z07:00");
        let says = |text: &str, problem: &str| {
            check(
                TimeLayout::Rfc3339,
                text,
                &format!("parsing time \"{text}\": {problem}"),
            );
        };
        says("2026-13-02T03:04:05Z", "month out of range");
        says("2026-00-x", "month out of range");
        says("2026-01-02T24:04", "hour out of range");
        says("2026-01-02T03:60:05Z", "minute out of range");
        says("2026-01-02T03:04:60Z", "second out of range");
        says("2026-01-02T03:04:05+25:00", "time zone offset hour out of range");
        says("2026-01-02T03:04:05*25:00", "time zone offset hour out of range");
        says(
            "2026-01-02T03:04:05+25:61",
            "time zone offset minute out of range",
        );
        says("2026-01-02T03:04:05+25:6x", "time zone offset hour out of range");
        says("2026-02-30T03:04:05Z", "day out of range");
        says("2026-02-00T03:04:05Z", "day out of range");
        says("2026-02-30T03:04:05Zulu", r#"extra text: "ulu""#);
        says("2026-01-02T03:04:05.5+01:00 ", r#"extra text: " ""#);
        check(
            TimeLayout::Rfc3339,
            "é\t",
            r#"parsing time "\xc3\xa9\x09" as "2006-01-02T15:04:05Z07:00": cannot parse "\xc3\xa9\x09" as "2006""#,
        );
    }

    #[test]
    fn microseconds_have_six_digits() {
        let check = |text: &str, expected: &str| check(TimeLayout::Rfc3339Micro, text, expected);
        check("1970-01-01T00:00:01.123456Z", "1.123456000 0");
        check("1970-01-01T00:00:01,000001+00:01", "-59.000001000 1");
        check("1970-01-01T00:00:01.+12345Z", "1.012345000 0");
        check("1970-01-01T00:00:01.-00000Z", "1.000000000 0");
        check(
            "1970-01-01T00:00:01.-00001Z",
            r#"parsing time "1970-01-01T00:00:01.-00001Z": fractional second out of range"#,
        );
        check(
            "2024-01-02T03:04:05Z",
            r#"parsing time "2024-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000""#,
        );
        check(
            "2024-01-02T03:04:05.1234567Z",
            r#"parsing time "2024-01-02T03:04:05.1234567Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "7Z" as "Z07:00""#,
        );
    }
}
