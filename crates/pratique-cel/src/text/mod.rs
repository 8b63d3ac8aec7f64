//! The string functions of CEL over plain texts.
//!
//! Nothing here knows a CEL value; the function libraries bind these to values.

mod characters;
pub mod format;
mod pieces;
mod quote;

pub use characters::{
    IndexError, char_at, index_of, index_of_from, last_index_of, last_index_of_from, length, substring,
    substring_range,
};
pub(crate) use pieces::replace;
pub use pieces::{Pieces, lower_ascii, split, trim, upper_ascii};
pub use quote::quote_cel;
