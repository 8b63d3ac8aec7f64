//! Scalars that Go decodes with methods of their own, whose errors end the decoding.

use std::fmt::Display;

use pratique_gotext::quantity::Quantity;
use pratique_gotext::time::{Duration, TimeLayout, parse};
use pratique_json::Value;
use pratique_schema::Scalar;

use super::value_error::ValueError;
use crate::settled_form::is_canonical_quantity;

/// Why a value is not such a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ScalarFault {
    /// It is not of this Go type.
    Type(&'static str),
    /// It is of the right type, and this is the message about its content.
    Content(String),
}

/// Why a value cannot be decoded into such a scalar; `None` where it can, and for other scalars.
pub(super) fn fault(scalar: Scalar, value: &Value<'_>) -> Option<ScalarFault> {
    match scalar {
        Scalar::Quantity => match value {
            Value::Null => None,
            Value::String(text) if is_canonical_quantity(text.as_bytes()) => None,
            Value::String(text) => quantity_fault(text.trim()),
            other => quantity_fault(&other.to_string()),
        },
        Scalar::IntOrString => match value {
            Value::Null | Value::String(_) => None,
            Value::Int(number) if i32::try_from(*number).is_ok() => None,
            _ => Some(ScalarFault::Type("int32")),
        },
        Scalar::Time => check_text(value, |text| error_text(parse(text, TimeLayout::Rfc3339))),
        Scalar::MicroTime => check_text(value, |text| error_text(parse(text, TimeLayout::Rfc3339Micro))),
        Scalar::Duration => check_text(value, |text| error_text(Duration::parse(text))),
        _ => None,
    }
}

/// Whether a value has the JSON type of a scalar that Go decodes without a method of its own; true for all
/// others.
pub(super) fn has_json_type(scalar: Scalar, value: &Value<'_>) -> bool {
    match scalar {
        Scalar::Bool => matches!(value, Value::Bool(_)),
        Scalar::String => matches!(value, Value::String(_)),
        Scalar::Int32 => matches!(value, Value::Int(number) if i32::try_from(*number).is_ok()),
        Scalar::Int64 => matches!(value, Value::Int(_)),
        Scalar::Float => matches!(value, Value::Int(_) | Value::Float(_)),
        _ => true,
    }
}

/// Why a text is not a quantity.
pub(super) fn quantity_fault(text: &str) -> Option<ScalarFault> {
    let error = Quantity::parse(text).err()?;
    Some(ScalarFault::Content(error.to_string()))
}

/// The message of an error.
fn error_text<T>(read: Result<T, impl Display>) -> Option<String> {
    read.err().map(|error| error.to_string())
}

/// Why a value is not a text of some form.
fn check_text(value: &Value<'_>, fault: fn(&str) -> Option<String>) -> Option<ScalarFault> {
    match value {
        Value::Null => None,
        Value::String(text) => fault(text).map(ScalarFault::Content),
        _ => Some(ScalarFault::Type("string")),
    }
}

impl ScalarFault {
    /// The error of a value that stands by itself.
    pub(super) fn error(self, value: &Value<'_>) -> ValueError {
        match self {
            ScalarFault::Type(go_type) => ValueError::of_type(value.kind_for(go_type), go_type.to_owned()),
            ScalarFault::Content(message) => ValueError::Content(message),
        }
    }
}
