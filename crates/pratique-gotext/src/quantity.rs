//! Quantities of resources, `100m`, `1.5Gi`, `12e6`: `k8s.io/apimachinery`'s `resource.Quantity`.
//!
//! A quantity is an exact decimal number and the kind of suffix it was written with. It is shown in canonical form:
//! no fraction, the largest suffix that loses nothing. `1000m` shows as `1`, `1.5Gi` as `1536Mi`.
//!
//! ```
//! use pratique_gotext::quantity::Quantity;
//!
//! let half = Quantity::parse("1.5Gi")?;
//! assert_eq!(half.to_string(), "1536Mi");
//! assert!(half > Quantity::parse("1500M")?);
//! assert_eq!(Quantity::parse("1kk").unwrap_err().to_string(), "unable to parse quantity's suffix");
//! # Ok::<(), pratique_gotext::quantity::ParseError>(())
//! ```

mod decimal;
mod parse;
mod scaled_integer;
mod small;
mod suffix;
mod text;

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use decimal::ScaledDecimal;
pub use parse::ParseError;
pub use scaled_integer::MAX_MILLI_VALUE;
use small::SmallDecimal;
use suffix::QuantityFormat;
use text::InlineText;

/// An exact number with the kind of suffix it was written with. Equality and order are those of the number.
#[derive(Debug, Clone)]
pub struct Quantity {
    amount: QuantityAmount,
    format: QuantityFormat,
    /// The text it was read from, where that passes for canonical.
    text: Option<InlineText>,
}

/// The number. Most quantities are [`SmallDecimal`]; only those count as integers.
#[derive(Debug, Clone)]
enum QuantityAmount {
    Small(SmallDecimal),
    Big(ScaledDecimal),
}

/// A sum or difference with too many digits: more than a hundred thousand between the two numbers' last ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("quantity is out of range")]
pub struct OutOfRange;

/// A quantity as the struct that it is in Go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoParts {
    /// Its digits.
    pub value: i64,
    /// The power of ten that they count.
    pub scale: i32,
    /// Whether it has more digits than that holds, and is held elsewhere.
    pub is_big: bool,
    /// The text that it was read from, where it remembers that.
    pub text: String,
    /// Its format: `DecimalSI`.
    pub format: &'static str,
}

