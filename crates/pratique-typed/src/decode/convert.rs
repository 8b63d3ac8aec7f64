//! Conversion of plain data into a built-in type: unknown fields are left out, and the first fault ends it.

use pratique_json::{Object, Progress, Value, base64};
use pratique_schema::{Scalar, Schema, Shape, TypeId};

use super::{DecodeError, scalar};

/// Converts an object into a type.
///
/// # Errors
/// The message of an API server about what cannot be converted, or the conversion was interrupted.
pub fn convert(of: TypeId, object: &Object<'_>, progress: &Progress<'_>) -> Result<(), DecodeError> {
    let converted = structure(of, object, progress);
    progress.outcome()?;
    converted.map_err(DecodeError::Invalid)
}

fn structure(of: TypeId, object: &Object<'_>, progress: &Progress<'_>) -> Result<(), String> {
    if !progress.nodes(object.len()) {
        return Ok(());
    }
    let schema = Schema::builtin();
    let of = schema.get(of);
    let mut walk = of.fields.walk();
    for (name, value) in object.iter() {
        if let Some(field) = walk.field(name) {
            fits(&field.shape, value, &|| field.go_type(schema), progress)?;
        }
    }
    Ok(())
}

/// Whether a value can be converted into a type, which Go calls `go`; the error says why not. Recursion follows the
/// nesting of the value and of the schema. What it is interrupted at passes.
pub(crate) fn fits(
    shape: &Shape,
    value: &Value<'_>,
    go: &dyn Fn() -> String,
    progress: &Progress<'_>,
) -> Result<(), String> {
    match (shape, value) {
        (_, Value::Null) => Ok(()),
        (Shape::Struct(id), Value::Object(object)) => structure(*id, object, progress),
        (Shape::List(element), Value::Array(elements)) => {
            let go = || element.go_type(Schema::builtin());
            let mut elements = elements.iter().take_while(|_| progress.nodes(1));
            elements.try_for_each(|item| fits(element, item, &go, progress))
        }
        (Shape::Map(of), Value::Object(object)) => {
            let go = || of.go_type(Schema::builtin());
            let mut members = object.iter().take_while(|_| progress.nodes(1));
            members.try_for_each(|(_, item)| fits(of, item, &go, progress))
        }
        (Shape::Struct(_), other) => Err(format!("cannot restore struct from: {}", kind(other))),
        (Shape::List(_), other) => Err(format!("cannot restore slice from {}", kind(other))),
        (Shape::Map(_), other) => Err(format!("cannot restore map from {}", kind(other))),
        (Shape::Scalar(of), value) => scalar_fits(*of, value, go),
    }
}

fn scalar_fits(of: Scalar, value: &Value<'_>, go: &dyn Fn() -> String) -> Result<(), String> {
    if let Some(fault) = scalar::fault(of, value) {
        return Err(fault.message(value));
    }
    match (of, value) {
        (Scalar::Bool, Value::Bool(_))
        | (Scalar::String, Value::String(_))
        | (Scalar::Float | Scalar::Int32 | Scalar::Int64, Value::Int(_))
        | (Scalar::Float, Value::Float(_)) => Ok(()),
        (Scalar::Int32 | Scalar::Int64, Value::Float(number)) if *number == number.trunc() => Ok(()),
        (Scalar::Bytes, Value::String(text)) => match base64::decode(text).err() {
            None => Ok(()),
            Some(at) => Err(format!(
                "error decoding from json: illegal base64 data at input byte {at}"
            )),
        },
        (Scalar::Bytes, other) => Err(format!("cannot restore slice from {}", kind(other))),
        // Go converts numbers among each other and, were it not stopped, integers to texts.
        (Scalar::Int32 | Scalar::Int64, Value::Float(_)) | (Scalar::String, Value::Int(_)) => {
            Err(format!("cannot convert {} to {}", kind(value), go()))
        }
        (Scalar::Bool, _) => Err("unrecognized type: bool".to_owned()),
        (Scalar::String, _) => Err("unrecognized type: string".to_owned()),
        (Scalar::Float, _) => Err("unrecognized type: float64".to_owned()),
        (Scalar::Int32, _) => Err("unrecognized type: int32".to_owned()),
        (Scalar::Int64, _) => Err("unrecognized type: int64".to_owned()),
        _ => Ok(()),
    }
}

/// What Go calls the kind of a value.
fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Float(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}
