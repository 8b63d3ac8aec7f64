//! Whether mutations changed an object.

use pratique_json as json;

/// Whether two objects are written the same: 1.0 is 1.
pub fn same(left: &json::Value<'_>, right: &json::Value<'_>) -> bool {
    use json::Value::{Array, Float, Int, NilArray, Object};
    match (left, right) {
        (Int(_), Float(_)) | (Float(_), Int(_)) => left.to_string() == right.to_string(),
        // Only one of them is written as null.
        (NilArray, Array(_)) | (Array(_), NilArray) => false,
        (Array(left), Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Object(left), Object(right)) => {
            let mut pairs = left.iter().zip(right.iter());
            left.len() == right.len() && pairs.all(|(left, right)| left.0 == right.0 && same(left.1, right.1))
        }
        _ => left == right,
    }
}
