//! Calls that most expressions are made of, on the values that they mostly get.
//!
//! Such a call needs no arguments in a row, no code behind a pointer and no cost function. What these lines do not
//! know is left to the function itself, so they add no meaning.

use crate::function::Quick;
use crate::ops;
use crate::value::{Map, Value};

/// The answer of a test, and what it costs.
pub(super) type Answer = (bool, u64);

/// The answer of a test of two plain values.
#[inline]
pub(super) fn test(quick: Quick, left: &Value<'_>, right: &Value<'_>) -> Option<Answer> {
    match (quick, left, right) {
        (Quick::StartsWith, Value::String(text), Value::String(part)) => {
            Some((text.starts_with(part), of_reading(right)))
        }
        (Quick::EndsWith, Value::String(text), Value::String(part)) => {
            Some((text.ends_with(part), of_reading(right)))
        }
        (Quick::Contains, Value::String(text), Value::String(part)) => {
            Some((text.contains(part), of_reading(left) * of_reading(right)))
        }
        (Quick::Less, Value::Int(left), Value::Int(right)) => Some((left < right, 1)),
        (Quick::LessOrEqual, Value::Int(left), Value::Int(right)) => Some((left <= right, 1)),
        (Quick::Greater, Value::Int(left), Value::Int(right)) => Some((left > right, 1)),
        (Quick::GreaterOrEqual, Value::Int(left), Value::Int(right)) => Some((left >= right, 1)),
        (Quick::In, Value::String(key), Value::Map(Map::Json(object) | Map::Typed(object))) => {
            Some((object.get(key).is_some(), 1))
        }
        _ => None,
    }
}

/// Whether two scalars of one type are equal.
#[inline]
pub(super) fn equal(left: &Value<'_>, right: &Value<'_>) -> Option<Answer> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => {
            // As many bytes as this are at most ten characters, and at least one.
            match left.len().min(right.len()) {
                1..=10 => Some((left == right, 1)),
                _ => None,
            }
        }
        (Value::Bool(left), Value::Bool(right)) => Some((left == right, 1)),
        (Value::Int(left), Value::Int(right)) => Some((left == right, 1)),
        _ => None,
    }
}

fn of_reading(text: &Value<'_>) -> u64 {
    ops::cost_of_traversal(ops::cost_size(text))
}