impl Quantity {
    /// Reads a quantity. Numbers finer than 10⁻⁹ are rounded away from zero; numbers with a binary suffix are capped at
    /// 2⁶³ − 1.
    ///
    /// # Errors
    /// When `text` is no number with one of the known suffixes.
    // Upstream: apimachinery/pkg/api/resource/quantity.go, ParseQuantity
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        parse::quantity(text)
    }

    /// A whole number. Shows as `12e6` when it is left alone.
    pub fn from_integer(number: i64) -> Self {
        Self {
            amount: QuantityAmount::Small(SmallDecimal {
                value: number,
                scale: 0,
            }),
            format: QuantityFormat::DecimalExponent,
            text: None,
        }
    }

    /// The parts of the struct that it is in Go, as Go's formats show it.
    pub fn go_parts(&self) -> GoParts {
        let small = match &self.amount {
            QuantityAmount::Small(small) => Some(*small),
            QuantityAmount::Big(_) => None,
        };
        GoParts {
            value: small.map_or(0, |small| small.value),
            scale: small.map_or(0, |small| small.scale),
            is_big: small.is_none(),
            text: self.text.as_ref().map_or("", InlineText::as_str).to_owned(),
            format: match self.format {
                QuantityFormat::DecimalExponent => "DecimalExponent",
                QuantityFormat::BinarySi => "BinarySI",
                QuantityFormat::DecimalSi => "DecimalSI",
            },
        }
    }

    /// Whether it is zero.
    #[inline]
    pub fn is_zero(&self) -> bool {
        self.signum() == 0
    }

    /// −1, 0 or 1.
    #[inline]
    pub fn signum(&self) -> i64 {
        match &self.amount {
            QuantityAmount::Small(small) => small.value.signum(),
            QuantityAmount::Big(decimal) => decimal.signum(),
        }
    }

    /// The number, where it is whole, fits, and was not written in a way that needs a fraction: `1.0` and `1000m` are no
    /// integers.
    // Upstream: apimachinery/pkg/api/resource/quantity.go, Quantity.AsInt64
    #[inline]
    pub fn as_integer(&self) -> Option<i64> {
        match &self.amount {
            QuantityAmount::Small(small) => small.to_integer(),
            QuantityAmount::Big(_) => None,
        }
    }

    /// The number, perhaps rounded, infinite where it is too large.
    // Upstream: apimachinery/pkg/api/resource/quantity.go, Quantity.AsApproximateFloat64
    pub fn as_approximate_float(&self) -> f64 {
        match &self.amount {
            QuantityAmount::Small(small) => decimal::scaled_float(small.value as f64, small.scale),
            QuantityAmount::Big(decimal) => decimal.to_float(),
        }
    }

    /// The sum, with the format of `self` unless that is zero.
    ///
    /// # Errors
    /// When the sum would have too many digits.
    pub fn add(&self, other: &Self) -> Result<Self, OutOfRange> {
        self.combine(other, SmallDecimal::checked_add, ScaledDecimal::checked_add)
    }

    /// The difference, with the format of `self` unless that is zero.
    ///
    /// # Errors
    /// When the difference would have too many digits.
    pub fn sub(&self, other: &Self) -> Result<Self, OutOfRange> {
        self.combine(other, SmallDecimal::checked_sub, ScaledDecimal::checked_sub)
    }

    /// Whether it is greater than the product of two others.
    // Upstream: plugin/pkg/admission/limitranger/admission.go, exceedsAllowed
    pub fn exceeds_product(&self, one: &Self, other: &Self) -> bool {
        let product = one.amount.to_decimal().checked_mul(&other.amount.to_decimal());
        product.is_some_and(|product| self.amount.to_decimal().compare(&product).is_gt())
    }

    /// Whether it has no memory on the heap.
    #[inline]
    pub fn owns_nothing(&self) -> bool {
        matches!(self.amount, QuantityAmount::Small(_)) && !matches!(self.text, Some(InlineText::Long(_)))
    }

    /// About how much memory it has on the heap.
    pub fn owned_bytes(&self) -> usize {
        let of_amount = match &self.amount {
            QuantityAmount::Small(_) => 0,
            QuantityAmount::Big(decimal) => decimal.owned_bytes(),
        };
        of_amount.saturating_add(self.text.as_ref().map_or(0, |text| text.as_str().len()))
    }

    fn combine(
        &self,
        other: &Self,
        small: fn(SmallDecimal, SmallDecimal) -> Option<SmallDecimal>,
        big: fn(&ScaledDecimal, &ScaledDecimal) -> Option<ScaledDecimal>,
    ) -> Result<Self, OutOfRange> {
        let fast = match (&self.amount, &other.amount) {
            (QuantityAmount::Small(a), QuantityAmount::Small(b)) => small(*a, *b),
            _ => None,
        };
        let amount = match fast {
            Some(small) => QuantityAmount::Small(small),
            None => QuantityAmount::Big(
                big(&self.amount.to_decimal(), &other.amount.to_decimal()).ok_or(OutOfRange)?,
            ),
        };
        let format = if self.is_zero() { other.format } else { self.format };
        Ok(Self {
            amount,
            format,
            text: None,
        })
    }

    /// Digits and suffix in canonical form.
    // Upstream: apimachinery/pkg/api/resource/quantity.go, Quantity.CanonicalizeBytes
    fn canonical(&self) -> (String, String) {
        if self.is_zero() {
            return ("0".to_owned(), String::new());
        }
        if self.format == QuantityFormat::BinarySi && self.is_large_integer() {
            let (digits, exponent) = self.amount.binary_digits();
            return (digits, suffix::binary(exponent).to_owned());
        }
        let (digits, exponent) = self.amount.decimal_digits();
        let suffix = match self.format {
            QuantityFormat::DecimalExponent => suffix::exponent(exponent),
            QuantityFormat::BinarySi | QuantityFormat::DecimalSi => suffix::decimal(exponent).to_owned(),
        };
        (digits, suffix)
    }

    /// Whether a binary suffix loses nothing and does not surprise.
    fn is_large_integer(&self) -> bool {
        let limit = SmallDecimal {
            value: 1024,
            scale: 0,
        };
        let magnitude_reached = match &self.amount {
            QuantityAmount::Small(small) => {
                small.compare(limit).is_ge()
                    || small
                        .compare(SmallDecimal {
                            value: -1024,
                            scale: 0,
                        })
                        .is_le()
            }
            QuantityAmount::Big(decimal) => decimal.compare_magnitude(&limit.to_decimal()).is_ge(),
        };
        magnitude_reached && self.amount.is_whole()
    }
}

impl QuantityAmount {
    fn to_decimal(&self) -> ScaledDecimal {
        match self {
            Self::Small(small) => small.to_decimal(),
            Self::Big(decimal) => decimal.clone(),
        }
    }

    fn is_whole(&self) -> bool {
        match self {
            Self::Small(small) => small.is_whole(),
            Self::Big(decimal) => decimal.is_whole(),
        }
    }

    /// Digits and a power of 10 that is a multiple of 3.
    fn decimal_digits(&self) -> (String, i32) {
        match self {
            Self::Small(small) => small.decimal_digits(),
            Self::Big(decimal) => decimal.decimal_digits(),
        }
    }

