//! Reading quantities.

use super::decimal::ScaledDecimal;
use super::small::SmallDecimal;
use super::suffix::{self, QuantityFormat, QuantitySuffix};
use super::text::InlineText;
use super::{Quantity, QuantityAmount};

/// How many decimal digits a [`SmallDecimal`] holds for sure.
const SMALL_DIGITS: usize = 18;
/// The finest scale there is, 10⁻⁹.
const NANO: i32 = -9;

/// Why a text is no quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Not a number followed by letters.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Format,
    /// No digits.
    #[error("unable to parse numeric part of quantity")]
    Numeric,
    /// Letters that are no suffix.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

/// A text taken apart.
struct QuantityParts<'a> {
    negative: bool,
    /// The digits before the point without leading zeroes, at least `0`.
    whole: &'a str,
    /// The digits behind the point.
    fraction: &'a str,
    suffix: &'a str,
}

pub(super) fn quantity(text: &str) -> Result<Quantity, ParseError> {
    if text.is_empty() {
        return Err(ParseError::Format);
    }
    let parts = QuantityParts::split(text)?;
    let suffix = suffix::interpret(parts.suffix).ok_or(ParseError::Suffix)?;
    match small(&parts, suffix) {
        Some(small) => Ok(Quantity {
            text: passes_for_canonical(text, &parts, suffix, small).then(|| InlineText::new(text)),
            amount: QuantityAmount::Small(small),
            format: suffix.format(),
        }),
        None => big(text, &parts, suffix),
    }
}

impl<'a> QuantityParts<'a> {
    fn split(text: &'a str) -> Result<Self, ParseError> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let zeros = unsigned.bytes().position(|byte| byte != b'0');
        let (_, significant) = unsigned
            .split_at_checked(zeros.unwrap_or(unsigned.len()))
            .unwrap_or(("", unsigned));
        if significant.is_empty() {
            return Ok(Self {
                negative: false,
                whole: "0",
                fraction: "",
                suffix: "",
            });
        }
        let (whole, rest) = take_digits(significant);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), take_digits);
        check_suffix(suffix)?;
        Ok(Self {
            negative: text.starts_with('-'),
            whole: if whole.is_empty() { "0" } else { whole },
            fraction,
            suffix,
        })
    }
}

