//! Scalars in fields of protocol buffers, which take no other type, not even one that would fit.

use super::dynamic::{FieldPlace, unfit};
use crate::error::Fault;
use crate::value::{Evaluation, Value};

/// The value that a field of a scalar type gets from a value of any type; `wanted` is the reference's name of the type.
pub(super) fn scalar<'a>(place: FieldPlace<'_>, wanted: &str, value: &Value<'a>) -> Evaluation<'a> {
    let overflow = |problem: &str| Err(unfit(place, problem));
    match (wanted, value) {
        ("int32", Value::Int(number)) if i32::try_from(*number).is_err() => overflow("integer overflow"),
        ("uint32", Value::Uint(number)) if u32::try_from(*number).is_err() => {
            overflow("unsigned integer overflow")
        }
        ("float32", Value::Double(number)) => Ok(Value::Double(f64::from(*number as f32))),
        ("bool", Value::Bool(_))
        | ("int32" | "int64", Value::Int(_))
        | ("uint32" | "uint64", Value::Uint(_))
        | ("float64", Value::Double(_))
        | ("string", Value::String(_))
        | ("[]uint8", Value::Bytes(_)) => Ok(*value),
        (wanted, Value::Optional(Some(inner))) => scalar(place, wanted, inner),
        (wanted, other) => Err(refusal(place, wanted, other)),
    }
}

#[cold]
fn refusal(place: FieldPlace<'_>, wanted: &str, value: &Value<'_>) -> Fault {
    unfit(place, &no_conversion(wanted, value))
}

/// The reference's message for a value that has no form in a Go type.
pub(super) fn no_conversion(wanted: &str, value: &Value<'_>) -> String {
    let from = match value {
        Value::Int(_) => return format!("unsupported type conversion from 'int' to {wanted}"),
        Value::Uint(_) => return format!("unsupported type conversion from 'uint' to {wanted}"),
        Value::String(_) => return format!("unsupported native conversion from string to '{wanted}'"),
        Value::Type(_) => return "type conversion not supported for 'type'".to_owned(),
        Value::Optional(None) => return "optional.none() dereference".to_owned(),
        Value::Optional(Some(inner)) => return no_conversion(wanted, inner),
        Value::Bool(_) => "bool",
        Value::Double(_) => "Double",
        Value::Bytes(_) => "Bytes",
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::Null => "'null_type'",
        Value::Timestamp(_) => "'Timestamp'",
        Value::Duration(_) => "'Duration'",
        Value::Struct(patch) if patch.type_name() == "JSONPatch" => {
            return format!("cannot convert to native type: {wanted}");
        }
        Value::Struct(_) => return format!("unable to convert to {wanted}"),
        Value::Opaque(opaque) => match opaque.type_name() {
            "kubernetes.Quantity" => "'Quantity'",
            "net.IP" => "'IP'",
            "net.CIDR" => "'CIDR'",
            "kubernetes.URL" => "'URL'",
            "kubernetes.Semver" => "'Semver'",
            "kubernetes.NamedFormat" => "'Format'",
            other => return format!("type conversion error from '{other}' to '{wanted}'"),
        },
    };
    format!("type conversion error from {from} to '{wanted}'")
}
