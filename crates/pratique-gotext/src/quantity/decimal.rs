//! Amounts of any size and precision.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

use crate::strconv::split_sign;

/// More digits than this are not made up to align two numbers. Comparing never needs them.
const MAX_ALIGNMENT: i64 = 100_000;

/// `unscaled` × 10^−`scale`.
#[derive(Debug, Clone)]
pub(super) struct ScaledDecimal {
    unscaled: BigInt,
    scale: i32,
}

impl From<i64> for ScaledDecimal {
    fn from(number: i64) -> Self {
        Self::new(number, 0)
    }
}

impl ScaledDecimal {
    pub(super) fn new(unscaled: i64, scale: i32) -> Self {
        Self {
            unscaled: unscaled.into(),
            scale,
        }
    }

    /// Reads digits with an optional sign and an optional point; `None` where there is no digit.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = split_sign(text);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let magnitude = integer(&[whole, fraction].concat())?;
        Some(Self {
            unscaled: if negative { -magnitude } else { magnitude },
            scale: i32::try_from(fraction.len()).ok()?,
        })
    }

    /// The digits, and how many of them are behind the point.
    pub(super) fn parts(&self) -> (&BigInt, i32) {
        (&self.unscaled, self.scale)
    }

    pub(super) fn multiply_by_power_of_10(&mut self, exponent: i32) {
        self.scale = self.scale.wrapping_sub(exponent);
    }

    pub(super) fn multiply_by_power_of_2(&mut self, power: u32) {
        self.unscaled <<= power;
    }

    pub(super) fn owned_bytes(&self) -> usize {
        usize::try_from(self.unscaled.bits() / 8).unwrap_or(usize::MAX)
    }

    pub(super) fn signum(&self) -> i64 {
        match self.unscaled.sign() {
            Sign::Minus => -1,
            Sign::NoSign => 0,
            Sign::Plus => 1,
        }
    }

    /// Rounds away from zero to `scale` digits behind the point. Numbers so large that this would add more than
    /// [`MAX_ALIGNMENT`] zeroes stay as they are, which is the same number.
    pub(super) fn round_up(&mut self, scale: i32) {
        let added = i64::from(scale) - i64::from(self.scale);
        match added {
            0.. => {
                if let Some(aligned) = self.aligned(scale) {
                    *self = aligned;
                }
            }
            ..0 => {
                *self = Self {
                    unscaled: self.divided_up(added.unsigned_abs()),
                    scale,
                }
            }
        }
    }

    /// Brings the number into the range −`limit` to `limit`.
    pub(super) fn cap(&mut self, limit: i64) {
        let limit = Self::from(limit);
        if self.compare_magnitude(&limit).is_gt() {
            let negative = self.signum() < 0;
            *self = limit;
            if negative {
                self.unscaled = -std::mem::take(&mut self.unscaled);
            }
        }
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        self.signum()
            .cmp(&other.signum())
            .then_with(|| match self.signum() {
                -1 => other.compare_magnitude(self),
                _ => self.compare_magnitude(other),
            })
    }

    /// Compares without regard to the signs.
    pub(super) fn compare_magnitude(&self, other: &Self) -> Ordering {
        if other.scale > self.scale {
            return other.compare_magnitude(self).reverse();
        }
        // `other` needs this many more zeroes.
        let missing = i64::from(self.scale) - i64::from(other.scale);
        if other.signum() != 0 && missing.unsigned_abs() > max_digits(&self.unscaled) {
            return Ordering::Less;
        }
        let factor = if other.signum() == 0 {
            Some(BigInt::ZERO)
        } else {
            power_of_10(missing)
        };
        match factor {
            Some(factor) => self
                .unscaled
                .magnitude()
                .cmp((&other.unscaled * factor).magnitude()),
            // As many digits as `self` has, which exist already, cannot be too many for a power.
            None => Ordering::Less,
        }
    }

    pub(super) fn checked_add(&self, other: &Self) -> Option<Self> {
        let scale = self.scale.max(other.scale);
        let (a, b) = (self.aligned(scale)?, other.aligned(scale)?);
        Some(Self {
            unscaled: a.unscaled + b.unscaled,
            scale,
        })
    }

    pub(super) fn checked_sub(&self, other: &Self) -> Option<Self> {
        self.checked_add(&Self {
            unscaled: -&other.unscaled,
            scale: other.scale,
        })
    }

    /// The product; `None` where its scale does not fit, so that it exceeds every number.
    pub(super) fn checked_mul(&self, other: &Self) -> Option<Self> {
        Some(Self {
            unscaled: &self.unscaled * &other.unscaled,
            scale: self.scale.checked_add(other.scale)?,
        })
    }

    pub(super) fn is_whole(&self) -> bool {
        let mut rounded = self.clone();
        rounded.round_up(0);
        rounded.compare(self).is_eq()
    }

    /// The nearest float to the digits, then scaled, as upstream does it: the result is near, not nearest.
    pub(super) fn to_float(&self) -> f64 {
        scaled_float(
            self.signum() as f64 * magnitude_float(&self.unscaled),
            self.scale.wrapping_neg(),
        )
    }

    /// Digits and a power of 10 that is a multiple of 3, of a number that is not zero.
    pub(super) fn decimal_digits(&self) -> (String, i32) {
        let all = self.unscaled.to_string();
        let mut digits = all.trim_end_matches('0').to_owned();
        let removed = i32::try_from(all.len() - digits.len()).unwrap_or(i32::MAX);
        let exponent = self.scale.wrapping_neg().wrapping_add(removed);
        let missing = exponent.rem_euclid(3);
        (0..missing).for_each(|_| digits.push('0'));
        (digits, exponent.wrapping_sub(missing))
    }

    /// Digits and a power of 1024, of a whole number.
    pub(super) fn binary_digits(&self) -> (String, u64) {
        let mut whole = self.clone();
        whole.round_up(0);
        let power = whole.unscaled.trailing_zeros().unwrap_or(0) / 10;
        ((whole.unscaled >> (power * 10)).to_string(), power)
    }

    /// The same number with more digits behind the point.
    fn aligned(&self, scale: i32) -> Option<Self> {
        let added = i64::from(scale) - i64::from(self.scale);
        if added > MAX_ALIGNMENT {
            return None;
        }
        Some(Self {
            unscaled: &self.unscaled * power_of_10(added)?,
            scale,
        })
    }

    /// The digits without the last `dropped`, rounded away from zero.
    fn divided_up(&self, dropped: u64) -> BigInt {
        let away = BigInt::from(self.signum());
        if dropped > max_digits(&self.unscaled) {
            return away;
        }
        let Some(divisor) = i64::try_from(dropped).ok().and_then(power_of_10) else {
            return away;
        };
        let quotient = &self.unscaled / &divisor;
        if &quotient * divisor == self.unscaled {
            quotient
        } else {
            quotient + away
        }
    }
}

