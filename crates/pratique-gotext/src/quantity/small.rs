//! Amounts that fit 64 bits: nearly all of them.

use std::cmp::Ordering;

use super::decimal::ScaledDecimal;

/// `value` × 10^`scale`.
#[derive(Debug, Clone, Copy)]
pub(super) struct SmallDecimal {
    pub(super) value: i64,
    pub(super) scale: i32,
}

impl SmallDecimal {
    pub(super) fn to_decimal(self) -> ScaledDecimal {
        ScaledDecimal::new(self.value, self.scale.wrapping_neg())
    }

    /// The number, unless it is written with a fraction or overflows.
    pub(super) fn to_integer(self) -> Option<i64> {
        if self.scale < 0 {
            None
        } else {
            times_power_of_10(self.value, i64::from(self.scale))
        }
    }

    pub(super) fn is_whole(self) -> bool {
        let factor = power_of_10(self.scale.min(0).unsigned_abs());
        self.value == 0 || factor.is_some_and(|factor| self.value % factor == 0)
    }

    pub(super) fn compare(self, other: Self) -> Ordering {
        let by_scale = self.scale.cmp(&other.scale);
        let difference = (i64::from(self.scale) - i64::from(other.scale)).abs();
        let compared = match by_scale {
            Ordering::Equal => Some(self.value.cmp(&other.value)),
            Ordering::Greater => {
                times_power_of_10(self.value, difference).map(|value| value.cmp(&other.value))
            }
            Ordering::Less => times_power_of_10(other.value, difference).map(|value| self.value.cmp(&value)),
        };
        compared.unwrap_or_else(|| self.to_decimal().compare(&other.to_decimal()))
    }

    pub(super) fn checked_add(self, other: Self) -> Option<Self> {
        if other.value == 0 {
            return Some(self);
        }
        if self.value == 0 {
            return Some(other);
        }
        let scale = self.scale.min(other.scale);
        let aligned = |small: Self| times_power_of_10(small.value, i64::from(small.scale) - i64::from(scale));
        Some(Self {
            value: aligned(self)?.checked_add(aligned(other)?)?,
            scale,
        })
    }

    pub(super) fn checked_sub(self, other: Self) -> Option<Self> {
        self.checked_add(Self {
            // In the reference, the least integer is its own negative.
            value: other.value.wrapping_neg(),
            ..other
        })
    }

    /// Digits and a power of 10 that is a multiple of 3.
    pub(super) fn decimal_digits(self) -> (String, i32) {
        let (value, removed) = without_factors(self.value, 10);
        let exponent = self.scale.wrapping_add(removed);
        let missing = exponent.rem_euclid(3);
        match times_power_of_10(value, i64::from(missing)) {
            Some(value) => (value.to_string(), exponent.wrapping_sub(missing)),
            None => self.to_decimal().decimal_digits(),
        }
    }

    /// Digits and a power of 1024, of a whole number.
    pub(super) fn binary_digits(self) -> (String, u64) {
        let whole = match self.scale {
            ..0 => power_of_10(self.scale.unsigned_abs()).and_then(|factor| self.value.checked_div(factor)),
            scale => times_power_of_10(self.value, i64::from(scale)),
        };
        match whole {
            Some(whole) => {
                let (value, removed) = without_factors(whole, 1024);
                (value.to_string(), u64::from(removed.unsigned_abs()))
            }
            None => self.to_decimal().binary_digits(),
        }
    }
}

fn times_power_of_10(value: i64, exponent: i64) -> Option<i64> {
    if value == 0 {
        return Some(0);
    }
    value.checked_mul(power_of_10(u32::try_from(exponent).ok()?)?)
}

/// 10^`exponent`, where it fits.
pub(super) fn power_of_10(exponent: u32) -> Option<i64> {
    10_i64.checked_pow(exponent)
}

/// Divides by `factor` as often as that is exact. The lowest number of all is left alone, as upstream leaves it.
fn without_factors(value: i64, factor: i64) -> (i64, i32) {
    let (mut value, mut times) = (value, 0);
    while value != 0 && value != i64::MIN && value % factor == 0 {
        value /= factor;
        times += 1;
    }
    (value, times)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(value: i64, scale: i32) -> SmallDecimal {
        SmallDecimal { value, scale }
    }

    #[test]
    fn powers_that_fit() {
        for exponent in 0..25 {
            assert_eq!(power_of_10(exponent), 10i64.checked_pow(exponent));
        }
        assert_eq!(power_of_10(u32::MAX), None);
    }

    #[test]
    fn comparing_across_scales() {
        for (low, high) in [
            (small(1, 0), small(11, -1)),
            (small(-11, -1), small(-1, 0)),
            (small(i64::MAX, 0), small(1, 19)),
            (small(1, -9), small(1, 18)),
            (small(-1, i32::MAX), small(1, i32::MIN)),
        ] {
            assert_eq!(low.compare(high), Ordering::Less, "{low:?} {high:?}");
            assert_eq!(high.compare(low), Ordering::Greater, "{low:?} {high:?}");
        }
        assert_eq!(small(10, -1).compare(small(1, 0)), Ordering::Equal);
    }

    #[test]
    fn digits() {
        assert_eq!(small(1500, 0).decimal_digits(), ("1500".to_owned(), 0));
        assert_eq!(small(15, 2).decimal_digits(), ("1500".to_owned(), 0));
        assert_eq!(small(1, -1).decimal_digits(), ("100".to_owned(), -3));
        assert_eq!(
            small(i64::MAX, 1).decimal_digits(),
            ("92233720368547758070".to_owned(), 0)
        );
        assert_eq!(
            small(i64::MIN, 0).binary_digits(),
            ("-9223372036854775808".to_owned(), 0)
        );
        assert_eq!(small(1 << 20, 0).binary_digits(), ("1".to_owned(), 2));
        assert_eq!(small(20480, -1).binary_digits(), ("2".to_owned(), 1));
    }
}
