//! Lists and maps: index, membership, size.

use super::signature::{global, member};
use crate::context::Context;
use crate::error::Fault;
use crate::function::{Function, Intrinsic};
use crate::ops;
use crate::types::Type;
use crate::value::{Evaluation, Value};

/// `x[i]`, `x in y`, `size(x)`.
pub(super) fn functions() -> Vec<Function> {
    vec![index(), within(), size()]
}

fn list() -> Type {
    Type::list(Type::param("A"))
}

fn map() -> Type {
    Type::map(Type::param("A"), Type::param("B"))
}

fn index() -> Function {
    let (key, value) = (Type::param("A"), Type::param("B"));
    Function::new("_[_]")
        .with(global("index_list", &[list(), Type::Int], Type::param("A")))
        .with(global("index_map", &[map(), key], value))
}

fn within() -> Function {
    let element = Type::param("A");
    Function::new("@in")
        .with(global("in_list", &[element.clone(), list()], Type::Bool))
        .costing(|arguments, _| arguments.get(1).map_or(1, ops::cost_size))
        .with(global("in_map", &[element, map()], Type::Bool))
        .singleton(is_in)
        .intrinsic(Intrinsic::In)
}

fn is_in<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match arguments {
        [element, container] => ops::is_in(context, element, container).map(Value::Bool),
        _ => Err(Fault::no_such_overload()),
    }
}

fn size() -> Function {
    Function::new("size")
        .with(global("size_bytes", &[Type::Bytes], Type::Int))
        .with(member("bytes_size", &[Type::Bytes], Type::Int))
        .with(global("size_list", &[list()], Type::Int))
        .with(member("list_size", &[list()], Type::Int))
        .with(global("size_map", &[map()], Type::Int))
        .with(member("map_size", &[map()], Type::Int))
        .with(global("size_string", &[Type::String], Type::Int))
        .with(member("string_size", &[Type::String], Type::Int))
        .singleton(size_of)
}

fn size_of<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let [of] = arguments else {
        return Err(Fault::no_such_overload());
    };
    match ops::size(of) {
        // No collection in memory has more elements than an i64 counts.
        Some(size) => Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX))),
        None => Err(ops::unknown_operands("size", of)),
    }
}
