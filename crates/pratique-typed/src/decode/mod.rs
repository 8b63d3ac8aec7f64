//! Whether an API server can read an object into its own type, and in which words it refuses to.
//!
//! What a JSON Patch made is [decoded strictly](strict()) from JSON, or [leniently](lenient); what a merge made is [converted](convert());
//! what a client sends is [received](received()).

mod convert;
mod node;
mod received;
mod scalar;
mod strict;

use pratique_json::{Interrupted, Value, base64};
use pratique_schema::Scalar;

pub use convert::convert;
pub(crate) use convert::fits;
pub use node::Node;
pub use received::received;
pub use strict::{Written, lenient, strict, strict_written};

/// Why an object is not read into a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// It is not of the type, as Go says it.
    #[error("{0}")]
    Invalid(String),
    /// The caller interrupted it.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// Whether a scalar that is not null can be read; not asked of texts, booleans and integers.
pub(crate) fn reads(kind: Scalar, value: &Value<'_>) -> bool {
    let fits = match kind {
        Scalar::Float => matches!(value, Value::Int(_) | Value::Float(_)),
        Scalar::Bytes => value.as_str().is_some_and(|text| base64::decode(text).is_ok()),
        _ => true,
    };
    fits && scalar::fault(kind, value).is_none()
}
