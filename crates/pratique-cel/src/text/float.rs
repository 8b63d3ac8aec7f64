//! Floating-point numbers as text, as Go's `strconv.FormatFloat` writes them.

/// The shortest text that reads back as the number, as `%g` and `%v` print it: with an exponent
/// where that is below −4 or above 5 (`123456.7`, `1e+06`, `0.0001`, `1e-05`).
pub fn general_form(number: f64) -> String {
    if let Some(text) = special(number) {
        return text.to_owned();
    }
    let scientific = shortest(number);
    let (mantissa, exponent) = split_exponent(&scientific);
    if (-4..6).contains(&exponent) {
        without_exponent(mantissa, exponent)
    } else {
        with_exponent(mantissa, exponent)
    }
}

/// The shortest text without an exponent that reads back as the number (`%f` with precision −1), or as many
/// digits after the point as the precision says, rounded to even where the number lies in the middle.
pub fn plain_form(number: f64, precision: Option<usize>) -> String {
    match (special(number), precision) {
        (Some(text), _) => text.to_owned(),
        (None, None) => {
            let scientific = shortest(number);
            let (mantissa, exponent) = split_exponent(&scientific);
            without_exponent(mantissa, exponent)
        }
        (None, Some(precision)) => format!("{number:.precision$}"),
    }
}

/// One digit, a point, as many digits as the precision says, and an exponent of at least two digits.
pub fn exponent_form(number: f64, precision: usize) -> String {
    if let Some(text) = special(number) {
        return text.to_owned();
    }
    let scientific = format!("{number:.precision$e}");
    let (mantissa, exponent) = split_exponent(&scientific);
    with_exponent(mantissa, exponent)
}

/// The fewest digits that read back as the number, in Rust's form `1.5e-7`. Where two numbers of that many digits are
/// equally near, Rust may give either; Go gives the even one, as rounding to that many digits does.
fn shortest(number: f64) -> String {
    let scientific = format!("{number:e}");
    let digits = scientific
        .bytes()
        .take_while(|byte| *byte != b'e')
        .filter(u8::is_ascii_digit)
        .count();
    if digits < f64::DIGITS as usize {
        return scientific;
    }
    let rounded = format!("{number:.precision$e}", precision = digits - 1);
    if rounded.parse() == Ok(number) {
        rounded
    } else {
        scientific
    }
}

fn special(number: f64) -> Option<&'static str> {
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

/// Mantissa and exponent of what Rust's `{:e}` gives: `1.5e-7`.
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
