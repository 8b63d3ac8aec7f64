//! Text as Go and its libraries treat it: numbers to and from text, quoting, and the string functions of CEL.
//!
//! Nothing here knows a CEL value; the function libraries bind these to values.

mod characters;
mod float;
pub mod format;
mod nearest;
mod number;
mod pieces;
mod printable;
mod quote;

pub use characters::{
    IndexError, char_at, index_of, index_of_from, last_index_of, last_index_of_from, length, substring,
    substring_range,
};
pub use float::{exponent_form, general_form, plain_form};
pub use nearest::nearest;
pub use number::{NumberError, NumberProblem, atoi, parse_bool, parse_float, parse_int, parse_uint};
pub use pieces::{lower_ascii, replace, split, trim, upper_ascii};
pub use quote::{quote, quote_bytes, quote_cel};
