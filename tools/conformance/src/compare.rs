//! Comparing JSON in which an absent field means "none".

use serde_json::{Number, Value};

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
    equal_by(expected, actual, &|one, other| {
        let wide = |number: &Number| number.is_u64() && !number.is_i64();
        let loose = wide(one) || wide(other) || one.as_f64() == Some(0.0);
        one == other || loose && one.as_f64() == other.as_f64()
    })
}

/// Equality of JSON with a comparison of numbers.
pub(super) fn equal_by(one: &Value, other: &Value, numbers: &dyn Fn(&Number, &Number) -> bool) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => numbers(one, other),
        (Value::Array(one), Value::Array(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(one, other)| equal_by(one, other, numbers))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |(name, one): (&String, &Value)| {
                other.get(name).is_some_and(|other| equal_by(one, other, numbers))
            };
            one.len() == other.len() && one.iter().all(has)
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
