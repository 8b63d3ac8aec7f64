//! Equality and order.

use std::cmp::Ordering;

use super::signature::global;
use crate::context::Context;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{CallFn, Function, Intrinsic};
use crate::ops;
use crate::types::Type;
use crate::value::{Evaluation, Value};

/// `==`, `!=` and the relations, which also compare numbers of different types.
pub(super) fn functions() -> Vec<Function> {
    vec![
        equality("_==_", "equals"),
        equality("_!=_", "not_equals"),
        relation("_<_", "less", less).intrinsic(Intrinsic::Less),
        relation("_<=_", "less_equals", less_or_equal).intrinsic(Intrinsic::LessOrEqual),
        relation("_>_", "greater", greater).intrinsic(Intrinsic::Greater),
        relation("_>=_", "greater_equals", greater_or_equal).intrinsic(Intrinsic::GreaterOrEqual),
    ]
}

/// The relations since Kubernetes 1.38, of which none holds for NaN, in place of an error.
// Upstream: common/stdlib/standard.go of cel-go 0.33, isNaN
pub(in crate::library) fn relations_since_1_38() -> Library {
    let relation = |name, intrinsic, call: CallFn| Function::new(name).singleton(call).intrinsic(intrinsic);
    Library::from_functions(vec![
        relation("_<_", Intrinsic::Less, |context, operands| {
            unless_nan(context, operands, less)
        }),
        relation("_<=_", Intrinsic::LessOrEqual, |context, operands| {
            unless_nan(context, operands, less_or_equal)
        }),
        relation("_>_", Intrinsic::Greater, |context, operands| {
            unless_nan(context, operands, greater)
        }),
        relation("_>=_", Intrinsic::GreaterOrEqual, |context, operands| {
            unless_nan(context, operands, greater_or_equal)
        }),
    ])
}

/// A relation of two values, unless one of them is NaN.
fn unless_nan<'a>(context: &Context<'a>, arguments: &[Value<'a>], related: CallFn) -> Evaluation<'a> {
    let is_nan = |argument: &Value<'_>| matches!(argument, Value::Double(number) if number.is_nan());
    match arguments {
        [left, right] if arguments.iter().any(is_nan) && ops::compare(left, right).is_some() => {
            Ok(Value::Bool(false))
        }
        _ => related(context, arguments),
    }
}

fn equality(name: &str, id: &str) -> Function {
    let of = Type::param("A");
    Function::new(name).with(global(id, &[of.clone(), of], Type::Bool))
}

/// The operand types of a relation, with the endings of the overloads' identities.
const RELATIONS: [(&str, Type, Type); 14] = [
    ("bool", Type::Bool, Type::Bool),
    ("int64", Type::Int, Type::Int),
    ("int64_double", Type::Int, Type::Double),
    ("int64_uint64", Type::Int, Type::Uint),
    ("uint64", Type::Uint, Type::Uint),
    ("uint64_double", Type::Uint, Type::Double),
    ("uint64_int64", Type::Uint, Type::Int),
    ("double", Type::Double, Type::Double),
    ("double_int64", Type::Double, Type::Int),
    ("double_uint64", Type::Double, Type::Uint),
    ("string", Type::String, Type::String),
    ("bytes", Type::Bytes, Type::Bytes),
    ("timestamp", Type::Timestamp, Type::Timestamp),
    ("duration", Type::Duration, Type::Duration),
];

fn relation(name: &str, id: &str, call: CallFn) -> Function {
    let function = Function::new(name).singleton(call);
    RELATIONS
        .into_iter()
        .fold(function, |function, (ending, left, right)| {
            let by_size = matches!(left, Type::String | Type::Bytes);
            let overload = global(&format!("{id}_{ending}"), &[left, right], Type::Bool);
            function.with(if by_size {
                overload.costing(cost_of_comparing)
            } else {
                overload
            })
        })
}

fn less<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    related("_<_", arguments, Ordering::is_lt)
}

fn less_or_equal<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    related("_<=_", arguments, Ordering::is_le)
}

fn greater<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    related("_>_", arguments, Ordering::is_gt)
}

fn greater_or_equal<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    related("_>=_", arguments, Ordering::is_ge)
}

#[inline(always)]
fn related<'a>(name: &str, arguments: &[Value<'a>], holds: fn(Ordering) -> bool) -> Evaluation<'a> {
    let [left, right] = arguments else {
        return Err(Fault::no_such_overload());
    };
    match ops::compare(left, right) {
        Some(order) => order.map(|order| Value::Bool(holds(order))),
        None => Err(ops::unknown_operands(name, left)),
    }
}

/// The shorter operand is gone through.
fn cost_of_comparing(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    let smaller = arguments.iter().map(ops::cost_size).min();
    ops::cost_of_traversal(smaller.unwrap_or(1))
}
