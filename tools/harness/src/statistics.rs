//! Statistics of repeated measurements.

/// The middle of several numbers, and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleSpread {
    /// The smallest.
    pub lowest: f64,
    /// The middle one.
    pub median: f64,
    /// The largest.
    pub highest: f64,
}

impl SampleSpread {
    /// Of at least one number.
    pub fn from_numbers(numbers: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = numbers.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let middle = |at: usize| sorted.get(at).copied();
        let (low, high) = (
            middle(sorted.len().checked_sub(1)? / 2)?,
            middle(sorted.len() / 2)?,
        );
        Some(SampleSpread {
            lowest: *sorted.first()?,
            median: f64::midpoint(low, high),
            highest: *sorted.last()?,
        })
    }
}

/// The geometric mean of positive numbers; `None` of none.
pub fn geometric_mean(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for number in numbers {
        sum += number.ln();
        count += 1.0;
    }
    (count > 0.0).then(|| (sum / count).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_means() {
        let check = |numbers: &[f64], expected: Option<f64>| {
            let actual = geometric_mean(numbers.iter().copied());
            let near = match (actual, expected) {
                (Some(actual), Some(expected)) => (actual - expected).abs() < 1e-9,
                (actual, expected) => actual == expected,
            };
            assert!(near, "{numbers:?}: {actual:?}");
        };
        check(&[], None);
        check(&[3.0], Some(3.0));
        check(&[1.0, 100.0], Some(10.0));
        check(&[2.0, 4.0, 8.0], Some(4.0));
    }

    #[test]
    fn spreads() {
        let check = |numbers: &[f64], expected: Option<(f64, f64, f64)>| {
            let actual = SampleSpread::from_numbers(numbers.iter().copied());
            let actual = actual.map(|spread| (spread.lowest, spread.median, spread.highest));
            assert_eq!(actual, expected, "{numbers:?}");
        };
        check(&[], None);
        check(&[5.0], Some((5.0, 5.0, 5.0)));
        check(&[9.0, 1.0], Some((1.0, 5.0, 9.0)));
        check(&[7.0, 1.0, 2.0], Some((1.0, 2.0, 7.0)));
        check(&[4.0, 1.0, 2.0, 10.0], Some((1.0, 3.0, 10.0)));
    }
}
