//! The cost of calls of CEL's extension libraries of lists and sets.

use super::operand::{EstimatedCall, EstimatedOperand, NEW_LIST, PER_CHARACTER};
use crate::ast::{Ast, Expr, Literal};
use crate::cost::{CallCost, Range};

/// The estimate for a call of these libraries.
pub(super) fn estimate(ast: &Ast, call: &EstimatedCall<'_, '_>) -> Option<CallCost> {
    let count = |operand: &EstimatedOperand<'_>, default| constant(ast, operand, default);
    Some(match (call.overload, call.target, call.args) {
        ("list_sets_contains_list" | "list_sets_intersects_list", None, [left, right]) => {
            CallCost::new(left.size().times(right.size()).plus(Range::exactly(1)))
        }
        ("list_sets_equivalent_list", None, [left, right]) => {
            let product = left.size().times(right.size());
            CallCost::new(product.scaled(2.0).plus(Range::exactly(1)))
        }
        ("list_slice", Some(list), [start, end]) => {
            let end = count(end, list.size().max);
            new_list(1.0, Range::exactly(end.wrapping_sub(count(start, 0))))
        }
        ("lists_range", None, [end]) => new_list(1.0, Range::exactly(count(end, u64::MAX))),
        ("list_reverse", Some(list), []) => new_list(1.0, list.size()),
        ("list_flatten", Some(list), []) => new_list(1.0, list.size()),
        ("list_flatten_int", Some(list), [depth]) => new_list(count(depth, u64::MAX) as f64, list.size()),
        ("list_distinct", Some(list), []) => new_list(2.0, list.size().times(list.size())),
        (overload, Some(list), args) => {
            let (element, keys) = sorted(overload, list, args)?;
            let factor = match element {
                "string" | "bytes" => 2.0 + PER_CHARACTER,
                _ => 2.0,
            };
            new_list(factor, keys.size().times(keys.size()))
        }
        _ => return None,
    })
}

/// The type of the keys by which an overload sorts, and the list of keys.
fn sorted<'o, 'c>(
    overload: &'o str,
    list: &'o EstimatedOperand<'c>,
    args: &'o [EstimatedOperand<'c>],
) -> Option<(&'o str, &'o EstimatedOperand<'c>)> {
    let rest = overload.strip_prefix("list_")?;
    match (
        rest.strip_suffix("_sort"),
        rest.strip_suffix("_sortByAssociatedKeys"),
        args,
    ) {
        (Some(element), _, []) => Some((element, list)),
        (_, Some(element), [keys]) => Some((element, keys)),
        _ => None,
    }
}

/// A call that makes a list of some size.
fn new_list(factor: f64, size: Range) -> CallCost {
    let cost = size.scaled(factor).plus(Range::exactly(1)).plus(NEW_LIST);
    CallCost::new(cost).giving(size)
}

/// The value of an operand that is a constant integer.
fn constant(ast: &Ast, operand: &EstimatedOperand<'_>, default: u64) -> u64 {
    match ast.expr(operand.id) {
        Expr::Literal(Literal::Int(value)) => u64::try_from(*value).unwrap_or(0),
        _ => default,
    }
}
