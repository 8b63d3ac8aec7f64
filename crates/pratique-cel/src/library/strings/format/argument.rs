//! The formatting of values by clauses.

use pratique_gotext::hex::encode_to_string;
use pratique_gotext::strconv::{general_form, parse_float};

use super::nested_values;
use crate::context::Context;
use crate::error::Fault;
use crate::text::format::{ArgumentError, FormatClause, english};
use crate::value::Value;

/// Why a value is not written.
#[derive(Debug, thiserror::Error)]
pub(super) enum FormatRefusal {
    /// It does not fit its clause.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The evaluation was stopped.
    #[error(transparent)]
    Stopped(#[from] Fault),
}

/// Writes an argument as its clause asks.
pub(super) fn write(
    context: &Context<'_>,
    out: &mut String,
    clause: FormatClause,
    value: &Value<'_>,
) -> Result<(), FormatRefusal> {
    count(context, value)?;
    let text = match clause {
        FormatClause::String => return write_string(context, out, value, 0),
        FormatClause::Decimal => integer(value, |magnitude| magnitude.to_string()),
        FormatClause::Fixed(precision) => double(value).map(|value| english::fixed(value, precision)),
        FormatClause::Scientific(precision) => {
            double(value).map(|value| english::scientific(value, precision))
        }
        FormatClause::Binary => match value {
            Value::Bool(value) => Some(u8::from(*value).to_string()),
            value => integer(value, |magnitude| format!("{magnitude:b}")),
        },
        FormatClause::Octal => integer(value, |magnitude| format!("{magnitude:o}")),
        FormatClause::Hex { upper: false } => hexadecimal(value),
        FormatClause::Hex { upper: true } => hexadecimal(value).map(|text| text.to_ascii_uppercase()),
    };
    let text = text.ok_or_else(|| ArgumentError::mismatch(clause, value.type_name()))?;
    out.push_str(&text);
    Ok(())
}

/// Writes a value as `%s` does at the top.
pub(super) fn write_string(
    context: &Context<'_>,
    out: &mut String,
    value: &Value<'_>,
    depth: usize,
) -> Result<(), FormatRefusal> {
    let text = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => value.to_string(),
        Value::Double(value) => general_form(*value),
        Value::String(value) | Value::Type(value) => (*value).to_owned(),
        Value::Bytes(value) => utf8(value)?.to_owned(),
        Value::Timestamp(value) => value.to_string(),
        Value::Duration(value) => value.to_string(),
        Value::List(list) => return nested_values::write_list(context, out, list, depth),
        Value::Map(map) => return nested_values::write_map(context, out, map, depth),
        Value::Struct(_) | Value::Optional(_) | Value::Opaque(_) => {
            return Err(ArgumentError::mismatch(FormatClause::String, value.type_name()).into());
        }
    };
    out.push_str(&text);
    Ok(())
}

/// Accounts for the work of writing a value.
pub(super) fn count(context: &Context<'_>, value: &Value<'_>) -> Result<(), Fault> {
    /// The work of writing a value, besides its text.
    const VALUE: u64 = 50;
    let size = match value {
        Value::String(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => 0,
    };
    context.work(VALUE.saturating_add(size as u64))
}

/// Bytes as a string.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, ArgumentError> {
    std::str::from_utf8(bytes).map_err(|_| ArgumentError::InvalidUtf8)
}

/// A double, or the name of one that has no literal.
fn double(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Double(value) => Some(*value),
        Value::String(name @ ("NaN" | "Infinity" | "-Infinity")) => parse_float(name).ok(),
        _ => None,
    }
}

/// An integer's sign and its magnitude.
fn integer(value: &Value<'_>, digits: fn(u64) -> String) -> Option<String> {
    match value {
        Value::Int(number @ ..0) => Some(format!("-{}", digits(number.unsigned_abs()))),
        Value::Int(number) => Some(digits(number.unsigned_abs())),
        Value::Uint(number) => Some(digits(*number)),
        _ => None,
    }
}

fn hexadecimal(value: &Value<'_>) -> Option<String> {
    match value {
        Value::String(text) => Some(encode_to_string(text)),
        Value::Bytes(bytes) => Some(encode_to_string(bytes)),
        value => integer(value, |magnitude| format!("{magnitude:x}")),
    }
}
