//! Whether an API server can read an object into its own type, and in which words it refuses to.
//!
//! What a JSON Patch made is [decoded strictly](strict()) from JSON, or [leniently](lenient); what a merge made is [converted](convert()).

mod convert;
mod scalar;
mod strict;
mod time;

pub use convert::convert;
pub use strict::{lenient, strict};
