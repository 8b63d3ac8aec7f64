//! Numbers and booleans from text.

use super::quote;

/// Why a text is no number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("strconv.{function}: parsing {}: {problem}", quote(text))]
pub struct NumberError {
    /// The function of Go's that the text names: `ParseInt` …
    pub function: &'static str,
    /// What was read.
    pub text: String,
    /// Why it is malformed.
    pub problem: NumberProblem,
}

/// Why a text is malformed as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumberProblem {
    /// It does not look like one.
    #[error("invalid syntax")]
    Syntax,
    /// It is too large.
    #[error("value out of range")]
    Range,
}

/// A signed integer in base 10, perhaps with a sign.
///
/// ```
/// use pratique_gotext::strconv::parse_int;
///
/// assert_eq!(parse_int("-12"), Ok(-12));
/// let error = parse_int("1x").unwrap_err();
/// assert_eq!(error.to_string(), r#"strconv.ParseInt: parsing "1x": invalid syntax"#);
/// ```
///
/// # Errors
/// When the text is no such number, or one beyond 64 bits.
// Upstream: strconv/atoi.go, ParseInt(text, 10, 64)
pub fn parse_int(text: &str) -> Result<i64, NumberError> {
    signed("ParseInt", text)
}

/// [`parse_int`], but for the name in the error.
///
/// # Errors
/// As [`parse_int`].
// Upstream: strconv/atoi.go, Atoi
pub fn atoi(text: &str) -> Result<i64, NumberError> {
    signed("Atoi", text)
}

/// An unsigned integer in base 10 without sign.
///
/// # Errors
/// When the text is no such number, or one beyond 64 bits.
// Upstream: strconv/atoi.go, ParseUint(text, 10, 64)
pub fn parse_uint(text: &str) -> Result<u64, NumberError> {
    magnitude(text).map_err(|problem| fail("ParseUint", text, problem))
}

/// `1`, `t`, `T`, `TRUE`, `true`, `True`, and their opposites.
///
/// # Errors
/// When the text is none of these.
// Upstream: strconv/atob.go, ParseBool
pub fn parse_bool(text: &str) -> Result<bool, NumberError> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
        _ => Err(fail("ParseBool", text, NumberProblem::Syntax)),
    }
}

/// A floating-point number: decimal, or hexadecimal with a binary exponent, `Inf`, `Infinity` or `NaN` in any case.
///
/// ```
/// assert_eq!(pratique_gotext::strconv::parse_float("0x1p-2"), Ok(0.25));
/// ```
///
/// # Errors
/// When the text is no number, or one too large for a double.
// Upstream: strconv/atof.go, ParseFloat(text, 64)
pub fn parse_float(text: &str) -> Result<f64, NumberError> {
    let number = float(text).ok_or_else(|| fail("ParseFloat", text, NumberProblem::Syntax))?;
    if number.is_infinite() && text.contains(|character: char| character.is_ascii_digit()) {
        return Err(fail("ParseFloat", text, NumberProblem::Range));
    }
    Ok(number)
}

fn fail(function: &'static str, text: &str, problem: NumberProblem) -> NumberError {
    let text = text.to_owned();
    NumberError {
        function,
        text,
        problem,
    }
}

fn signed(function: &'static str, text: &str) -> Result<i64, NumberError> {
    let (negative, digits) = split_sign(text);
    let value = magnitude(digits).map_err(|problem| fail(function, text, problem))?;
    let value = if negative {
        0i64.checked_sub_unsigned(value)
    } else {
        i64::try_from(value).ok()
    };
    value.ok_or_else(|| fail(function, text, NumberProblem::Range))
}

/// Digits, left to right as Go reads them: an overflow is out of range even if letters follow.
fn magnitude(digits: &str) -> Result<u64, NumberProblem> {
    if digits.is_empty() {
        return Err(NumberProblem::Syntax);
    }
    digits.bytes().try_fold(0u64, |value, byte| {
        let digit = u64::from(byte.wrapping_sub(b'0'));
        if digit > 9 {
            return Err(NumberProblem::Syntax);
        }
        let value = value.checked_mul(10).and_then(|value| value.checked_add(digit));
        value.ok_or(NumberProblem::Range)
    })
}

