//! Scalars that read themselves: their faults end the reading at once.

use pratique_cel::quantity::Quantity;
use pratique_json::Value;
use pratique_schema::Scalar;

use super::time;

/// What Go says of a value that such a scalar cannot be; `None` where it can, and for other scalars.
pub(super) fn fault(scalar: Scalar, value: &Value<'_>) -> Option<String> {
    match scalar {
        Scalar::Quantity => match value {
            Value::Null => None,
            Value::String(text) if Quantity::parse(text.trim()).is_ok() => None,
            Value::Int(_) | Value::Float(_) if Quantity::parse(&value.to_string()).is_ok() => None,
            _ => Some(NO_QUANTITY.to_owned()),
        },
        Scalar::IntOrString => match value {
            Value::Null | Value::String(_) => None,
            Value::Int(number) if i32::try_from(*number).is_ok() => None,
            _ => Some(of_type(value, "int32")),
        },
        Scalar::Time | Scalar::MicroTime => text_of(value).and_then(time::fault_of),
        Scalar::Duration => text_of(value).and_then(time::duration_fault_of),
        _ => None,
    }
}

const NO_QUANTITY: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// `json: cannot unmarshal number 1.5 into Go value of type int32`
pub(super) fn of_type(value: &Value<'_>, go: &str) -> String {
    format!(
        "json: cannot unmarshal {} into Go value of type {go}",
        kind_of(value, go)
    )
}

/// What a value is, as Go says it. A number that is one of the wrong kind is shown.
pub(super) fn kind_of(value: &Value<'_>, go: &str) -> String {
    let integer = matches!(go, "int32" | "int64" | "uint8");
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Int(_) | Value::Float(_) if integer => format!("number {value}"),
        Value::Int(_) | Value::Float(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    }
}

/// The text of a value that has to be one; `None` for null.
fn text_of<'v>(value: &'v Value<'_>) -> Option<Result<&'v str, String>> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(Ok(text)),
        other => Some(Err(of_type(other, "string"))),
    }
}
