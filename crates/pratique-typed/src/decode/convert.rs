//! Conversion of plain data into a built-in type: unknown fields are left out, and the first fault ends it.
// Upstream: apimachinery/pkg/runtime/converter.go, unstructuredConverter.FromUnstructured

use pratique_json::{Object, Progress, Value, base64};
use pratique_schema::{Scalar, Schema, Shape, TypeId};

use super::{DecodeError, ValueError, scalar};

/// Converts an object into a type of a schema.
///
/// # Errors
/// The message of an API server about a value that cannot be converted, or the conversion was interrupted.
pub fn convert(
    schema: &'static Schema,
    of: TypeId,
    object: &Object<'_>,
    progress: &Progress<'_>,
) -> Result<(), DecodeError> {
    let converted = structure(schema, of, object, progress);
    progress.outcome()?;
    converted.map_err(DecodeError::from)
}

/// Why a value cannot be converted into a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConvertError {
    #[error("cannot restore struct from: {0}")]
    Struct(&'static str),
    #[error("cannot restore slice from {0}")]
    Slice(&'static str),
    #[error("cannot restore map from {0}")]
    Map(&'static str),
    #[error("error decoding from json: illegal base64 data at input byte {0}")]
    Base64(usize),
    #[error("cannot convert {from} to {to}")]
    Kind { from: &'static str, to: String },
    #[error("unrecognized type: {0}")]
    Scalar(&'static str),
    /// Strict decoding has something to report, with messages of its own.
    #[error("not decoded strictly")]
    Undecoded,
    /// A scalar that Go decodes with a method of its own.
    #[error(transparent)]
    Content(ValueError),
}

impl From<Box<ConvertError>> for DecodeError {
    fn from(error: Box<ConvertError>) -> Self {
        DecodeError::Invalid(error.to_string())
    }
}

fn structure(
    schema: &'static Schema,
    of: TypeId,
    object: &Object<'_>,
    progress: &Progress<'_>,
) -> Result<(), Box<ConvertError>> {
    if !progress.nodes(object.len()) {
        return Ok(());
    }
    let of = schema.get(of);
    let mut walk = of.fields.walk();
    for (name, value) in object.iter() {
        if let Some(field) = walk.field(name) {
            fits(schema, &field.shape, value, &|| field.go_type(schema), progress)?;
        }
    }
    Ok(())
}

/// Whether a value can be converted into a type, which Go calls `go`; the error says why not. Recursion follows the
/// nesting of the value and of the schema. Values after an interruption fit.
pub(crate) fn fits(
    schema: &'static Schema,
    shape: &Shape,
    value: &Value<'_>,
    go: &dyn Fn() -> String,
    progress: &Progress<'_>,
) -> Result<(), Box<ConvertError>> {
    match (shape, value) {
        (_, Value::Null) => Ok(()),
        (Shape::Struct(id), Value::Object(object)) => structure(schema, *id, object, progress),
        (Shape::List(element), Value::Array(elements)) => {
            let go = || element.go_type(schema);
            let mut elements = elements.iter().take_while(|_| progress.nodes(1));
            elements.try_for_each(|item| fits(schema, element, item, &go, progress))
        }
        (Shape::Map(of), Value::Object(object)) => {
            let go = || of.go_type(schema);
            let mut members = object.iter().take_while(|_| progress.nodes(1));
            members.try_for_each(|(_, item)| fits(schema, of, item, &go, progress))
        }
        (Shape::Struct(_), other) => Err(ConvertError::Struct(kind(other)).into()),
        (Shape::List(_), other) => Err(ConvertError::Slice(kind(other)).into()),
        (Shape::Map(_), other) => Err(ConvertError::Map(kind(other)).into()),
        (Shape::Scalar(of), value) => scalar_fits(*of, value, go),
    }
}

fn scalar_fits(of: Scalar, value: &Value<'_>, go: &dyn Fn() -> String) -> Result<(), Box<ConvertError>> {
    // A method of a type that reads JSON is given what Go writes: a whole number without its fraction.
    let written = match value {
        Value::Float(_) => &value.rewritten(""),
        value => value,
    };
    if let Some(fault) = scalar::fault(of, written) {
        return Err(ConvertError::Content(fault.error(written)).into());
    }
    match (of, value) {
        (Scalar::Bool, Value::Bool(_))
        | (Scalar::String, Value::String(_))
        | (Scalar::Float | Scalar::Int32 | Scalar::Int64, Value::Int(_))
        | (Scalar::Float, Value::Float(_)) => Ok(()),
        (Scalar::Int32 | Scalar::Int64, Value::Float(number)) if *number == number.trunc() => Ok(()),
        (Scalar::Bytes, Value::String(text)) => match base64::decode(text).err() {
            None => Ok(()),
            Some(at) => Err(ConvertError::Base64(at).into()),
        },
        (Scalar::Bytes, other) => Err(ConvertError::Slice(kind(other)).into()),
        // Go converts numbers among each other and, were it not stopped, integers to texts.
        (Scalar::Int32 | Scalar::Int64, Value::Float(_)) | (Scalar::String, Value::Int(_)) => {
            let (from, to) = (kind(value), go());
            Err(ConvertError::Kind { from, to }.into())
        }
        (Scalar::Bool, _) => Err(ConvertError::Scalar("bool").into()),
        (Scalar::String, _) => Err(ConvertError::Scalar("string").into()),
        (Scalar::Float, _) => Err(ConvertError::Scalar("float64").into()),
        (Scalar::Int32, _) => Err(ConvertError::Scalar("int32").into()),
        (Scalar::Int64, _) => Err(ConvertError::Scalar("int64").into()),
        _ => Ok(()),
    }
}

/// Go's name of the kind of a value.
fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) | Value::NilArray => "slice",
        Value::Object(_) => "map",
    }
}
