//! Doubles as English writes them: thousands in groups, `∞`, and powers of ten with a raised exponent.
//!
//! Precisions wrap in narrow integers, as they do in the reference's number formatter.

use pratique_gotext::strconv::plain_form;

/// Digits after the point where a clause does not say.
const DEFAULT_PRECISION: i64 = 6;

/// The output for a double if the precision has too many digits.
const UNREADABLE: &str = "%!(NOVERB)";

/// A double with a fixed number of digits after the point, and its thousands in groups.
pub(crate) fn fixed(value: f64, precision: Option<i64>) -> String {
    let precision = precision.unwrap_or(DEFAULT_PRECISION);
    if is_unreadable(precision) {
        return UNREADABLE.to_owned();
    }
    if let Some(symbol) = symbol(value) {
        return symbol.to_owned();
    }
    // At least the low 8 bits of the precision, at most its low 16 bits, which may mean "as many as needed".
    let (least, most) = (precision as u8, precision as i16);
    let plain = plain_form(value, usize::try_from(most).ok());
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    let (sign, whole) = match whole.strip_prefix('-') {
        Some(whole) => (if value == 0.0 { "" } else { "-" }, whole),
        None => ("", whole),
    };
    let fraction = format!(
        "{:0<width$}",
        fraction.trim_end_matches('0'),
        width = usize::from(least)
    );
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", grouped(whole))
}

/// A double as a number from 1 to 10, with six digits after the point, and a power of ten. The precision is
/// a width, which blanks fill.
pub(crate) fn scientific(value: f64, precision: Option<i64>) -> String {
    let width = precision.unwrap_or(DEFAULT_PRECISION);
    if is_unreadable(width) {
        return UNREADABLE.to_owned();
    }
    let width = usize::from(width as u16);
    if let Some(symbol) = symbol(value) {
        return format!("{symbol:>width$}");
    }
    // Zero has no sign.
    let scientific = format!("{:.6e}", if value == 0.0 { 0.0 } else { value });
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ("⁻", exponent),
        None => ("", exponent),
    };
    let raised: String = format!("{exponent:0>2}").chars().map(superscript).collect();
    format!("{:>width$}", format!("{mantissa}×10{sign}{raised}"))
}

/// Whether the reference gives up reading a precision: once its value passes a million.
fn is_unreadable(precision: i64) -> bool {
    precision / 10 > 1_000_000
}

fn symbol(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value == f64::INFINITY {
        Some("∞")
    } else if value == f64::NEG_INFINITY {
        Some("-∞")
    } else {
        None
    }
}

fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn superscript(digit: char) -> char {
    match digit {
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_points() {
        let check = |value, precision, expected: &str| {
            assert_eq!(fixed(value, precision), expected, "{value} {precision:?}")
        };
        check(0.0, None, "0.000000");
        check(-0.0, None, "0.000000");
        check(-0.4, Some(0), "-0");
        check(2.5, Some(0), "2");
        check(999.999_999_9, None, "1,000.000000");
        check(1_234_567.891, Some(2), "1,234,567.89");
        check(-1_234.5, Some(0), "-1,234");
        check(-123.0, Some(1), "-123.0");
        check(f64::INFINITY, None, "∞");
        check(f64::NEG_INFINITY, Some(2), "-∞");
        check(f64::NAN, Some(2), "NaN");
        check(
            0.1,
            Some(256),
            "0.1000000000000000055511151231257827021181583404541015625",
        );
        check(12_345.5, Some(256), "12,345.5");
        check(12_345.5, Some(257 + 1), "12,345.50");
        check(12_345.678, Some(32_770), "12,345.678");
        check(12_345.678, Some(65_540), "12,345.6780");
        check(1.0, Some(10_000_010), "%!(NOVERB)");
        check(1.0, Some(10_000_009), &format!("1.{}", "0".repeat(137)));
    }

    #[test]
    fn powers_of_ten() {
        let check = |value, precision, expected: &str| assert_eq!(scientific(value, precision), expected);
        check(1_052.032_911_275, None, "1.052033×10⁰³");
        check(-0.0, None, "0.000000×10⁰⁰");
        check(-5e-324, Some(2), "-4.940656×10⁻³²⁴");
        check(9.999_999_9e9, Some(0), "1.000000×10¹⁰");
        check(1.0, Some(20), "       1.000000×10⁰⁰");
        check(f64::NEG_INFINITY, None, "    -∞");
        check(f64::NAN, Some(65_540), " NaN");
        check(1.0, Some(12_345_678), "%!(NOVERB)");
    }
}
