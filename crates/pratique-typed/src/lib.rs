//! Objects as an API server sees them once it has read them into its own types.
//!
//! [`typed`] gives an object the form of its built-in kind, [`settle_object`] does so in place, [`decode`] says which
//! objects cannot have it, and why.

pub mod decode;
mod form;
mod go_text;
mod request;
mod settled;

pub use form::{converted, id, is_builtin, named, reread, type_at, typed, typed_as};
pub use go_text::{GoValue, Part, go_value};
pub use request::{convert_object, settle_object, settle_request};
