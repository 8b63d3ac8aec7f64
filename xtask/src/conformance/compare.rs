//! Comparing JSON where an absent field means "none".

use serde_json::Value;

/// Whether two values are the same; members that are null, empty or zero count as absent on both sides.
pub(super) fn same(expected: Option<&Value>, actual: Option<&Value>) -> bool {
    match (expected, actual) {
        (None, None) => true,
        (Some(one), None) | (None, Some(one)) => is_empty(one),
        (Some(expected), Some(actual)) => expected == actual || (is_empty(expected) && is_empty(actual)),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(elements) => elements.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}