    /// Digits and a power of 1024, of a whole number.
    fn binary_digits(&self) -> (String, u64) {
        match self {
            Self::Small(small) => small.binary_digits(),
            Self::Big(decimal) => decimal.binary_digits(),
        }
    }
}

impl Ord for Quantity {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.amount, &other.amount) {
            (QuantityAmount::Small(a), QuantityAmount::Small(b)) => a.compare(*b),
            (a, b) => a.to_decimal().compare(&b.to_decimal()),
        }
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Quantity {}

impl FromStr for Quantity {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse(text)
    }
}

/// The canonical form.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            Some(text) => f.write_str(text.as_str()),
            None => {
                let (digits, suffix) = self.canonical();
                write!(f, "{digits}{suffix}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(text: &str) -> Quantity {
        Quantity::parse(text).unwrap()
    }

    fn check_shown(text: &str, expected: &str) {
        assert_eq!(quantity(text).to_string(), expected, "{text}");
    }

    #[test]
    fn canonical_form() {
        check_shown("1000m", "1");
        check_shown("1.5Gi", "1536Mi");
        check_shown("0.5Gi", "512Mi");
        check_shown("1024Ki", "1Mi");
        check_shown("1000", "1k");
        check_shown("12e6", "12e6");
        check_shown("1200e4", "12e6");
        check_shown("0.1n", "1n");
        check_shown("-1.1n", "-2n");
        check_shown("100Ki", "100Ki");
        check_shown("0.5Ki", "512");
        check_shown("1.1Ki", "1126400m");
        check_shown("16Ei", "9223372036854775807");
        check_shown("12345678901234567890k", "12345678901234567890k");
        check_shown("1000E", "1");
        check_shown("0Ki", "0");
    }

    #[test]
    fn texts_that_pass_for_canonical() {
        check_shown("+5", "+5");
        check_shown("1.500", "1.500");
        check_shown("0010m", "0010m");
        check_shown("1E3", "1E3");
    }

    fn check_sum(a: &str, b: &str, sum: &str, difference: &str) {
        assert_eq!(
            quantity(a).add(&quantity(b)).unwrap().to_string(),
            sum,
            "{a} + {b}"
        );
        assert_eq!(
            quantity(a).sub(&quantity(b)).unwrap().to_string(),
            difference,
            "{a} - {b}"
        );
    }

    #[test]
    fn arithmetic_keeps_the_first_format() {
        check_sum("1Gi", "1", "1073741825", "1073741823");
        check_sum("1Gi", "1Mi", "1025Mi", "1023Mi");
        check_sum("1k", "24", "1024", "976");
        check_sum("0", "1Mi", "1Mi", "-1Mi");
        check_sum("1e3", "1k", "2e3", "0");
        check_sum(
            "9223372036854775807",
            "1",
            "9223372036854775808",
            "9223372036854775806",
        );
        check_sum("1Ki", "1m", "1024001m", "1023999m");
    }

    #[test]
    fn order_is_that_of_the_number() {
        for (low, high) in [
            ("1", "1001m"),
            ("1023", "1Ki"),
            ("-1Gi", "-1Mi"),
            ("1e-9", "1"),
            ("9223372036854775807", "9223372036854775808"),
            ("1e300", "1e2147483647"),
            ("-1e2147483647", "0"),
        ] {
            assert_eq!(
                quantity(low).cmp(&quantity(high)),
                Ordering::Less,
                "{low} < {high}"
            );
            assert_eq!(
                quantity(high).cmp(&quantity(low)),
                Ordering::Greater,
                "{high} > {low}"
            );
        }
        assert_eq!(quantity("1Ki"), quantity("1024"));
        assert_eq!(quantity("1.5"), quantity("1500m"));
    }

    #[test]
    fn integers_and_floats() {
        for (text, integer, float) in [
            ("5", Some(5), 5.0),
            ("1k", Some(1000), 1000.0),
            ("1Ki", Some(1024), 1024.0),
            ("1000m", None, 1.0),
            ("1.0", None, 1.0),
            ("10E", None, 1e19),
            ("0e2147483647", Some(0), f64::NAN),
            ("1e400", None, f64::INFINITY),
        ] {
            assert_eq!(quantity(text).as_integer(), integer, "{text}");
            let got = quantity(text).as_approximate_float();
            assert!(got == float || got.is_nan() && float.is_nan(), "{text}: {got}");
        }
    }

    #[test]
    fn sums_without_bound_are_refused() {
        assert_eq!(
            quantity("1e2147483647").add(&quantity("1")).unwrap_err(),
            OutOfRange
        );
        assert_eq!(
            quantity("1e10000").add(&quantity("1")).unwrap().to_string().len(),
            10_001
        );
    }
}
