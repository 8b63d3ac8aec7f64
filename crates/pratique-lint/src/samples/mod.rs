//! Sample objects of built-in kinds over which expressions are evaluated.
//!
//! A sample has the fields that every object of its kind has when policies see it, and the optional fields that
//! expressions name. Variants leave one of those out; strings and numbers are those that expressions compare with.

mod always_present;
mod build;
mod interest;
mod requests;
mod unfilled;

pub(crate) use interest::Interest;
pub(crate) use requests::{Extent, Sample, samples};
