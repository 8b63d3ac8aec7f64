//! What clauses do with values.

use std::fmt::Write;

use pratique_gotext::strconv::{general_form, parse_float};

use super::clause::Clause;
use super::error::ArgumentError;
use super::{english, nested};
use crate::time::{Duration, Timestamp};

/// A value that can be formatted.
pub(crate) trait Argument: Sized {
    /// What it is.
    fn shape(&self) -> Shape<'_, Self>;

    /// The name of its type, for messages.
    fn type_name(&self) -> &str;

    /// Counts so many bytes that were written of it and are moved. `false` ends the formatting, with whatever error.
    fn moves(&self, bytes: usize) -> bool {
        let _ = bytes;
        true
    }
}

/// What a value is, as far as formatting distinguishes.
#[derive(Debug)]
pub(crate) enum Shape<'v, A> {
    /// `null`
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A floating-point number.
    Double(f64),
    /// A string.
    String(&'v str),
    /// A sequence of bytes.
    Bytes(&'v [u8]),
    /// A point in time.
    Timestamp(Timestamp),
    /// A span of time.
    Duration(Duration),
    /// A type, by its name.
    Type(&'v str),
    /// The elements of a list.
    List(Vec<A>),
    /// The entries of a map.
    Map(Vec<(A, A)>),
    /// Anything else, which cannot be formatted.
    Other,
}

/// Writes an argument as its clause asks.
pub(super) fn write<A: Argument>(
    out: &mut String,
    clause: Clause,
    argument: &A,
) -> Result<(), ArgumentError> {
    let refuse = || Err(ArgumentError::mismatch(clause, argument.type_name()));
    match clause {
        Clause::String => write_string(out, argument, 0),
        Clause::Decimal => match argument.shape() {
            Shape::Int(value) => push(out, format_args!("{value}")),
            Shape::Uint(value) => push(out, format_args!("{value}")),
            _ => refuse(),
        },
        Clause::Fixed(precision) => match double(argument) {
            Some(value) => push(out, format_args!("{}", english::fixed(value, precision))),
            None => refuse(),
        },
        Clause::Scientific(precision) => match double(argument) {
            Some(value) => push(out, format_args!("{}", english::scientific(value, precision))),
            None => refuse(),
        },
        Clause::Binary => match argument.shape() {
            Shape::Bool(value) => push(out, format_args!("{}", u8::from(value))),
            shape => write_magnitude(out, shape, |value| format!("{value:b}")).unwrap_or_else(refuse),
        },
        Clause::Octal => {
            write_magnitude(out, argument.shape(), |value| format!("{value:o}")).unwrap_or_else(refuse)
        }
        Clause::Hex { upper } => write_hex(out, argument.shape(), upper).unwrap_or_else(refuse),
    }
}

/// Writes a value as `%s` does at the top.
pub(super) fn write_string<A: Argument>(
    out: &mut String,
    argument: &A,
    depth: usize,
) -> Result<(), ArgumentError> {
    match argument.shape() {
        Shape::Null => push(out, format_args!("null")),
        Shape::Bool(value) => push(out, format_args!("{value}")),
        Shape::Int(value) => push(out, format_args!("{value}")),
        Shape::Uint(value) => push(out, format_args!("{value}")),
        Shape::Double(value) => push(out, format_args!("{}", general_form(value))),
        Shape::String(value) | Shape::Type(value) => push(out, format_args!("{value}")),
        Shape::Bytes(value) => push(out, format_args!("{}", utf8(value)?)),
        Shape::Timestamp(value) => push(out, format_args!("{value}")),
        Shape::Duration(value) => push(out, format_args!("{value}")),
        Shape::List(elements) => nested::write_list(out, &elements, depth),
        Shape::Map(entries) => nested::write_map(out, &entries, depth),
        Shape::Other => Err(ArgumentError::mismatch(Clause::String, argument.type_name())),
    }
}

/// Bytes as a string.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, ArgumentError> {
    std::str::from_utf8(bytes).map_err(|_| ArgumentError::InvalidUtf8)
}

/// Appends to a string.
pub(super) fn push(out: &mut String, text: std::fmt::Arguments<'_>) -> Result<(), ArgumentError> {
    // Writing to a string does not fail.
    let _ = out.write_fmt(text);
    Ok(())
}

/// A double, or the name of one that has no literal.
fn double<A: Argument>(argument: &A) -> Option<f64> {
    match argument.shape() {
        Shape::Double(value) => Some(value),
        Shape::String(name @ ("NaN" | "Infinity" | "-Infinity")) => parse_float(name).ok(),
        _ => None,
    }
}

/// Writes an integer's sign and its magnitude; `None` for what is no integer.
fn write_magnitude<A>(
    out: &mut String,
    shape: Shape<'_, A>,
    digits: fn(u64) -> String,
) -> Option<Result<(), ArgumentError>> {
    let (negative, magnitude) = match shape {
        Shape::Int(value) => (value < 0, value.unsigned_abs()),
        Shape::Uint(value) => (false, value),
        _ => return None,
    };
    if negative {
        out.push('-');
    }
    out.push_str(&digits(magnitude));
    Some(Ok(()))
}

fn write_hex<A>(out: &mut String, shape: Shape<'_, A>, upper: bool) -> Option<Result<(), ArgumentError>> {
    let bytes = match &shape {
        Shape::String(text) => text.as_bytes(),
        Shape::Bytes(bytes) => bytes,
        _ if upper => return write_magnitude(out, shape, |value| format!("{value:X}")),
        _ => return write_magnitude(out, shape, |value| format!("{value:x}")),
    };
    Some(bytes.iter().try_for_each(|byte| match upper {
        true => push(out, format_args!("{byte:02X}")),
        false => push(out, format_args!("{byte:02x}")),
    }))
}
