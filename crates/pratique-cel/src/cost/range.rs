//! Ranges of costs and sizes.

use std::fmt::{self, Display, Formatter};

/// A cost or a size of which only the bounds are known. The greatest number stands for "without bound".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least it may be.
    pub min: u64,
    /// The most it may be.
    pub max: u64,
}

impl Range {
    /// Anything.
    pub const UNKNOWN: Range = Range {
        min: 0,
        max: u64::MAX,
    };

    /// Nothing yet: the range that adds nothing to a union.
    pub(crate) const NONE: Range = Range {
        min: u64::MAX,
        max: 0,
    };

    /// Whether the bound is meaningful: a part of an unbounded range is a large number as well.
    pub const fn is_bounded(self) -> bool {
        self.max < 1 << 53
    }

    /// One number.
    pub const fn exactly(number: u64) -> Self {
        Range {
            min: number,
            max: number,
        }
    }

    /// The numbers from `min` to `max`.
    pub const fn new(min: u64, max: u64) -> Self {
        Range { min, max }
    }

    /// The sums of both; a bound stops at the greatest number.
    pub fn plus(self, other: Range) -> Self {
        Range {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    /// The products of both; a bound stops at the greatest number.
    pub fn times(self, other: Range) -> Self {
        Range {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    /// Each bound times a factor, rounded up.
    pub fn scaled(self, factor: f64) -> Self {
        // A conversion to an integer stops at its bounds.
        let scale = |bound: u64| (bound as f64 * factor).ceil() as u64;
        Range {
            min: scale(self.min),
            max: scale(self.max),
        }
    }

    /// The least range that has both in it.
    pub fn or(self, other: Range) -> Self {
        Range {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

/// `5`, `1 to 5`, `at least 1`.
impl Display for Range {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (min, max) if min == max => write!(formatter, "{min}"),
            (min, _) if !self.is_bounded() => write!(formatter, "at least {min}"),
            (min, max) => write!(formatter, "{min} to {max}"),
        }
    }
}
