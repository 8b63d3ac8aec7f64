//! Sizes: as CEL's `size()` gives them, and as costs count them.

use crate::value::Value;

/// The size of a string in characters, of bytes, of a list or map; `None` for other values.
pub(crate) fn size(value: &Value<'_>) -> Option<usize> {
    Some(match value {
        Value::String(text) => characters(text),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => return None,
    })
}

/// The size of a value that costs are computed from: for an optional that of its content, 1 for values without a size.
pub(crate) fn cost_size(value: &Value<'_>) -> u64 {
    match value {
        Value::Opaque(value) => value.size().unwrap_or(1),
        Value::Struct(value) => value.size(),
        Value::Optional(Some(value)) => cost_size(value),
        value => size(value).map_or(1, |size| size as u64),
    }
}

/// The cost of going through so many characters, bytes or elements once.
#[inline]
pub fn cost_of_traversal(size: u64) -> u64 {
    /// Below this the rounded up tenth of a size is the same for integers and doubles.
    const EXACT: u64 = 1 << 48;
    match size {
        0..EXACT => size.div_ceil(10),
        _ => (size as f64 * 0.1).ceil() as u64,
    }
}

/// The cost of `==` or `!=`: that of going through the smaller operand. An operand that is an error counts 1.
#[inline(always)]
pub(crate) fn cost_of_equality(left: Option<&Value<'_>>, right: Option<&Value<'_>>, negated: bool) -> u64 {
    match (left, right) {
        (Some(Value::String(left)), Some(Value::String(right))) => cost_of_equal_strings(left, right),
        (Some(Value::Int(_)), Some(Value::Int(_))) | (Some(Value::Bool(_)), Some(Value::Bool(_))) => 1,
        (Some(Value::Opaque(_)), _) if !negated => 1,
        (left, right) => cost_of_smaller(left, right),
    }
}

fn cost_of_smaller(left: Option<&Value<'_>>, right: Option<&Value<'_>>) -> u64 {
    let size = |value: Option<&Value<'_>>| value.map_or(1, cost_size);
    match size(left).min(size(right)) {
        1 => 1,
        smaller => cost_of_traversal(smaller),
    }
}

/// The cost of `==` or `!=` of two strings.
#[inline]
fn cost_of_equal_strings(left: &str, right: &str) -> u64 {
    // Up to ten bytes are at most ten characters, and at least one.
    match left.len().min(right.len()) {
        0 => 0,
        1..=10 => 1,
        _ => cost_of_traversal(characters(left).min(characters(right)) as u64),
    }
}

/// The cost of going through a string once.
#[inline]
pub(crate) fn cost_of_string(text: &str) -> u64 {
    // Up to ten bytes are at most ten characters, and at least one.
    match text.len() {
        0 => 0,
        1..=10 => 1,
        _ => cost_of_traversal(characters(text) as u64),
    }
}

/// The cost of matching a string with a regular expression, by their sizes: each four characters of a pattern are taken
/// for one of its parts, each of which goes through the string.
#[inline]
pub(crate) fn cost_of_match(text: u64, pattern: u64) -> u64 {
    cost_of_traversal(text + 1) * pattern.div_ceil(4)
}

/// The number of characters.
pub(crate) fn characters(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.chars().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_costs_a_tenth_of_the_smaller_operand() {
        let check = |left: &str, right: &str, expected: u64| {
            let (left, right) = (Value::String(left), Value::String(right));
            assert_eq!(
                cost_of_equality(Some(&left), Some(&right), false),
                expected,
                "{left:?} {right:?}"
            );
        };
        check("", "a", 0);
        check("a", "ab", 1);
        check("0123456789", "0123456789abc", 1);
        check("0123456789a", "0123456789abc", 2);
        check("ßßßßßßßßßß", "0123456789abc", 1);
        assert_eq!(cost_of_equality(None, Some(&Value::String("")), false), 0);
        assert_eq!(
            cost_of_equality(Some(&Value::Int(3)), Some(&Value::Null), true),
            1
        );
    }
}
