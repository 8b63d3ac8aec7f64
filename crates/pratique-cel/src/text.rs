//! The string functions of CEL over plain texts.
//!
//! Nothing here knows a CEL value; the function libraries bind these to values.

mod characters;
pub(crate) mod format;
mod pieces;
mod quote;

pub(crate) use characters::{
    char_at, index_of, index_of_from, last_index_of, last_index_of_from, substring, substring_range,
};
pub(crate) use pieces::replace;
pub(crate) use pieces::{lower_ascii, split, trim, upper_ascii};
pub use quote::quote_cel;
