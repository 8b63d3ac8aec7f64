//! Scalars that read themselves: their faults end the reading at once.

use std::fmt::{self, Display, Formatter};

use pratique_gotext::json::UnmarshalTypeError;
use pratique_gotext::quantity::Quantity;
use pratique_gotext::time::{Duration, Layout, parse};
use pratique_json::Value;
use pratique_schema::Scalar;

use crate::settled::is_canonical_quantity;

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is of the wrong type.
    Type {
        /// What it is, as Go says it.
        what: String,
        /// The type that Go wants.
        go: &'static str,
    },
    /// Anything else.
    Other(String),
}

/// What Go says of a value that such a scalar cannot be; `None` where it can, and for other scalars.
pub(super) fn fault(scalar: Scalar, value: &Value<'_>) -> Option<Fault> {
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
            _ => Some(Fault::of_type(value, "int32")),
        },
        Scalar::Time => text(value, |text| said(parse(text, Layout::Rfc3339))),
        Scalar::MicroTime => text(value, |text| said(parse(text, Layout::Rfc3339Micro))),
        Scalar::Duration => text(value, |text| said(Duration::parse(text))),
        _ => None,
    }
}

/// Why a text is no quantity.
pub(super) fn quantity_fault(text: &str) -> Option<Fault> {
    let error = Quantity::parse(text).err()?;
    Some(Fault::Other(error.to_string()))
}

/// What an error says.
fn said<T>(read: Result<T, impl Display>) -> Option<String> {
    read.err().map(|error| error.to_string())
}

/// What is wrong with a value that has to be a text of some form.
fn text(value: &Value<'_>, fault: fn(&str) -> Option<String>) -> Option<Fault> {
    match value {
        Value::Null => None,
        Value::String(text) => fault(text).map(Fault::Other),
        other => Some(Fault::of_type(other, "string")),
    }
}

impl Fault {
    fn of_type(value: &Value<'_>, go: &'static str) -> Self {
        Fault::Type {
            what: value.kind_for(go),
            go,
        }
    }
}

impl Display for Fault {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Type { what, go } => UnmarshalTypeError::of_value(what, go).fmt(formatter),
            Fault::Other(text) => formatter.write_str(text),
        }
    }
}
