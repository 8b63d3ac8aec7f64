//! How large and how deep an expression may be.

use crate::error::Issue;
use crate::source::Position;

/// How deep each rule of the grammar may nest, and how long chains of operators may be.
pub(super) const MOST_DEPTH: u32 = 250;

/// How many code points an expression may have.
const MOST_CODE_POINTS: usize = 100_000;

/// Refuses a text with too many code points.
pub(super) fn check_size(text: &str) -> Result<(), Vec<Issue>> {
    // A code point takes a byte or more.
    if text.len() <= MOST_CODE_POINTS {
        return Ok(());
    }
    match text.chars().count() {
        0..=MOST_CODE_POINTS => Ok(()),
        size => Err(vec![Issue::new(
            Position::NOWHERE,
            format!("expression code point size exceeds limit: size: {size}, limit {MOST_CODE_POINTS}"),
        )]),
    }
}

/// The fault of an expression whose macros make too many nodes.
pub(super) fn too_large() -> Issue {
    Issue::new(
        Position::NOWHERE,
        "expression is too large after the expansion of its macros",
    )
}
