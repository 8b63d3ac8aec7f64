//! Floating-point numbers as text.

use std::fmt::LowerExp;
use std::str::FromStr;

/// The shortest text that reads back as the number, as `%g` and `%v` print it: with an exponent
/// where that is below −4 or above 5.
///
/// ```
/// use pratique_gotext::strconv::general_form;
///
/// assert_eq!(general_form(123_456.7), "123456.7");
/// assert_eq!(general_form(1e6), "1e+06");
/// assert_eq!(general_form(0.00001), "1e-05");
/// ```
// Upstream: strconv/ftoa.go, FormatFloat(number, 'g', -1, 64)
pub fn general_form(number: f64) -> String {
    match special_form(number) {
        Some(text) => text.to_owned(),
        None => general(&shortest(number, f64::DIGITS)),
    }
}

/// [`general_form`] of a number in single precision.
// Upstream: strconv/ftoa.go, FormatFloat(number, 'g', -1, 32)
pub fn general_form_32(number: f32) -> String {
    match special_form(f64::from(number)) {
        Some(text) => text.to_owned(),
        None => general(&shortest(number, f32::DIGITS)),
    }
}

/// The shortest text that reads back as the number, as JSON has it: with an exponent from 1e21 up and below 1e-6.
/// Infinities and NaN, which JSON cannot have, are as in the other forms.
///
/// ```
/// use pratique_gotext::strconv::json_form;
///
/// assert_eq!(json_form(1e6), "1000000");
/// assert_eq!(json_form(1e21), "1e+21");
/// assert_eq!(json_form(1.5e-7), "1.5e-7");
/// ```
// Upstream: encoding/json/encode.go, floatEncoder
pub fn json_form(number: f64) -> String {
    if let Some(text) = special_form(number) {
        return text.to_owned();
    }
    let scientific = shortest(number, f64::DIGITS);
    let (mantissa, exponent) = split_exponent(&scientific);
    match exponent {
        // JSON's exponents have no leading zero.
        ..-6 => format!("{mantissa}e{exponent}"),
        21.. => format!("{mantissa}e+{exponent}"),
        _ => without_exponent(mantissa, exponent),
    }
}

/// The shortest text without an exponent that reads back as the number, or as many digits after the point as the
/// precision says, rounded to even where the number lies in the middle.
///
/// ```
/// use pratique_gotext::strconv::plain_form;
///
/// assert_eq!(plain_form(1e21, None), "1000000000000000000000");
/// assert_eq!(plain_form(0.125, Some(2)), "0.12");
/// ```
// Upstream: strconv/ftoa.go, FormatFloat(number, 'f', precision, 64)
pub fn plain_form(number: f64, precision: Option<usize>) -> String {
    match (special_form(number), precision) {
        (Some(text), _) => text.to_owned(),
        (None, None) => {
            let scientific = shortest(number, f64::DIGITS);
            let (mantissa, exponent) = split_exponent(&scientific);
            without_exponent(mantissa, exponent)
        }
        (None, Some(precision)) => format!("{number:.precision$}"),
    }
}

/// One digit, a point, as many digits as the precision says, and an exponent of at least two digits.
///
/// ```
/// assert_eq!(pratique_gotext::strconv::exponent_form(-1_234.5, 2), "-1.23e+03");
/// ```
// Upstream: strconv/ftoa.go, FormatFloat(number, 'e', precision, 64)
pub fn exponent_form(number: f64, precision: usize) -> String {
    if let Some(text) = special_form(number) {
        return text.to_owned();
    }
    let scientific = format!("{number:.precision$e}");
    let (mantissa, exponent) = split_exponent(&scientific);
    with_exponent(mantissa, exponent)
}

/// The fewest digits that read back as the number, in Rust's form `1.5e-7`. Where two numbers of that many digits are
/// equally near, Rust may give either; Go gives the even one, as rounding to that many digits does. Numbers of fewer
/// `certain` digits have no such neighbour.
fn shortest<N: Copy + LowerExp + FromStr + PartialEq>(number: N, certain: u32) -> String {
    let scientific = format!("{number:e}");
    let digits = scientific
        .bytes()
        .take_while(|byte| *byte != b'e')
        .filter(u8::is_ascii_digit)
        .count();
    if digits < certain as usize {
        return scientific;
    }
    let rounded = format!("{number:.precision$e}", precision = digits - 1);
    if rounded.parse().is_ok_and(|read: N| read == number) {
        rounded
    } else {
        scientific
    }
}

/// With an exponent where that is below −4 or above 5.
fn general(scientific: &str) -> String {
    let (mantissa, exponent) = split_exponent(scientific);
    if (-4..6).contains(&exponent) {
        without_exponent(mantissa, exponent)
    } else {
        with_exponent(mantissa, exponent)
    }
}

