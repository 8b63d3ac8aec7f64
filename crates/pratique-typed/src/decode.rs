//! Decoding of JSON into the built-in types as an API server does it, with its messages for what does not fit.
//!
//! Results of a JSON Patch are decoded [strictly](strict()) from JSON, or [leniently](lenient), results of a merge are
//! [converted](convert()), and objects of clients are [received](received_in()). All but the conversion are one walk over a
//! document, [`decode`], which reports to a [`FaultSink`]; documents that have positions are [nodes](Node) of their own.

mod convert;
mod decoder;
mod fault;
mod first;
mod node;
mod place;
mod received_object;
mod scalar;
mod tree_node;
mod type_meta;
mod value_error;

use pratique_json::{Interrupted, Object, Progress, Value, base64};
use pratique_schema::{Scalar, Schema, TypeId};

use decoder::TypeDecoder;
use first::FirstFault;

pub use convert::convert;
pub(crate) use convert::{ConvertError, fits};
pub use decoder::WrittenStruct;
pub use fault::{Fault, FaultSink, StrictFault, StrictKind};
pub use first::StrictFaults;
pub use node::Node;
pub use place::{PlaceStep, ValuePlace};
pub use received_object::received_in;
pub use tree_node::TreeNode;
pub use type_meta::{TypeMetaError, type_meta};
pub use value_error::{StructField, ValueError};

/// Why an object is not decoded into a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// It is not of the type, with the message of an API server.
    #[error("{0}")]
    Invalid(String),
    /// The caller interrupted it.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl From<ValueError> for DecodeError {
    fn from(error: ValueError) -> Self {
        DecodeError::Invalid(error.to_string())
    }
}

/// Decodes a value as a type of a schema, and reports values that do not fit.
pub fn decode<'v, N: Node<'v>>(
    schema: &'static Schema,
    of: TypeId,
    value: N,
    sink: &mut impl FaultSink<'v, N>,
) {
    let progress = Progress::unwatched();
    let mut decoder = TypeDecoder::new(schema, &[], &progress, sink);
    let _ = decoder.root(of, value);
}

/// Decodes a value as a type of a schema: the messages of strict decoding.
///
/// # Errors
/// A value cannot be decoded.
pub fn strict_faults<'v, N: Node<'v>>(
    schema: &'static Schema,
    of: TypeId,
    value: N,
) -> Result<Vec<String>, ValueError> {
    let mut sink = FirstFault::default();
    decode(schema, of, value, &mut sink);
    sink.into_result()
}

/// Decodes an object strictly as a type of a schema.
///
/// # Errors
/// The message of an API server, or the decoding was interrupted.
pub fn strict(
    schema: &'static Schema,
    of: TypeId,
    object: &Object<'_>,
    progress: &Progress<'_>,
) -> Result<(), DecodeError> {
    strict_written(schema, of, object, &[], progress)
}

/// Decodes an object strictly that has parts which were written from structs of other types.
///
/// # Errors
/// As [`strict`].
pub fn strict_written(
    schema: &'static Schema,
    of: TypeId,
    object: &Object<'_>,
    written: &[WrittenStruct],
    progress: &Progress<'_>,
) -> Result<(), DecodeError> {
    let decoded = first_fault(schema, of, object.iter(), written, progress);
    progress.outcome()?;
    match decoded?.as_slice() {
        [] => Ok(()),
        refused => {
            let refused = refused.join(", ");
            Err(DecodeError::Invalid(format!("strict decoding error: {refused}")))
        }
    }
}

/// Decodes an object without looking at unknown fields.
///
/// # Errors
/// As [`strict`].
pub fn lenient(
    schema: &'static Schema,
    of: TypeId,
    object: &Object<'_>,
    progress: &Progress<'_>,
) -> Result<(), DecodeError> {
    let decoded = first_fault(schema, of, object.iter(), &[], progress);
    progress.outcome()?;
    decoded.map(drop).map_err(DecodeError::from)
}

/// Decodes members of an object: the messages of strict decoding; the error is that of a value that cannot be decoded.
fn first_fault<'v, N: Node<'v>>(
    schema: &'static Schema,
    of: TypeId,
    members: impl Iterator<Item = (&'v str, N)>,
    written: &'v [WrittenStruct],
    progress: &Progress<'_>,
) -> Result<Vec<String>, ValueError> {
    let mut sink = FirstFault::default();
    let _ = TypeDecoder::new(schema, written, progress, &mut sink).structure(of, members);
    sink.into_result()
}

/// The messages about members that an object without a schema has twice.
fn duplicates<'v, N: Node<'v>>(schema: &'static Schema, object: N) -> Vec<String> {
    let mut sink = FirstFault::default();
    TypeDecoder::new(schema, &[], &Progress::unwatched(), &mut sink).untyped(object);
    sink.into_result().unwrap_or_default()
}

/// Whether a scalar that is not null can be decoded.
pub(crate) fn decodes(kind: Scalar, value: &Value<'_>) -> bool {
    match kind {
        // The literal of a number is not known here.
        Scalar::Quantity => matches!(value, Value::String(_)) && reads(kind, value),
        _ => reads(kind, value),
    }
}

/// Whether a scalar that is not null can be decoded, where a quantity may be any number.
pub(crate) fn reads(kind: Scalar, value: &Value<'_>) -> bool {
    let fits = match kind {
        Scalar::Bytes => value.as_str().is_some_and(|text| base64::decode(text).is_ok()),
        _ => scalar::has_json_type(kind, value),
    };
    fits && scalar::fault(kind, value).is_none()
}
