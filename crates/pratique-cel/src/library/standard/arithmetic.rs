//! Arithmetic on numbers, times, strings, bytes and lists.

use super::signature::{closed, global};
use crate::context::Context;
use crate::error::Fault;
use crate::function::Function;
use crate::ops;
use crate::types::Type;
use crate::value::{Evaluation, Value};

/// The arithmetic operators.
pub(super) fn functions() -> Vec<Function> {
    vec![add(), divide(), modulo(), multiply(), negate(), subtract()]
}

/// An operator whose overloads have an id, the types of both operands, and that of the result.
fn operator(name: &str, overloads: &[(&str, Type, Type, Type)]) -> Function {
    let add = |function: Function, (id, left, right, result): &(&str, Type, Type, Type)| {
        function.with(global(id, &[left.clone(), right.clone()], result.clone()))
    };
    overloads.iter().fold(Function::new(name), add)
}

fn add() -> Function {
    use Type::{Bytes, Double, Duration, Int, String, Timestamp, Uint};
    let list = || Type::list(Type::param("A"));
    let overloads = [
        ("add_bytes", Bytes, Bytes, Bytes),
        ("add_double", Double, Double, Double),
        ("add_duration_duration", Duration, Duration, Duration),
        ("add_duration_timestamp", Duration, Timestamp, Timestamp),
        ("add_timestamp_duration", Timestamp, Duration, Timestamp),
        ("add_int64", Int, Int, Int),
        ("add_list", list(), list(), list()),
        ("add_string", String, String, String),
        ("add_uint64", Uint, Uint, Uint),
    ];
    let mut function = operator("_+_", &overloads)
        .singleton(|context, arguments| binary(arguments, |left, right| ops::add(context, left, right)));
    for overload in &mut function.overloads {
        if matches!(overload.result, Bytes | String) {
            overload.cost = Some(cost_of_joining);
        }
    }
    function
}

fn divide() -> Function {
    let ids = [
        ("divide_double", Type::Double),
        ("divide_int64", Type::Int),
        ("divide_uint64", Type::Uint),
    ];
    closed("_/_", 2, &ids).singleton(|_, arguments| binary(arguments, ops::divide))
}

fn modulo() -> Function {
    closed(
        "_%_",
        2,
        &[("modulo_int64", Type::Int), ("modulo_uint64", Type::Uint)],
    )
    .singleton(|_, arguments| binary(arguments, ops::modulo))
}

fn multiply() -> Function {
    let ids = [
        ("multiply_double", Type::Double),
        ("multiply_int64", Type::Int),
        ("multiply_uint64", Type::Uint),
    ];
    closed("_*_", 2, &ids).singleton(|_, arguments| binary(arguments, ops::multiply))
}

fn negate() -> Function {
    closed(
        "-_",
        1,
        &[("negate_double", Type::Double), ("negate_int64", Type::Int)],
    )
    .singleton(negated)
}

fn subtract() -> Function {
    use Type::{Double, Duration, Int, Timestamp, Uint};
    let overloads = [
        ("subtract_double", Double, Double, Double),
        ("subtract_duration_duration", Duration, Duration, Duration),
        ("subtract_int64", Int, Int, Int),
        ("subtract_timestamp_duration", Timestamp, Duration, Timestamp),
        ("subtract_timestamp_timestamp", Timestamp, Timestamp, Duration),
        ("subtract_uint64", Uint, Uint, Uint),
    ];
    operator("_-_", &overloads).singleton(|_, arguments| binary(arguments, ops::subtract))
}

fn negated<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match arguments {
        [operand] => ops::negate(operand),
        _ => Err(Fault::no_such_overload()),
    }
}

#[inline(always)]
fn binary<'a>(
    arguments: &[Value<'a>],
    operator: impl FnOnce(&Value<'a>, &Value<'a>) -> Evaluation<'a>,
) -> Evaluation<'a> {
    match arguments {
        [left, right] => operator(left, right),
        _ => Err(Fault::no_such_overload()),
    }
}

/// Both operands are copied.
fn cost_of_joining(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    ops::cost_of_traversal(arguments.iter().map(ops::cost_size).sum())
}