/// The text of a number that is none: NaN, and the infinities with their sign.
///
/// ```
/// use pratique_gotext::strconv::special_form;
///
/// assert_eq!(special_form(f64::INFINITY), Some("+Inf"));
/// assert_eq!(special_form(1.5), None);
/// ```
// Upstream: strconv/ftoa.go, genericFtoa
pub fn special_form(number: f64) -> Option<&'static str> {
    if number.is_nan() {
        Some("NaN")
    } else if number == f64::INFINITY {
        Some("+Inf")
    } else if number == f64::NEG_INFINITY {
        Some("-Inf")
    } else {
        None
    }
}

/// Mantissa and exponent of Rust's `{:e}`: `1.5e-7`.
fn split_exponent(scientific: &str) -> (&str, i32) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    (mantissa, exponent.parse().unwrap_or(0))
}

fn with_exponent(mantissa: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// The number with its point where the exponent puts it.
fn without_exponent(mantissa: &str, exponent: i32) -> String {
    let (sign, mantissa) = mantissa
        .strip_prefix('-')
        .map_or(("", mantissa), |mantissa| ("-", mantissa));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let Ok(whole) = usize::try_from(exponent) else {
        let zeros = exponent.unsigned_abs() as usize - 1;
        return format!("{sign}0.{:0<zeros$}{digits}", "");
    };
    match digits.split_at_checked(whole + 1) {
        Some((whole, "")) => format!("{sign}{whole}"),
        Some((whole, fraction)) => format!("{sign}{whole}.{fraction}"),
        None => format!("{sign}{digits:0<width$}", width = whole + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_forms() {
        let check = |number: f64, expected: &str| assert_eq!(general_form(number), expected);
        check(0.0, "0");
        check(-0.0, "-0");
        check(1.5, "1.5");
        check(100_000.0, "100000");
        check(1e6, "1e+06");
        check(1_234_567.5, "1.2345675e+06");
        check(0.0001, "0.0001");
        check(0.000_01, "1e-05");
        check(1e100, "1e+100");
        check(5e-324, "5e-324");
        check(f64::from_bits(0x4314_8511_b742_db21), "1.4439526674408402e+15");
        check(123_456.789_012_345_67, "123456.78901234567");
        check(f64::NAN, "NaN");
        check(f64::INFINITY, "+Inf");
        check(f64::NEG_INFINITY, "-Inf");
        check(999_999.0, "999999");
        check(0.000_012_5, "1.25e-05");
        check(1.795_226_642_934_138_5e9, "1.7952266429341385e+09");
        check(-1e21, "-1e+21");
    }

    #[test]
    fn general_forms_in_single_precision() {
        let check = |number: f32, expected: &str| assert_eq!(general_form_32(number), expected);
        check(0.1, "0.1");
        check(16_777_216.0, "1.6777216e+07");
        check(1e-5, "1e-05");
        check(123_456.7, "123456.7");
        check(-0.0, "-0");
        check(f32::INFINITY, "+Inf");
    }

    #[test]
    fn forms_of_json() {
        let check = |number: f64, expected: &str| assert_eq!(json_form(number), expected);
        check(1.0, "1");
        check(-1.5, "-1.5");
        check(-0.0, "-0");
        check(1e20, "100000000000000000000");
        check(1e21, "1e+21");
        check(-1.25e100, "-1.25e+100");
        check(1e-6, "0.000001");
        check(1.5e-7, "1.5e-7");
        check(5e-324, "5e-324");
        check(f64::from_bits(0x4314_8511_b742_db21), "1443952667440840.2");
    }

    #[test]
    fn plain_forms() {
        let check = |number, precision, expected: &str| assert_eq!(plain_form(number, precision), expected);
        check(1e21, None, "1000000000000000000000");
        check(0.0, None, "0");
        check(-0.0, None, "-0");
        check(10.0, None, "10");
        check(12.5, None, "12.5");
        check(0.012, None, "0.012");
        check(f64::from_bits(0x4314_8511_b742_db21), None, "1443952667440840.2");
        check(5e-324, None, &format!("0.{}5", "0".repeat(323)));
        check(-0.000_000_1, None, "-0.0000001");
        check(9_223_372_036.854_776, None, "9223372036.854776");
        check(2.5, Some(0), "2");
        check(0.125, Some(2), "0.12");
        check(-0.4, Some(0), "-0");
        check(1.0 / 3.0, Some(20), "0.33333333333333331483");
        check(f64::NEG_INFINITY, Some(3), "-Inf");
    }

    #[test]
    fn exponent_forms() {
        let check =
            |number, precision, expected: &str| assert_eq!(exponent_form(number, precision), expected);
        check(0.0, 6, "0.000000e+00");
        check(-1_234.5, 2, "-1.23e+03");
        check(9.999e-10, 1, "1.0e-09");
        check(5e-324, 0, "5e-324");
    }
}
