//! The order of values.

use std::cmp::Ordering;

use crate::error::Fault;
use crate::value::Value;

/// How two values compare: numbers by their value whatever their type, other values only with their own type.
/// `None` if the type on the left has no order.
pub(crate) fn compare(left: &Value<'_>, right: &Value<'_>) -> Option<Result<Ordering, Fault>> {
    let order = match (left, right) {
        (Value::Int(left), Value::Int(right)) => left.cmp(right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Bytes(left), Value::Bytes(right)) => left.cmp(right),
        (Value::Timestamp(left), Value::Timestamp(right)) => left.cmp(right),
        (Value::Duration(left), Value::Duration(right)) => left.nanos().cmp(&right.nanos()),
        (Value::Uint(left), Value::Uint(right)) => left.cmp(right),
        (Value::Int(left), Value::Uint(right)) => int_with_uint(*left, *right),
        (Value::Uint(left), Value::Int(right)) => int_with_uint(*right, *left).reverse(),
        (Value::Double(left), Value::Double(right)) => return Some(ordered(left.partial_cmp(right))),
        (Value::Int(left), Value::Double(right)) => return Some(ordered(int_with_double(*left, *right))),
        (Value::Double(left), Value::Int(right)) => {
            return Some(ordered(int_with_double(*right, *left).map(Ordering::reverse)));
        }
        (Value::Uint(left), Value::Double(right)) => return Some(ordered(uint_with_double(*left, *right))),
        (Value::Double(left), Value::Uint(right)) => {
            return Some(ordered(uint_with_double(*right, *left).map(Ordering::reverse)));
        }
        (Value::Double(left), _) if left.is_nan() => return Some(ordered(None)),
        (left, _) if has_order(left) => return Some(Err(Fault::no_such_overload())),
        _ => return None,
    };
    Some(Ok(order))
}

/// Whether values of the type of this one have an order.
pub(crate) fn has_order(value: &Value<'_>) -> bool {
    matches!(
        value,
        Value::Bool(_)
            | Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Timestamp(_)
            | Value::Duration(_)
    )
}

fn ordered(order: Option<Ordering>) -> Result<Ordering, Fault> {
    order.ok_or_else(|| Fault::error("NaN values cannot be ordered"))
}

pub(super) fn int_with_uint(int: i64, uint: u64) -> Ordering {
    u64::try_from(int).map_or(Ordering::Less, |int| int.cmp(&uint))
}

/// Compares as doubles, as the reference does within the range of integers.
pub(super) fn int_with_double(int: i64, double: f64) -> Option<Ordering> {
    (int as f64).partial_cmp(&double)
}

pub(super) fn uint_with_double(uint: u64, double: f64) -> Option<Ordering> {
    (uint as f64).partial_cmp(&double)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_values() {
        let check = |left: Value<'_>, right: Value<'_>, expected: Option<Result<Ordering, Fault>>| {
            assert_eq!(compare(&left, &right), expected, "{left:?} {right:?}");
        };
        let nan = || Some(Err(Fault::error("NaN values cannot be ordered")));
        check(Value::Int(1), Value::Uint(2), Some(Ok(Ordering::Less)));
        check(Value::Uint(2), Value::Int(-1), Some(Ok(Ordering::Greater)));
        check(Value::Double(1.5), Value::Int(1), Some(Ok(Ordering::Greater)));
        check(Value::Double(f64::NAN), Value::String(""), nan());
        check(Value::Int(1), Value::Double(f64::NAN), nan());
        check(Value::Bool(false), Value::Bool(true), Some(Ok(Ordering::Less)));
        check(
            Value::Int(1),
            Value::String("a"),
            Some(Err(Fault::no_such_overload())),
        );
        check(Value::Null, Value::Null, None);
    }
}
