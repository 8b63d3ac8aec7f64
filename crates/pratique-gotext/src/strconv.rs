//! Texts and numbers as Go's `strconv` writes and reads them.

mod float;
mod number;
mod printable;
mod quote;

pub use float::{exponent_form, general_form, general_form_32, json_form, plain_form, special_form};
pub(crate) use number::split_sign;
pub use number::{NumberError, NumberProblem, atoi, parse_bool, parse_float, parse_int, parse_uint};
pub use printable::is_printable;
pub use quote::{quote, quote_bytes, quote_rune, short_escape};
