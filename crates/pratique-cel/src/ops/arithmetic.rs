//! Arithmetic: on numbers, on times, and the joining of strings, bytes and lists.

use super::associative;
use super::naming::unknown_operands;
use crate::context::Context;
use crate::error::{Fault, Stop};
use crate::time::Overflow;
use crate::value::{Evaluation, JoinedList, List, Value};

/// `left + right`
pub(crate) fn add<'a>(context: &Context<'a>, left: &Value<'a>, right: &Value<'a>) -> Evaluation<'a> {
    Ok(match (left, right) {
        (Value::Int(left), Value::Int(right)) => int(left.checked_add(*right))?,
        (Value::String(left), Value::String(right)) => Value::String(join(context, left, right)?),
        (Value::List(left), Value::List(right)) => Value::List(join_lists(context, left, right)?),
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_add(*right))?,
        (Value::Double(left), Value::Double(right)) => Value::Double(left + right),
        (Value::Bytes(left), Value::Bytes(right)) => {
            context.reserve(left.len().saturating_add(right.len()))?;
            Value::Bytes(context.arena.slice(&[*left, *right].concat()))
        }
        (Value::Duration(left), Value::Duration(right)) => Value::Duration(time(left.checked_add(*right))?),
        (Value::Timestamp(timestamp), Value::Duration(duration))
        | (Value::Duration(duration), Value::Timestamp(timestamp)) => {
            Value::Timestamp(time(timestamp.checked_add(*duration))?)
        }
        (Value::Bool(_) | Value::Null | Value::Map(_) | Value::Type(_), _)
        | (Value::Struct(_) | Value::Optional(_) | Value::Opaque(_), _) => {
            return Err(unknown_operands("_+_", left));
        }
        _ => return Err(Fault::no_such_overload()),
    })
}

/// `left - right`
pub(crate) fn subtract<'a>(left: &Value<'a>, right: &Value<'a>) -> Evaluation<'a> {
    Ok(match (left, right) {
        (Value::Int(left), Value::Int(right)) => int(left.checked_sub(*right))?,
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_sub(*right))?,
        (Value::Double(left), Value::Double(right)) => Value::Double(left - right),
        (Value::Duration(left), Value::Duration(right)) => Value::Duration(time(left.checked_sub(*right))?),
        (Value::Timestamp(left), Value::Duration(right)) => Value::Timestamp(time(left.checked_sub(*right))?),
        (Value::Timestamp(left), Value::Timestamp(right)) => {
            Value::Duration(time(left.checked_since(*right))?)
        }
        _ => return Err(unknown_number("_-_", left)),
    })
}

/// `left * right`
pub(crate) fn multiply<'a>(left: &Value<'a>, right: &Value<'a>) -> Evaluation<'a> {
    Ok(match (left, right) {
        (Value::Int(left), Value::Int(right)) => int(left.checked_mul(*right))?,
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_mul(*right))?,
        (Value::Double(left), Value::Double(right)) => Value::Double(left * right),
        _ => return Err(unknown_number("_*_", left)),
    })
}

/// `left / right`
pub(crate) fn divide<'a>(left: &Value<'a>, right: &Value<'a>) -> Evaluation<'a> {
    Ok(match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            return Err(Fault::error("division by zero"));
        }
        (Value::Int(left), Value::Int(right)) => int(left.checked_div(*right))?,
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_div(*right))?,
        (Value::Double(left), Value::Double(right)) => Value::Double(left / right),
        _ => return Err(unknown_number("_/_", left)),
    })
}

/// `left % right`
pub(crate) fn modulo<'a>(left: &Value<'a>, right: &Value<'a>) -> Evaluation<'a> {
    Ok(match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            return Err(Fault::error("modulus by zero"));
        }
        (Value::Int(left), Value::Int(right)) => int(left.checked_rem(*right))?,
        (Value::Uint(left), Value::Uint(right)) => uint(left.checked_rem(*right))?,
        (Value::Double(_), _) => return Err(unknown_operands("_%_", left)),
        _ => return Err(unknown_number("_%_", left)),
    })
}

/// `-operand`
pub(crate) fn negate<'a>(operand: &Value<'a>) -> Evaluation<'a> {
    Ok(match operand {
        Value::Int(number) => int(number.checked_neg())?,
        Value::Double(number) => Value::Double(-number),
        Value::Duration(duration) => Value::Duration(time(duration.checked_neg())?),
        Value::Bool(_) => return Err(Fault::no_such_overload()),
        other => return Err(unknown_operands("-_", other)),
    })
}

/// The error of an operator for operands of other types: of numbers it does not support the other operand, of other values,
/// except times, it is not defined at all.
#[cold]
fn unknown_number(function: &str, left: &Value<'_>) -> Fault {
    match left {
        Value::Int(_) | Value::Uint(_) | Value::Double(_) => Fault::no_such_overload(),
        other => unknown_operands(function, other),
    }
}

