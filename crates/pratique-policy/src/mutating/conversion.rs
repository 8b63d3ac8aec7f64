//! The context in which values of expressions are converted.

use pratique_json::Progress;

use crate::typed::{GoValue, Part};

/// What values are converted with.
#[derive(Clone, Copy)]
pub(super) struct Conversion<'g> {
    /// Tells what Go shows of the parts of an input that expressions see through types of their own.
    pub(super) go: &'g dyn Fn(Part<'_>) -> Option<GoValue>,
    /// Once it is stopped, what conversions gave is of no use.
    pub(super) progress: &'g Progress<'g>,
}

impl Conversion<'_> {
    pub(super) fn go_value(&self, part: Part<'_>) -> Option<GoValue> {
        (self.go)(part)
    }
}
