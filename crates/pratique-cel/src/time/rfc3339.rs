//! Reading timestamps as Go's `time.Parse` does with its layout for RFC 3339.
//!
//! That is a little wider than the standard: the hour may be one digit, a comma may stand before the fraction,
//! and an offset may be up to 24 hours and 60 minutes. Digits of the fraction past the ninth are dropped.

use super::calendar::{DAY, days_from_civil, days_in_month};

/// What a text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub(super) seconds: i64,
    pub(super) nanos: u32,
    /// The written offset from UTC.
    pub(super) offset_minutes: i16,
}

/// Reads a timestamp; `None` where the text is none.
pub(super) fn parse(text: &str) -> Option<Parsed> {
    let mut rest = Rest(text.as_bytes());
    let year = rest.digits(4)?;
    rest.expect(b'-')?;
    let month = rest.digits(2).filter(|month| (1..=12).contains(month))?;
    rest.expect(b'-')?;
    let day = rest
        .digits(2)
        .filter(|day| (1..=days_in_month(year, month)).contains(day))?;
    rest.expect(b'T')?;
    let hour = rest.hour().filter(|hour| *hour < 24)?;
    rest.expect(b':')?;
    let minute = rest.digits(2).filter(|minute| *minute < 60)?;
    rest.expect(b':')?;
    let second = rest.digits(2).filter(|second| *second < 60)?;
    let nanos = rest.fraction();
    let offset_minutes = rest.offset()?;
    if !rest.0.is_empty() {
        return None;
    }
    let local = days_from_civil(year, month, day) * DAY + hour * 3_600 + minute * 60 + second;
    let seconds = local - i64::from(offset_minutes) * 60;
    Some(Parsed {
        seconds,
        nanos,
        offset_minutes,
    })
}

/// What is left to read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.next().filter(|next| *next == byte).map(drop)
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        digits.iter().try_fold(0, |value, digit| {
            digit
                .is_ascii_digit()
                .then(|| value * 10 + i64::from(digit - b'0'))
        })
    }

    /// One or two digits.
    fn hour(&mut self) -> Option<i64> {
        let two = self.0.get(1).is_some_and(u8::is_ascii_digit);
        self.digits(if two { 2 } else { 1 })
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

    /// `Z`, or a sign, hours and minutes.
    fn offset(&mut self) -> Option<i16> {
        let sign = match self.next()? {
            b'Z' => return Some(0),
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let hours = self.digits(2).filter(|hours| *hours <= 24)?;
        self.expect(b':')?;
        let minutes = self.digits(2).filter(|minutes| *minutes <= 60)?;
        i16::try_from(sign * (hours * 60 + minutes)).ok()
    }
}
