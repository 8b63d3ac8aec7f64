//! Costs of calls, in the reference's units: reading ten characters costs 1.
//!
//! A function is declared with a [`CostFn`], which charges a call once it was made, and with an [`EstimateFn`], which
//! bounds the cost of a call from the sizes of its arguments. The functions of this module are the costs that most
//! functions have.
//!
//! Upstream: k8s.io/apiserver/pkg/cel/library/cost.go, CostEstimator.CallCost

mod call;
mod range;

pub use call::{CallCost, CostFn, CostNeed, EstimateFn};
pub use range::Range;

use crate::error::Fault;
use crate::meter::{UnmeteredWork, WorkMeter};
use crate::value::Value;

/// Reading so many characters, bytes or elements.
pub use crate::ops::cost_of_traversal as traversal;

/// The number of characters, bytes or elements of a value; 1 for values without any, optionals included.
pub fn size(value: &Value<'_>) -> u64 {
    match value {
        Value::Optional(_) => 1,
        value => crate::ops::cost_size(value),
    }
}

/// A call that only looks something up.
pub fn nominal(_: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    1
}

/// A call that reads its first argument once.
pub fn reads_first(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    traversal(size_at(arguments, 0))
}

/// A call that reads its first argument twice.
pub fn reads_first_twice(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    traversal(size_at(arguments, 0).saturating_mul(2))
}

/// A call that walks over all of its first argument.
pub fn traverses_first(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    // Without a meter this does not fail.
    walk(&UnmeteredWork, arguments.first()).unwrap_or(0)
}

/// The same in an evaluation, in which values may share parts without end.
///
/// # Errors
/// The evaluation was stopped.
pub(crate) fn walk<M: WorkMeter>(meter: &M, value: Option<&Value<'_>>) -> Result<u64, Fault> {
    value.map_or(Ok(0), |value| deep_traversal(meter, value))
}

/// A call that makes a list: so much for each of `size`, and for the call and the list itself.
pub fn makes_list(factor: f64, size: u64) -> u64 {
    let factor = if factor < 0.0 { 1.0 } else { factor };
    ((size as f64 * factor) as u64).saturating_add(11)
}

/// Matching a text of `size` characters with a regular expression of `regex_size` characters.
pub fn regex(size: u64, regex_size: u64) -> u64 {
    ceil((1.0 + size as f64) * 0.1).saturating_mul(ceil(regex_size as f64 * 0.25))
}

/// Walking over all of a value, with the members of lists and maps; strings and bytes count by full tens.
fn deep_traversal<M: WorkMeter>(meter: &M, value: &Value<'_>) -> Result<u64, Fault> {
    /// The work of going to an element.
    const ELEMENT: u64 = 8;
    let mut cost = 0_u64;
    match value {
        Value::String(text) => cost = length(text.len() / 10),
        Value::Bytes(bytes) => cost = length(bytes.len() / 10),
        Value::List(list) => {
            meter.work(length(list.len()).saturating_mul(ELEMENT))?;
            for element in list.iter() {
                cost = cost.saturating_add(deep_traversal(meter, &element)?);
            }
        }
        Value::Map(map) => {
            meter.work(length(map.len()).saturating_mul(ELEMENT))?;
            for (key, value) in map.iter() {
                let of_key = deep_traversal(meter, &key)?;
                cost = cost.saturating_add(of_key.saturating_add(deep_traversal(meter, &value)?));
            }
        }
        _ => cost = 1,
    }
    Ok(cost)
}

/// The size of the argument at a position.
pub fn size_at(arguments: &[Value<'_>], index: usize) -> u64 {
    arguments.get(index).map_or(1, size)
}

fn length(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn ceil(cost: f64) -> u64 {
    cost.ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding() {
        for (size, expected) in [(0, 0), (1, 1), (10, 1), (11, 2), (30, 3), (70, 7)] {
            assert_eq!(traversal(size), expected, "{size}");
        }
        assert_eq!(regex(0, 1), 1);
        assert_eq!(regex(9, 60), 15);
        assert_eq!(regex(10, 60), 30);
    }

    #[test]
    fn deep() {
        let elements = [
            Value::String("0123456789012345678"),
            Value::Int(7),
            Value::String("short"),
        ];
        let list = Value::List(crate::value::List::Values(&elements));
        assert_eq!(traverses_first(&[list], None), 2);
    }

    #[test]
    fn sizes() {
        assert_eq!(size(&Value::String("日本語")), 3);
        assert_eq!(size(&Value::Bytes("日本語".as_bytes())), 9);
        assert_eq!(size(&Value::Int(1_000)), 1);
    }
}