/// The number that digits spell. Halves are read apart, which for very many digits saves nearly all of the time.
fn integer(digits: &str) -> Option<BigInt> {
    if digits.len() <= 1_000 {
        return digits.parse().ok();
    }
    let (high, low) = digits.split_at_checked(digits.len() / 2)?;
    Some(integer(high)? * power_of_10(i64::try_from(low.len()).ok()?)? + integer(low)?)
}

/// The nearest float to the number without its sign.
fn magnitude_float(number: &BigInt) -> f64 {
    let magnitude = number.magnitude();
    let dropped = magnitude.bits().saturating_sub(64);
    let Ok(high) = u64::try_from(magnitude >> dropped) else {
        return f64::NAN;
    };
    // What was dropped only matters for rounding: one bit stands for all of it.
    let dropped_something = magnitude.trailing_zeros().is_some_and(|zeros| zeros < dropped);
    let high = (high | u64::from(dropped_something)) as f64;
    i32::try_from(dropped).map_or(f64::INFINITY, |dropped| high * 2f64.powi(dropped))
}

fn power_of_10(exponent: i64) -> Option<BigInt> {
    Some(BigInt::from(10).pow(u32::try_from(exponent).ok()?))
}

/// At least as many decimal digits as the number has.
fn max_digits(number: &BigInt) -> u64 {
    number.bits() / 3 + 1
}

