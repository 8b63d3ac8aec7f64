//! The comparison of `test` operations.

use pratique_json::Value;

use super::node::PatchNode;

/// Whether an existing value passes a test. The null of an expression equals every empty value.
pub(super) fn passes(actual: &PatchNode<'_>, expected: &Value<'_>) -> bool {
    match (actual, expected) {
        (PatchNode::Nothing, Value::Null) => true,
        (PatchNode::Plain(Value::Object(members)), Value::Null) => members.is_empty(),
        (PatchNode::Plain(Value::Array(elements)), Value::Null) => elements.is_empty(),
        (PatchNode::Object(members), Value::Null) => members.len() == 0,
        (PatchNode::Array(elements), Value::Null) => elements.len() == 0,
        (PatchNode::Plain(_), Value::Null) => false,
        _ => equal(actual, expected),
    }
}

fn equal(actual: &PatchNode<'_>, expected: &Value<'_>) -> bool {
    match (actual, expected) {
        (PatchNode::Plain(actual), expected) => values_equal(actual, expected),
        (PatchNode::Nothing, Value::Object(expected)) => expected.is_empty(),
        (PatchNode::Array(actual), Value::Array(expected)) => {
            actual.len() == expected.len() && actual.iter().zip(expected).all(|(a, b)| equal(a, b))
        }
        (PatchNode::Object(actual), Value::Object(expected)) => {
            // Both are in the order of their keys.
            let mut members = actual.iter().zip(expected.iter());
            actual.len() == expected.len()
                && members.all(|((key, actual), (other, expected))| key == other && equal(actual, expected))
        }
        _ => false,
    }
}

/// Equality as the reference sees it: of numbers by their text. A number of a document was written by the
/// server, which writes a whole number without fraction; so a `3.0` that a patch spells out equals nothing.
fn values_equal(actual: &Value<'_>, expected: &Value<'_>) -> bool {
    match (actual, expected) {
        (Value::Float(_), Value::Float(number)) if number.fract() == 0.0 && number.abs() < 1e15 => false,
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            actual.to_string() == expected.to_string()
                && !matches!((actual, expected), (Value::Int(_), Value::Float(_)))
        }
        (Value::Array(actual), Value::Array(expected)) => {
            actual.len() == expected.len() && actual.iter().zip(expected).all(|(a, b)| values_equal(a, b))
        }
        (Value::Object(actual), Value::Object(expected)) => {
            let mut members = actual.iter().zip(expected.iter());
            actual.len() == expected.len()
                && members
                    .all(|((key, actual), (other, expected))| key == other && values_equal(actual, expected))
        }
        _ => actual == expected,
    }
}
