//! Calls that most expressions are made of, on the values that they mostly get.
//!
//! Such a call needs no arguments in a row, no code behind a pointer and no cost function. What these lines do not
//! know is left to the function itself, so they add no meaning.

use pratique_json as json;

use crate::constant::Constant;
use crate::context::Context;
use crate::error::Fault;
use crate::function::Quick;
use crate::ops;
use crate::regex::Regex;
use crate::value::{Map, Value};

/// An operand of a test, as it lies in the input or in the program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Plain<'a> {
    Bool(bool),
    Int(i64),
    Text(&'a str),
    Object(&'a json::Object<'a>),
}

/// The answer of a test, and what it costs.
pub(super) type Answer = (bool, u64);

impl<'a> Plain<'a> {
    #[inline]
    pub(super) fn of_json(value: &'a json::Value<'a>) -> Option<Self> {
        Some(match value {
            json::Value::String(text) => Plain::Text(text),
            json::Value::Bool(value) => Plain::Bool(*value),
            json::Value::Int(number) => Plain::Int(*number),
            json::Value::Object(object) => Plain::Object(object),
            json::Value::Null | json::Value::Float(_) | json::Value::Array(_) => return None,
        })
    }

    #[inline]
    pub(super) fn of_constant(constant: &'a Constant) -> Option<Self> {
        Some(match constant {
            Constant::String(text) => Plain::Text(text),
            Constant::Bool(value) => Plain::Bool(*value),
            Constant::Int(number) => Plain::Int(*number),
            _ => return None,
        })
    }

    #[inline]
    pub(super) fn of_value(value: &Value<'a>) -> Option<Self> {
        Some(match value {
            Value::String(text) => Plain::Text(text),
            Value::Bool(value) => Plain::Bool(*value),
            Value::Int(number) => Plain::Int(*number),
            Value::Map(Map::Json(object) | Map::Typed(object)) => Plain::Object(object),
            _ => return None,
        })
    }
}

/// The answer of a test of two operands.
#[inline]
pub(super) fn test(quick: Quick, left: Plain<'_>, right: Plain<'_>) -> Option<Answer> {
    match (left, right) {
        (Plain::Text(text), Plain::Text(part)) => of_texts(quick, text, part),
        (Plain::Int(left), Plain::Int(right)) => of_numbers(quick, left, right),
        (Plain::Text(key), Plain::Object(object)) if quick == Quick::In => {
            Some((object.get(key).is_some(), 1))
        }
        _ => None,
    }
}

/// Whether two operands of one type are equal.
#[inline]
pub(super) fn equal(left: Plain<'_>, right: Plain<'_>) -> Option<Answer> {
    match (left, right) {
        (Plain::Text(left), Plain::Text(right)) => {
            Some((left == right, ops::cost_of_equal_texts(left, right)))
        }
        (Plain::Bool(left), Plain::Bool(right)) => Some((left == right, 1)),
        (Plain::Int(left), Plain::Int(right)) => Some((left == right, 1)),
        _ => None,
    }
}

/// Whether a text has a match of a pattern that counts for so many parts.
pub(super) fn matches(context: &Context<'_>, text: &str, regex: &Regex, parts: u64) -> Result<Answer, Fault> {
    let cost = ops::cost_of_traversal(ops::characters(text) as u64 + 1) * parts;
    Ok((regex.has_match(text, context)?, cost))
}

/// What a pattern counts for: each four characters for one part, which goes through the text.
pub(super) fn parts(pattern: &str) -> u64 {
    ops::characters(pattern).div_ceil(4) as u64
}

#[inline]
fn of_texts(quick: Quick, text: &str, part: &str) -> Option<Answer> {
    match quick {
        Quick::StartsWith => Some((text.starts_with(part), reading(part))),
        Quick::EndsWith => Some((text.ends_with(part), reading(part))),
        Quick::Contains => Some((contains(text, part), reading(text) * reading(part))),
        _ => None,
    }
}

#[inline]
fn of_numbers(quick: Quick, left: i64, right: i64) -> Option<Answer> {
    let holds = match quick {
        Quick::Less => left < right,
        Quick::LessOrEqual => left <= right,
        Quick::Greater => left > right,
        Quick::GreaterOrEqual => left >= right,
        _ => return None,
    };
    Some((holds, 1))
}

#[inline]
fn contains(text: &str, part: &str) -> bool {
    match part.as_bytes() {
        [byte] => memchr::memchr(*byte, text.as_bytes()).is_some(),
        _ => text.contains(part),
    }
}

/// The cost of reading a text once.
#[inline]
fn reading(text: &str) -> u64 {
    // Up to ten bytes are at most ten characters, and at least one.
    match text.len() {
        0 => 0,
        1..=10 => 1,
        _ => ops::cost_of_traversal(ops::characters(text) as u64),
    }
}