/// `base` × 10^`exponent` with upstream's two roundings.
pub(super) fn scaled_float(base: f64, exponent: i32) -> f64 {
    if exponent == 0 {
        base
    } else {
        base * float_power_of_10(exponent)
    }
}

/// The nearest float to 10^`exponent`, as far as two table look-ups give it.
fn float_power_of_10(exponent: i32) -> f64 {
    let literal = |exponent: u32, sign: &str| format!("1e{sign}{exponent}").parse().unwrap_or(f64::NAN);
    let magnitude = exponent.unsigned_abs();
    let (coarse, fine) = (magnitude / 32 * 32, magnitude % 32);
    match exponent {
        0..=308 => literal(coarse, "") * literal(fine, ""),
        -323..0 => literal(coarse, "-") / literal(fine, ""),
        309.. => f64::INFINITY,
        ..-323 => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> ScaledDecimal {
        ScaledDecimal::parse(text).unwrap()
    }

    fn check_rounded(text: &str, scale: i32, expected: &str) {
        let mut number = decimal(text);
        number.round_up(scale);
        assert_eq!(number.compare(&decimal(expected)), Ordering::Equal, "{text}");
        assert_eq!(number.scale, scale);
    }

    #[test]
    fn rounding() {
        check_rounded("1.25", 1, "1.3");
        check_rounded("-1.21", 1, "-1.3");
        check_rounded("1.20", 1, "1.2");
        check_rounded("0.0000001", 0, "1");
        check_rounded("-0.0000001", 0, "-1");
        check_rounded("7", 3, "7");
    }

    #[test]
    fn comparing_never_makes_up_digits() {
        let huge = ScaledDecimal {
            unscaled: 1.into(),
            scale: i32::MIN,
        };
        let tiny = ScaledDecimal {
            unscaled: 1.into(),
            scale: i32::MAX,
        };
        assert_eq!(huge.compare(&tiny), Ordering::Greater);
        assert_eq!(tiny.compare(&huge), Ordering::Less);
        assert_eq!(
            tiny.compare(&ScaledDecimal {
                unscaled: BigInt::ZERO,
                scale: i32::MIN
            }),
            Ordering::Greater
        );
        assert_eq!(decimal("1.50").compare(&decimal("1.5")), Ordering::Equal);
    }

    #[test]
    fn floats() {
        for text in [
            "0",
            "-12.5",
            "18446744073709551617",
            "36893488147419107329",
            "-99999999999999999999999999",
        ] {
            let whole = text.replace('.', "");
            let (base, exponent) = (whole.parse().unwrap(), if text.contains('.') { -1 } else { 0 });
            assert_eq!(decimal(text).to_float(), scaled_float(base, exponent), "{text}");
        }
        assert_eq!(decimal(&"9".repeat(400)).to_float(), f64::INFINITY);
    }

    #[test]
    fn many_digits() {
        let text = "1234567890".repeat(1_000);
        assert_eq!(decimal(&text).unscaled.to_string(), text);
        assert_eq!(
            decimal(&format!("-{text}.5")).decimal_digits().0,
            format!("-{text}500")
        );
    }

    #[test]
    fn digits() {
        assert_eq!(decimal("12000000").decimal_digits(), ("12".to_owned(), 6));
        assert_eq!(decimal("-1.5").decimal_digits(), ("-1500".to_owned(), -3));
        assert_eq!(decimal("-2097152.0").binary_digits(), ("-2".to_owned(), 2));
    }
}