fn take_digits(text: &str) -> (&str, &str) {
    let digits = text.bytes().position(|byte| !byte.is_ascii_digit());
    let end = digits.unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Letters, then perhaps a sign, then digits.
fn check_suffix(suffix: &str) -> Result<(), ParseError> {
    let mut rest = suffix.as_bytes();
    while let [
        b'e' | b'E' | b'i' | b'n' | b'u' | b'm' | b'k' | b'K' | b'M' | b'G' | b'T' | b'P',
        after @ ..,
    ] = rest
    {
        rest = after;
    }
    if let [b'+' | b'-', after @ ..] = rest {
        rest = after;
    }
    if rest.iter().all(u8::is_ascii_digit) {
        Ok(())
    } else {
        Err(ParseError::Format)
    }
}

/// The amount, where it is certain to fit.
fn small(parts: &QuantityParts<'_>, suffix: QuantitySuffix) -> Option<SmallDecimal> {
    let digits = parts.whole.len() + parts.fraction.len();
    let (room, exponent, factor) = match suffix {
        QuantitySuffix::Decimal { exponent, .. } => (SMALL_DIGITS, exponent, 1i64),
        QuantitySuffix::Binary { power } if parts.fraction.is_empty() => {
            // 10 bits are about 3 digits.
            let factor_digits = usize::try_from(power * 3 / 10).unwrap_or(usize::MAX);
            (14usize.checked_sub(factor_digits)?, 0, 1i64 << power)
        }
        QuantitySuffix::Binary { .. } => return None,
    };
    if digits > room {
        return None;
    }
    let scale = exponent.wrapping_sub(i32::try_from(parts.fraction.len()).ok()?);
    if scale < NANO {
        return None;
    }
    let digits = parts.whole.bytes().chain(parts.fraction.bytes());
    let value = digits.fold(0_i64, |value, digit| {
        // So few digits cannot overflow.
        value.wrapping_mul(10).wrapping_add(i64::from(digit & 0xf))
    });
    let value = value.checked_mul(factor)?;
    Some(SmallDecimal {
        value: if parts.negative { -value } else { value },
        scale,
    })
}

/// Upstream keeps a text that it takes for canonical; some are not quite.
fn passes_for_canonical(
    text: &str,
    parts: &QuantityParts<'_>,
    suffix: QuantitySuffix,
    small: SmallDecimal,
) -> bool {
    if text == "0" {
        return true;
    }
    match suffix {
        // Seven is upstream's idea of "no factor of 1024".
        QuantitySuffix::Binary { power } => (small.value >> power) & 7 != 0,
        QuantitySuffix::Decimal { .. } => {
            let ends_in_zeroes = match parts.fraction {
                "" => parts.whole.ends_with("000"),
                fraction => {
                    let digits = parts.whole.bytes().chain(fraction.bytes());
                    digits.rev().take(3).filter(|digit| *digit == b'0').count() == 3
                }
            };
            small.scale % 3 == 0 && !ends_in_zeroes && !parts.whole.starts_with('0')
        }
    }
}

fn big(text: &str, parts: &QuantityParts<'_>, suffix: QuantitySuffix) -> Result<Quantity, ParseError> {
    let number = text.strip_suffix(parts.suffix).unwrap_or(text);
    let mut amount = ScaledDecimal::parse(number).ok_or(ParseError::Numeric)?;
    match suffix {
        QuantitySuffix::Decimal { exponent, .. } => amount.multiply_by_power_of_10(exponent),
        QuantitySuffix::Binary { power } => amount.multiply_by_power_of_2(power),
    }
    if amount.signum() != 0 {
        amount.round_up(NANO.wrapping_neg());
    }
    let mut format = suffix.format();
    if format == QuantityFormat::BinarySi {
        amount.cap(i64::MAX);
        let one = ScaledDecimal::from(1);
        if amount.signum() != 0 && amount.compare_magnitude(&one).is_lt() {
            format = QuantityFormat::DecimalSi;
        }
    }
    Ok(Quantity {
        amount: QuantityAmount::Big(amount),
        format,
        text: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, ParseError>) {
        let got = quantity(text).map(|quantity| quantity.to_string());
        assert_eq!(got.as_deref(), expected.as_ref().map(|text| *text), "{text}");
    }

    #[test]
    fn lenient_numbers() {
        check("-", Ok("0"));
        check(".", Ok("0"));
        check("1.", Ok("1."));
        check("1.G", Ok("1.G"));
        check(".5", Ok("500m"));
        check("+.5", Ok("500m"));
        check("-00", Ok("0"));
        check("5.e3", Ok("5.e3"));
    }

    #[test]
    fn exponents() {
        check("1e-10", Ok("1e-9"));
        check("1E-3", Ok("1E-3"));
        check("1e+3", Ok("1e+3"));
        check("1e4", Ok("10e3"));
        check("15e-1", Ok("1500e-3"));
        check("1e-99999999", Ok("1e-9"));
        check("1E", Ok("1E"));
    }

    #[test]
    fn faults() {
        for text in ["", "1 ", " 1", "1.2.3", "1é", "1Kib", "1e3x", "1-2-3", "é"] {
            check(text, Err(ParseError::Format));
        }
        for text in [
            "1K",
            "1e",
            "1ki",
            "1mi",
            "--1",
            "1kk",
            "1e99999999999999999999",
            "1i",
        ] {
            check(text, Err(ParseError::Suffix));
        }
        check(".e-10", Err(ParseError::Numeric));
        check("abc", Err(ParseError::Format));
    }
}
