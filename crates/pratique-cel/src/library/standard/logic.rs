//! Logic: `&&`, `||`, `!` and the conditional.

use super::signature::{closed, global};
use crate::context::Context;
use crate::error::Fault;
use crate::function::{Function, Intrinsic};
use crate::types::Type;
use crate::value::{Evaluation, Value};

/// The logical operators.
pub(super) fn functions() -> Vec<Function> {
    vec![conditional(), and(), or(), not(), not_strictly_false()]
}

fn conditional() -> Function {
    let of = Type::param("A");
    Function::new("_?_:_").with(global("conditional", &[Type::Bool, of.clone(), of.clone()], of))
}

fn and() -> Function {
    closed("_&&_", 2, &[("logical_and", Type::Bool)])
}

fn or() -> Function {
    closed("_||_", 2, &[("logical_or", Type::Bool)])
}

fn not() -> Function {
    closed("!_", 1, &[("logical_not", Type::Bool)])
        .singleton(negated)
        .intrinsic(Intrinsic::Not)
}

fn negated<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match arguments {
        [Value::Bool(value)] => Ok(Value::Bool(!value)),
        _ => Err(Fault::no_such_overload()),
    }
}

/// The function around the loop condition of macros: only a plain `false` ends the loop.
fn not_strictly_false() -> Function {
    closed("@not_strictly_false", 1, &[("not_strictly_false", Type::Bool)])
}
