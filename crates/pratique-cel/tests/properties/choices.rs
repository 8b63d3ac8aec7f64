//! Decisions read from random numbers: when they run out, all decisions are the first choice, so that shorter lists of
//! numbers make simpler expressions.

use proptest::prelude::*;

/// Numbers that decide.
pub(crate) struct Choices<'n> {
    numbers: std::slice::Iter<'n, u16>,
}

impl<'n> Choices<'n> {
    pub(crate) fn new(numbers: &'n [u16]) -> Self {
        Choices {
            numbers: numbers.iter(),
        }
    }

    /// A number below a bound, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.numbers
            .next()
            .map_or(0, |number| usize::from(*number) % bound)
    }

    /// One of several.
    pub(crate) fn one<'o, T>(&mut self, of: &'o [T]) -> &'o T {
        &of[self.below(of.len())]
    }
}

/// Lists of numbers that are enough for expressions of a few lines.
pub(crate) fn numbers() -> impl Strategy<Value = Vec<u16>> {
    proptest::collection::vec(any::<u16>(), 0..80)
}
