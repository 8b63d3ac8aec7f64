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

fn add() -> Function {
    let list = Type::list(Type::param("A"));
    let (duration, timestamp) = (Type::Duration, Type::Timestamp);
    closed("_+_", 2, &[("add_bytes", Type::Bytes)])
        .costing(cost_of_joining)
        .with(global("add_double", &[Type::Double, Type::Double], Type::Double))
        .with(global(
            "add_duration_duration",
            &[duration.clone(), duration.clone()],
            Type::Duration,
        ))
        .with(global(
            "add_duration_timestamp",
            &[duration.clone(), timestamp.clone()],
            Type::Timestamp,
        ))
        .with(global(
            "add_timestamp_duration",
            &[timestamp, duration],
            Type::Timestamp,
        ))
        .with(global("add_int64", &[Type::Int, Type::Int], Type::Int))
        .with(global("add_list", &[list.clone(), list.clone()], list))
        .with(global("add_string", &[Type::String, Type::String], Type::String))
        .costing(cost_of_joining)
        .with(global("add_uint64", &[Type::Uint, Type::Uint], Type::Uint))
        .singleton(|context, arguments| binary(arguments, |left, right| ops::add(context, left, right)))
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
    let (duration, timestamp) = (Type::Duration, Type::Timestamp);
    closed("_-_", 2, &[("subtract_double", Type::Double)])
        .with(global(
            "subtract_duration_duration",
            &[duration.clone(), duration.clone()],
            Type::Duration,
        ))
        .with(global("subtract_int64", &[Type::Int, Type::Int], Type::Int))
        .with(global(
            "subtract_timestamp_duration",
            &[timestamp.clone(), duration],
            Type::Timestamp,
        ))
        .with(global(
            "subtract_timestamp_timestamp",
            &[timestamp.clone(), timestamp],
            Type::Duration,
        ))
        .with(global("subtract_uint64", &[Type::Uint, Type::Uint], Type::Uint))
        .singleton(|_, arguments| binary(arguments, ops::subtract))
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