fn int<'a>(result: Option<i64>) -> Evaluation<'a> {
    match result {
        Some(number) => Ok(Value::Int(number)),
        None => Err(Fault::error("integer overflow")),
    }
}

fn uint<'a>(result: Option<u64>) -> Evaluation<'a> {
    match result {
        Some(number) => Ok(Value::Uint(number)),
        None => Err(Fault::error("unsigned integer overflow")),
    }
}

fn time<T>(result: Result<T, Overflow>) -> Result<T, Fault> {
    result.map_err(Fault::from_display)
}

fn join<'a>(context: &Context<'a>, left: &'a str, right: &'a str) -> Result<&'a str, Fault> {
    match (left, right) {
        ("", only) | (only, "") => Ok(only),
        (left, right) => {
            context.reserve(left.len().saturating_add(right.len()))?;
            Ok(context.arena.concat(left, right))
        }
    }
}

/// The longest list that is made of two. Going through a longer one costs more than an evaluation may, but variables that each
/// add the previous one to itself could get arbitrarily long.
const MAX_JOINED: usize = 16 << 20;

/// Lists of typed inputs collect their elements and the others', even where there are none.
///
/// Upstream: apiserver/pkg/cel/common/valuesschemalesstyped.go, reflectSchemalessTypedList.Add
fn join_lists<'a>(context: &Context<'a>, left: &List<'a>, right: &List<'a>) -> Result<List<'a>, Fault> {
    if left.len().saturating_add(right.len()) > MAX_JOINED {
        return Err(Fault::stop(Stop::CostLimit));
    }
    if let List::Associative(left) = left {
        return associative::union(context, left, right);
    }
    if let List::Typed(_) = left {
        return Ok(List::Collected(
            context.arena.value(JoinedList::new(*left, *right)),
        ));
    }
    if left.is_empty() {
        return Ok(*right);
    }
    if right.is_empty() {
        return Ok(*left);
    }
    Ok(List::Joined(context.arena.value(JoinedList::new(*left, *right))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Arena;
    use crate::ops::format_value;
    use crate::time::Duration;

    #[test]
    fn a_typed_list_collects() {
        let input = pratique_json::parse(b"[1, {}]").unwrap();
        let arena = Arena::new();
        let context = Context::new(&arena, 0);
        let typed = Value::from_typed_json(&input);
        let empty = Value::List(List::Values(&[]));
        let check = |left: &Value<'_>, right: &Value<'_>, collected: bool, len: usize| {
            let Ok(Value::List(list)) = add(&context, left, right) else {
                panic!("{left:?} + {right:?}")
            };
            assert_eq!(
                matches!(list, List::Collected(_)),
                collected,
                "{left:?} + {right:?}"
            );
            assert_eq!((list.len(), list.iter().count()), (len, len));
        };
        check(&typed, &empty, true, 2);
        check(&typed, &typed, true, 4);
        check(&empty, &typed, false, 2);
        let plain = Value::from_json(&input);
        check(&plain, &typed, false, 4);
        check(&plain, &empty, false, 2);
    }

    #[test]
    fn results_and_faults() {
        let arena = Arena::new();
        let context = Context::new(&arena, 0);
        let check = |result: Evaluation<'_>, expected: &str| {
            let text = result.map_or_else(|fault| fault.to_string(), |value| format_value(&value));
            assert_eq!(text, expected);
        };
        let (one, text) = (Value::Int(1), Value::String("a"));
        check(add(&context, &one, &Value::Int(i64::MAX)), "integer overflow");
        check(add(&context, &text, &Value::String("b")), "ab");
        check(add(&context, &text, &one), "no such overload");
        check(add(&context, &Value::Bool(true), &one), "no such overload: _+_");
        check(
            subtract(&Value::Uint(1), &Value::Uint(2)),
            "unsigned integer overflow",
        );
        check(subtract(&text, &text), "no such overload");
        check(multiply(&Value::Null, &one), "no such overload: _*_");
        check(divide(&one, &Value::Int(0)), "division by zero");
        check(divide(&Value::Int(i64::MIN), &Value::Int(-1)), "integer overflow");
        check(modulo(&one, &Value::Int(0)), "modulus by zero");
        check(modulo(&Value::Double(1.0), &one), "no such overload: _%_");
        check(negate(&Value::Int(i64::MIN)), "integer overflow");
        check(negate(&Value::Bool(true)), "no such overload");
        check(negate(&Value::Uint(1)), "no such overload: -_");
        check(
            negate(&Value::Duration(Duration::from_nanos(1_000_000_000))),
            "-1s",
        );
    }
}
