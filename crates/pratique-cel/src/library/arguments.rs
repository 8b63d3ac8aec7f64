//! Arguments of a call, as the type that a function expects.
//!
//! Calls reach an implementation with arguments of the declared types. Should one not be, the call has no overload.

use crate::error::Fault;
use crate::value::{List, Opaque, Value};

/// The string at a position.
pub fn string<'a>(arguments: &[Value<'a>], index: usize) -> Result<&'a str, Fault> {
    match arguments.get(index) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(Fault::no_such_overload()),
    }
}

/// The integer at a position.
pub fn int(arguments: &[Value<'_>], index: usize) -> Result<i64, Fault> {
    match arguments.get(index) {
        Some(Value::Int(number)) => Ok(*number),
        _ => Err(Fault::no_such_overload()),
    }
}

/// The optional limit at a position; negative, as it is by default, for no limit.
pub(super) fn limit(arguments: &[Value<'_>], index: usize) -> Result<i64, Fault> {
    if arguments.len() > index {
        int(arguments, index)
    } else {
        Ok(-1)
    }
}

/// The list at a position.
pub fn list<'a>(arguments: &[Value<'a>], index: usize) -> Result<List<'a>, Fault> {
    match arguments.get(index) {
        Some(Value::List(list)) => Ok(*list),
        _ => Err(Fault::no_such_overload()),
    }
}

/// The boolean at a position.
pub fn bool(arguments: &[Value<'_>], index: usize) -> Result<bool, Fault> {
    match arguments.get(index) {
        Some(Value::Bool(flag)) => Ok(*flag),
        _ => Err(Fault::no_such_overload()),
    }
}

/// The value of an abstract type at a position.
pub fn opaque<'a, T: Opaque>(arguments: &[Value<'a>], index: usize) -> Result<&'a T, Fault> {
    arguments
        .get(index)
        .and_then(Value::downcast)
        .ok_or_else(Fault::no_such_overload)
}

/// Whether two values of one abstract type are equal; an error where the other value is of another type.
pub(super) fn equal_opaque<T: Opaque + PartialEq>(value: &T, other: &Value<'_>) -> Result<bool, Fault> {
    let other: &T = other.downcast().ok_or_else(Fault::no_such_overload)?;
    Ok(value == other)
}
