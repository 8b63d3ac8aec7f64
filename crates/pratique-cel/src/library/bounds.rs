//! Calls that are refused before they are made.
//!
//! A call is charged after it was made. Some would by then have taken more time or memory than there is: those that are
//! sure to cost more than any limit end as if they had been charged, and so do those that would make a value which is
//! too large to be looked at within the limit.

use crate::context::Context;
use crate::error::{Fault, Stop};
use crate::value::Value;

/// The longest text that a call makes, in bytes: reading it once would cost more than a call may.
const MAX_TEXT: usize = 64 << 20;

/// The longest list that a call makes of other lists.
const MAX_ELEMENTS: usize = 4 << 20;

/// The most pairs of elements, or of bytes of a text and a pattern, that a call compares: each costs at least a fortieth.
const MAX_PAIRS: u64 = 2 << 30;

/// The most pairs of elements that are charged one by one.
const MAX_COMPARISONS: u64 = 32 << 20;

/// A text of a length, for which there is memory.
pub(super) fn check_text(context: &Context<'_>, len: usize) -> Result<(), Fault> {
    check_bound(len <= MAX_TEXT)?;
    context.reserve(len)
}

/// A list of a length, for which there is memory.
pub(super) fn check_elements(context: &Context<'_>, len: usize) -> Result<(), Fault> {
    check_bound(len <= MAX_ELEMENTS)?;
    context.reserve(len.saturating_mul(size_of::<Value<'_>>()))
}

/// The comparison of each element of a list with each of another.
pub(super) fn check_comparisons(len: usize, other: usize) -> Result<(), Fault> {
    check_bound(product(len, other) <= MAX_COMPARISONS)
}

/// A search for a pattern in a text, by their lengths in bytes.
pub(super) fn check_search(text: &str, pattern: &str) -> Result<(), Fault> {
    check_bound(product(text.len(), pattern.len()) <= MAX_PAIRS)
}

fn product(one: usize, other: usize) -> u64 {
    (one as u64).saturating_mul(other as u64)
}

fn check_bound(within: bool) -> Result<(), Fault> {
    if within {
        Ok(())
    } else {
        Err(Fault::stop(Stop::CostLimit))
    }
}
