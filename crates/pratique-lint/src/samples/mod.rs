//! Objects of built-in kinds to try expressions on.
//!
//! An object has what every object of its kind has when policies see it, in the form in which they see it, and the
//! optional fields that expressions name. Of those, one after the other is left out; texts and numbers are those that
//! expressions compare with.

mod always;
mod build;
mod interest;
mod requests;

pub(crate) use interest::Interest;
pub(crate) use requests::{Extent, Sample, samples};
