//! Validation of objects by their schema and metadata.

mod combine;
mod correlate;
pub(crate) mod embedded_resource;
pub(crate) mod lists;
mod number;
pub(crate) mod object_meta;
mod outcome;
pub(crate) mod scale;
pub(crate) mod value;

pub(crate) use correlate::{CorrelatedValue, KeyedItems};