/// Whether there is a minus, and the text after the sign.
pub(crate) fn split_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn float(text: &str) -> Option<f64> {
    let (negative, unsigned) = split_sign(text);
    let magnitude = if let Some(special) = special(unsigned, unsigned.len() != text.len()) {
        special
    } else if let Some(hexadecimal) = unsigned
        .strip_prefix("0x")
        .or_else(|| unsigned.strip_prefix("0X"))
    {
        hexadecimal_float(hexadecimal)?
    } else {
        decimal_float(unsigned)?
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// An infinity, or NaN, which has no sign.
fn special(unsigned: &str, has_sign: bool) -> Option<f64> {
    if unsigned.eq_ignore_ascii_case("inf") || unsigned.eq_ignore_ascii_case("infinity") {
        Some(f64::INFINITY)
    } else if unsigned.eq_ignore_ascii_case("nan") && !has_sign {
        Some(f64::NAN)
    } else {
        None
    }
}

/// A decimal number without sign, perhaps with underscores between digits.
fn decimal_float(unsigned: &str) -> Option<f64> {
    let starts_well = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let known = |byte: u8| byte.is_ascii_digit() || b".eE+-_".contains(&byte);
    if !starts_well || !unsigned.bytes().all(known) {
        return None;
    }
    if !unsigned.contains('_') {
        return unsigned.parse().ok();
    }
    let between_digits = underscores_between(unsigned, b'.', |byte| byte.is_ascii_digit());
    if between_digits {
        unsigned.replace('_', "").parse().ok()
    } else {
        None
    }
}

/// A hexadecimal number after its prefix: digits, perhaps a point and underscores, and a binary exponent.
fn hexadecimal_float(text: &str) -> Option<f64> {
    let (digits, exponent) = text.split_once(['p', 'P'])?;
    let mut mantissa = HexMantissa::default();
    let mut after_point = false;
    for byte in digits.bytes() {
        match byte {
            b'_' => {}
            b'.' if !after_point => after_point = true,
            _ => mantissa.push(char::from(byte).to_digit(16)?, after_point),
        }
    }
    // The base prefix counts as a digit before the text.
    if !mantissa.has_digits || !underscores_between(text, b'0', |byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    mantissa.scaled(binary_exponent(exponent)?)
}

/// The exponent of two: a sign, digits and underscores; far beyond the range of a double its value does not matter.
fn binary_exponent(text: &str) -> Option<i64> {
    let (negative, digits) = split_sign(text);
    if !digits.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let value = digits
        .bytes()
        .filter(|byte| *byte != b'_')
        .try_fold(0i64, |value, byte| {
            let digit = i64::from(byte.wrapping_sub(b'0'));
            (digit <= 9).then(|| {
                if value < 100_000_000 {
                    value * 10 + digit
                } else {
                    value
                }
            })
        })?;
    Some(if negative { -value } else { value })
}

/// Whether each underscore stands between digits; `previous_byte` is the one before the text.
fn underscores_between(text: &str, mut previous_byte: u8, digit: fn(u8) -> bool) -> bool {
    for byte in text.bytes() {
        let misplaced = match byte {
            b'_' => !digit(previous_byte),
            _ => previous_byte == b'_' && !digit(byte),
        };
        if misplaced {
            return false;
        }
        previous_byte = byte;
    }
    previous_byte != b'_'
}

/// The value of hexadecimal digits: those that do not fit become a sticky bit, which suffices for rounding.
#[derive(Default)]
struct HexMantissa {
    bits: u64,
    sticky: bool,
    exponent: i64,
    has_digits: bool,
}

impl HexMantissa {
    fn push(&mut self, digit: u32, after_point: bool) {
        self.has_digits = true;
        if self.bits >> 60 == 0 {
            self.bits = self.bits << 4 | u64::from(digit);
            self.exponent -= if after_point { 4 } else { 0 };
        } else {
            self.sticky |= digit != 0;
            self.exponent += if after_point { 0 } else { 4 };
        }
    }

    /// The nearest double to the mantissa times a power of two, ties to even.
    fn scaled(&self, exponent: i64) -> Option<f64> {
        if self.bits == 0 {
            return Some(0.0);
        }
        let shift = i64::from(self.bits.leading_zeros());
        // The top bit's weight; a double's lowest bit is 52 below it, or at −1074 where the number is subnormal.
        let top = self.exponent + exponent + 63 - shift;
        if top > 1023 {
            return Some(f64::INFINITY);
        }
        let lowest = (top - 52).max(-1074);
        let dropped = (lowest - (top - 63)).min(65);
        let wide = u128::from(self.bits << shift) << 64 >> dropped;
        let (kept, rest) = ((wide >> 64) as u64, wide as u64);
        let half = 1u64 << 63;
        let up = rest > half || rest == half && (self.sticky || kept & 1 == 1);
        let rounded = (kept + u64::from(up)) as f64;
        // Both factors are exact: the product rounds only where it overflows.
        Some(rounded * 2f64.powi((lowest / 2) as i32) * 2f64.powi((lowest - lowest / 2) as i32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers() {
        let check = |text, expected: Result<i64, &str>| {
            assert_eq!(
                parse_int(text).map_err(|error| error.to_string()),
                expected.map_err(str::to_owned)
            );
        };
        check("0", Ok(0));
        check("-007", Ok(-7));
        check("+9223372036854775807", Ok(i64::MAX));
        check("-9223372036854775808", Ok(i64::MIN));
        check(
            "9223372036854775808",
            Err(r#"strconv.ParseInt: parsing "9223372036854775808": value out of range"#),
        );
        check(
            "99999999999999999999x",
            Err(r#"strconv.ParseInt: parsing "99999999999999999999x": value out of range"#),
        );
        check("1_0", Err(r#"strconv.ParseInt: parsing "1_0": invalid syntax"#));
        check("", Err(r#"strconv.ParseInt: parsing "": invalid syntax"#));
        check("-", Err(r#"strconv.ParseInt: parsing "-": invalid syntax"#));
        check("--1", Err(r#"strconv.ParseInt: parsing "--1": invalid syntax"#));
        check(
            "\u{200b}1",
            Err(r#"strconv.ParseInt: parsing "\u200b1": invalid syntax"#),
        );
    }

    #[test]
    fn unsigned_integers() {
        assert_eq!(parse_uint("18446744073709551615"), Ok(u64::MAX));
        for text in ["+1", "-1", "", "18446744073709551616", "1 "] {
            assert!(parse_uint(text).is_err(), "{text}");
        }
    }

    #[test]
    fn floats() {
        let check = |text, expected: f64| {
            assert_eq!(
                parse_float(text).map(f64::to_bits),
                Ok(expected.to_bits()),
                "{text}"
            )
        };
        check("1_0", 10.0);
        check("1_000.2_5e0_1", 10002.5);
        check("0x1p-2", 0.25);
        check("-0X_1.8p+1", -3.0);
        check("0x1.fffffffffffff8p0", 2.0);
        check("0x1.00000000000008p0", 1.0);
        check("0x1.000000000000080000000000001p0", 1.000_000_000_000_000_2);
        check("0x1p-1074", 5e-324);
        check("0x1p-1075", 0.0);
        check("0x1.8p-1075", 5e-324);
        check("0x1p-99999999999999", 0.0);
        check("0x.0000000000000000000000001p100", 1.0);
        check("0x100000000000000000000000000p-104", 1.0);
        check("1.", 1.0);
        check(".5", 0.5);
        check("+iNf", f64::INFINITY);
        check("-Infinity", f64::NEG_INFINITY);
        check("-0", -0.0);
        check("1e-400", 0.0);
        assert!(parse_float("NaN").is_ok_and(f64::is_nan));
    }

    #[test]
    fn no_floats() {
        let check = |text, expected| {
            assert_eq!(
                parse_float(text).map_err(|error| error.problem),
                Err(expected),
                "{text}"
            )
        };
        for text in [
            "",
            "+",
            ".",
            "e5",
            "1e",
            "1__0",
            "_1",
            "1_",
            "1_.5",
            "1_e5",
            "0x1",
            "0xp1",
            "0x1p",
            "0x1__0p1",
            "+nan",
            "infinit",
            "1f",
            " 1",
            "0x1_p2",
            "0x1.2.3p1",
            "1e1.5",
            "--1",
            "0b1",
        ] {
            check(text, NumberProblem::Syntax);
        }
        for text in [
            "1e309",
            "-1e999999999999999999",
            "0x1p1024",
            "0x1.fffffffffffff8p1023",
        ] {
            check(text, NumberProblem::Range);
        }
    }

    #[test]
    fn booleans() {
        assert_eq!(parse_bool("t"), Ok(true));
        assert_eq!(parse_bool("False"), Ok(false));
        assert!(parse_bool("tRUE").is_err());
    }
}
