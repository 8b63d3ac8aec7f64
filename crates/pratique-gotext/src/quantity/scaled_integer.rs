//! Quantities as 64-bit integers of a unit.

use num_bigint::BigInt;

use super::decimal::ScaledDecimal;
use super::small::{SmallDecimal, power_of_10};
use super::{Quantity, QuantityAmount};

/// The largest whole number whose thousandths fit an `i64`.
pub const MAX_MILLI_VALUE: i64 = i64::MAX / 1000;

impl Quantity {
    /// The number, rounded away from zero to a whole one. What does not fit wraps around or is 0, as in the reference.
    // Upstream: apimachinery/pkg/api/resource/quantity.go, Quantity.Value
    pub fn value(&self) -> i64 {
        self.scaled_value(0)
    }

    /// The number of thousandths, rounded away from zero. What does not fit wraps around or is 0, as in the reference.
    // Upstream: apimachinery/pkg/api/resource/quantity.go, Quantity.MilliValue
    pub fn milli_value(&self) -> i64 {
        self.scaled_value(-3)
    }

    // Upstream: apimachinery/pkg/api/resource/quantity.go, Quantity.ScaledValue
    fn scaled_value(&self, scale: i32) -> i64 {
        match &self.amount {
            QuantityAmount::Small(small) => small.scaled(scale),
            QuantityAmount::Big(decimal) => decimal.scaled(scale),
        }
    }
}

impl SmallDecimal {
    // Upstream: apimachinery/pkg/api/resource/amount.go, int64Amount.AsScaledInt64
    fn scaled(self, scale: i32) -> i64 {
        let difference = i64::from(self.scale) - i64::from(scale);
        if difference >= 0 {
            let factor = u32::try_from(difference).ok().and_then(power_of_10);
            let scaled = factor.and_then(|factor| self.value.checked_mul(factor));
            return scaled.unwrap_or(0);
        }
        let power = u32::try_from(-difference).unwrap_or(u32::MAX);
        match power_of_10(power) {
            Some(factor) if self.value % factor == 0 => self.value / factor,
            Some(factor) => self.value / factor + self.value.signum(),
            None => self.value.signum(),
        }
    }
}

impl ScaledDecimal {
    // Upstream: apimachinery/pkg/api/resource/scale_int.go, scaledValue
    fn scaled(&self, scale: i32) -> i64 {
        let (unscaled, digits_behind_point) = self.parts();
        let difference = i64::from(digits_behind_point) + i64::from(scale);
        if difference <= 0 {
            let power = u32::try_from(-difference).unwrap_or(u32::MAX);
            // A power that does not fit is the lowest integer in Go, where floats are converted.
            let factor = power_of_10(power).unwrap_or(i64::MIN);
            return low_bits(unscaled).wrapping_mul(factor);
        }
        // Negative numbers of any size are taken for small ones, and all are rounded towards positive infinity.
        let power = u32::try_from(difference).unwrap_or(u32::MAX);
        if let Some(factor) = power_of_10(power)
            && *unscaled < BigInt::from(i64::MAX)
        {
            let digits = low_bits(unscaled);
            return (digits / factor).wrapping_add(i64::from(digits % factor != 0));
        }
        let mut rounded = self.clone();
        rounded.round_up(scale.saturating_neg());
        low_bits(rounded.parts().0)
    }
}

/// The lowest 64 bits of the magnitude, with its sign, as `big.Int.Int64` gives them.
fn low_bits(number: &BigInt) -> i64 {
    let magnitude = number.magnitude().iter_u64_digits().next().unwrap_or_default();
    match number.sign() {
        num_bigint::Sign::Minus => magnitude.cast_signed().wrapping_neg(),
        _ => magnitude.cast_signed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, value: i64, milli: i64) {
        let quantity = Quantity::parse(text).unwrap();
        assert_eq!(
            (quantity.value(), quantity.milli_value()),
            (value, milli),
            "{text}"
        );
    }

    #[test]
    fn values_round_away_from_zero() {
        // As the reference computes them.
        check("100m", 1, 100);
        check("-1500m", -2, -1500);
        check("1n", 1, 1);
        check("0", 0, 0);
        check("1.5Gi", 1_610_612_736, 1_610_612_736_000);
        check("9223372036854775807", i64::MAX, -1000);
        check("8E", 8_000_000_000_000_000_000, 0);
        check("10E", 0, 0);
        check(
            "12345678901234567890k",
            4_807_115_922_877_858_896,
            -7_484_280_360_334_075_776,
        );
        check(
            "12345678901234567890123n",
            12_345_678_901_235,
            12_345_678_901_234_568,
        );
        check("-12345678901234567890123n", -4_807_115_921, -4_807_115_922_876);
        check("9223372036854775808", i64::MIN, 0);
        check("1e400", 0, 0);
    }
}
