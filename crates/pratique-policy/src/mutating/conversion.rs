//! The context in which values of expressions are converted.

use pratique_json::Progress;

use crate::typed::{GoValue, Part};

/// What values are converted with.
#[derive(Clone, Copy)]
pub(super) struct Conversion<'g> {
    /// How Go formats the parts of an input that expressions see through Go types.
    pub(super) go: &'g dyn Fn(Part<'_>) -> Option<GoValue>,
    /// Once it is stopped, results of conversions are void.
    pub(super) progress: &'g Progress<'g>,
}

impl Conversion<'_> {
    pub(super) fn go_value(&self, part: Part<'_>) -> Option<GoValue> {
        (self.go)(part)
    }
}
