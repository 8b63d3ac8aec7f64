//! Whether mutations changed an object.

use pratique_json as json;

/// Whether two objects have the same JSON text, where 1.0 is 1.
pub fn same(left: &json::Value<'_>, right: &json::Value<'_>) -> bool {
    equal(left, right, &|left, right| left.to_string() == right.to_string())
}

/// Whether two objects are equal in expressions, where 1.0 is a double and 1 an integer.
pub fn seen_the_same(left: &json::Value<'_>, right: &json::Value<'_>) -> bool {
    equal(left, right, &|_, _| false)
}

/// Compares objects, and by `numbers` an integer with a float.
fn equal(
    left: &json::Value<'_>,
    right: &json::Value<'_>,
    numbers: &impl Fn(&json::Value<'_>, &json::Value<'_>) -> bool,
) -> bool {
    use json::Value::{Array, Float, Int, NilArray, Object};
    match (left, right) {
        (Int(_), Float(_)) | (Float(_), Int(_)) => numbers(left, right),
        // A nil array is written as null, an empty one is not.
        (NilArray, Array(_)) | (Array(_), NilArray) => false,
        (Array(left), Array(right)) => {
            let mut pairs = left.iter().zip(right);
            left.len() == right.len() && pairs.all(|(left, right)| equal(left, right, numbers))
        }
        (Object(left), Object(right)) => {
            let mut pairs = left.iter().zip(right.iter());
            left.len() == right.len()
                && pairs.all(|(left, right)| left.0 == right.0 && equal(left.1, right.1, numbers))
        }
        _ => left == right,
    }
}
