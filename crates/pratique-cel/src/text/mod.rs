//! Text as Go and its libraries treat it: numbers to and from text, quoting, and the string functions of CEL.
//!
//! Nothing here knows a CEL value; the function libraries bind these to values.

mod float;
mod number;
mod printable;
mod quote;

pub use float::{exponent_form, general_form, plain_form};
pub use number::{NumberError, NumberProblem, atoi, parse_bool, parse_float, parse_int, parse_uint};
pub use quote::{quote, quote_bytes, quote_cel};
