//! Numbers as YAML 1.1 writes them: signs, underscores, four radixes, and fractions.

/// A number of a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ScalarNumber {
    Int(i64),
    /// Beyond the signed range.
    Unsigned(u64),
    Float(f64),
}

/// The number that a scalar starting with a digit or a sign is, if it is one.
pub(super) fn parse(text: &str) -> Option<ScalarNumber> {
    let plain: String = text.chars().filter(|c| *c != '_').collect();
    integer(&plain).or_else(|| decimal(&plain).map(ScalarNumber::Float))
}

/// The number that a scalar starting with a dot is, if it is one.
pub(super) fn parse_fraction(text: &str) -> Option<f64> {
    decimal(text)
}

fn integer(text: &str) -> Option<ScalarNumber> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let signed = digits.len() != text.len();
    let (radix, digits) = radix(digits);
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    match (negative, i64::try_from(magnitude)) {
        (false, Ok(value)) => Some(ScalarNumber::Int(value)),
        (true, Ok(value)) => Some(ScalarNumber::Int(-value)),
        (true, Err(_)) if magnitude == i64::MIN.unsigned_abs() => Some(ScalarNumber::Int(i64::MIN)),
        (false, Err(_)) if !signed => Some(ScalarNumber::Unsigned(magnitude)),
        _ => None,
    }
}

fn radix(digits: &str) -> (u32, &str) {
    match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, digits.get(2..).unwrap_or_default()),
        [b'0', b'o' | b'O', ..] => (8, digits.get(2..).unwrap_or_default()),
        [b'0', b'b' | b'B', ..] => (2, digits.get(2..).unwrap_or_default()),
        [b'0', _, ..] => (8, digits.get(1..).unwrap_or_default()),
        _ => (10, digits),
    }
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, in range.
fn decimal(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (
            mantissa,
            Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)),
        ),
        None => (unsigned, None),
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && digits(fraction),
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => !mantissa.is_empty() && digits(mantissa),
    };
    let exponent_fits = exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent));
    let value: f64 = if mantissa_fits && exponent_fits {
        text.parse().ok()?
    } else {
        return None;
    };
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_yaml_1_1() {
        for (text, expected) in [
            ("10", Some(ScalarNumber::Int(10))),
            ("+1_000", Some(ScalarNumber::Int(1000))),
            ("010", Some(ScalarNumber::Int(8))),
            ("0o17", Some(ScalarNumber::Int(15))),
            ("-0x1F", Some(ScalarNumber::Int(-31))),
            ("0b11", Some(ScalarNumber::Int(3))),
            ("09", Some(ScalarNumber::Float(9.0))),
            ("18446744073709551615", Some(ScalarNumber::Unsigned(u64::MAX))),
            ("-9223372036854775808", Some(ScalarNumber::Int(i64::MIN))),
            ("1e3", Some(ScalarNumber::Float(1000.0))),
            ("5.", Some(ScalarNumber::Float(5.0))),
            ("1e400", None),
            ("1:30", None),
            ("1.2.3", None),
            ("-", None),
            ("0x", None),
            ("12a", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
