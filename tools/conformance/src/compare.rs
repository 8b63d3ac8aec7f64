//! Comparing JSON where an absent field means "none".

use serde_json::Value;

/// Whether two values are the same; members that are null, empty or zero count as absent on both sides.
pub fn same(expected: Option<&Value>, actual: Option<&Value>) -> bool {
    match (expected, actual) {
        (None, None) => true,
        (Some(one), None) | (None, Some(one)) => is_empty(one),
        (Some(expected), Some(actual)) => equal(expected, actual) || (is_empty(expected) && is_empty(actual)),
    }
}

/// Equality of JSON, in which a number beyond 64-bit integers is the same with and without an exponent, and -0 is 0.
fn equal(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |(name, one): (&String, &Value)| other.get(name).is_some_and(|other| equal(one, other));
            one.len() == other.len() && one.iter().all(has)
        }
        (Value::Number(one), Value::Number(other)) => {
            let wide = |number: &serde_json::Number| number.is_u64() && !number.is_i64();
            let loose = wide(one) || wide(other) || one.as_f64() == Some(0.0);
            one == other || loose && one.as_f64() == other.as_f64()
        }
        (one, other) => one == other,
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
