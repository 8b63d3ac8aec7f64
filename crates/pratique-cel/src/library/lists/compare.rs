//! Comparison of list elements: elements that cannot be compared are not an error here.

use std::cmp::Ordering;

use crate::context::Context;
use crate::error::Fault;
use crate::ops;
use crate::types::Type;
use crate::value::Value;

/// Whether two values stand in an order; those that cannot be compared do not. The error is a stop: texts may be long.
pub(super) fn is_ordered(
    context: &Context<'_>,
    left: &Value<'_>,
    right: &Value<'_>,
    expected: Ordering,
) -> Result<bool, Fault> {
    context.work(ops::pair(left))?;
    Ok(matches!(ops::compare(left, right), Some(Ok(order)) if order == expected))
}

/// The types whose values have an order, with the names that Kubernetes has for them, in the order of overloads.
pub(super) fn comparable() -> [(&'static str, Type); 8] {
    [
        ("int", Type::Int),
        ("uint", Type::Uint),
        ("double", Type::Double),
        ("bool", Type::Bool),
        ("duration", Type::Duration),
        ("timestamp", Type::Timestamp),
        ("string", Type::String),
        ("bytes", Type::Bytes),
    ]
}
