//! Lists and maps in a formatted text: their members look like CEL literals.

use pratique_gotext::strconv::{plain_form, quote};

use super::argument::{Argument, Shape, push, utf8, write_string};
use super::error::{ArgumentError, MAX_DEPTH};

/// Digits after the point of a double in a list or map.
const PRECISION: usize = 6;

pub(super) fn write_list<A: Argument>(
    out: &mut String,
    elements: &[A],
    depth: usize,
) -> Result<(), ArgumentError> {
    out.push('[');
    for (index, element) in elements.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write_member(out, element, depth)?;
    }
    out.push(']');
    Ok(())
}

/// Writes the entries sorted by the text of their keys.
pub(super) fn write_map<A: Argument>(
    out: &mut String,
    entries: &[(A, A)],
    depth: usize,
) -> Result<(), ArgumentError> {
    let mut written = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        let (key, mut text) = (key_text(key)?, String::new());
        write_member(&mut text, value, depth)?;
        if !value.moves(text.len()) {
            return Err(ArgumentError::Stopped);
        }
        written.push((key, text));
    }
    written.sort_by(|(one, _), (other, _)| one.cmp(other));
    out.push('{');
    for (index, (key, value)) in written.iter().enumerate() {
        let separator = if index > 0 { ", " } else { "" };
        push(out, format_args!("{separator}{key}:{value}"))?;
    }
    out.push('}');
    Ok(())
}

fn key_text<A: Argument>(key: &A) -> Result<String, ArgumentError> {
    match key.shape() {
        Shape::String(text) => Ok(quote(text)),
        Shape::Bool(value) => Ok(value.to_string()),
        Shape::Int(value) => Ok(value.to_string()),
        Shape::Uint(value) => Ok(value.to_string()),
        _ => Err(ArgumentError::Key(key.type_name().into())),
    }
}

fn write_member<A: Argument>(out: &mut String, member: &A, depth: usize) -> Result<(), ArgumentError> {
    if depth >= MAX_DEPTH {
        return Err(ArgumentError::TooDeep);
    }
    match member.shape() {
        Shape::String(text) => push(out, format_args!("{}", quote(text))),
        Shape::Bytes(bytes) => push(out, format_args!("b{}", quote(utf8(bytes)?))),
        Shape::Double(value) if value.is_finite() => {
            push(out, format_args!("{}", plain_form(value, Some(PRECISION))))
        }
        Shape::Double(value) => push(out, format_args!("\"{}\"", plain_form(value, None))),
        Shape::Timestamp(value) => push(out, format_args!("timestamp({})", quote(&value.to_string()))),
        Shape::Duration(value) => push(out, format_args!("duration({})", quote(&value.to_string()))),
        Shape::Other => Err(ArgumentError::Member(member.type_name().into())),
        _ => write_string(out, member, depth + 1),
    }
}
