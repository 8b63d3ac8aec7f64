//! Functions of two operands that the evaluator computes itself.

use std::cmp::Ordering;

use crate::function::Intrinsic;
use crate::ops;
use crate::value::{Map, Value};

impl Intrinsic {
    /// The result for two operands, and its cost; `None` if the operands do not have the usual types.
    #[inline]
    pub(super) fn apply(self, left: &Value<'_>, right: &Value<'_>) -> Option<(bool, u64)> {
        match (left, right) {
            (Value::String(text), Value::String(part)) => Some(match self {
                Intrinsic::StartsWith => (ops::starts_with(text, part), ops::cost_of_string(part)),
                Intrinsic::EndsWith => (ops::ends_with(text, part), ops::cost_of_string(part)),
                Intrinsic::Contains => (
                    ops::contains(text, part),
                    ops::cost_of_string(text) * ops::cost_of_string(part),
                ),
                _ => return None,
            }),
            (Value::Int(left), Value::Int(right)) => Some((self.holds(left.cmp(right))?, 1)),
            (Value::String(key), Value::Map(Map::Json(object) | Map::Typed(object)))
                if self == Intrinsic::In =>
            {
                Some((object.get(key).is_some(), 1))
            }
            _ => None,
        }
    }

    /// Whether a relation holds for operands of this order; `None` for other functions.
    #[inline]
    fn holds(self, order: Ordering) -> Option<bool> {
        match self {
            Intrinsic::Less => Some(order.is_lt()),
            Intrinsic::LessOrEqual => Some(order.is_le()),
            Intrinsic::Greater => Some(order.is_gt()),
            Intrinsic::GreaterOrEqual => Some(order.is_ge()),
            _ => None,
        }
    }
}
