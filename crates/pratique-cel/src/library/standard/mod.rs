//! The functions and operators of the CEL specification.

mod aggregates;
mod arithmetic;
mod comparisons;
mod conversions;
mod logic;
mod strings;
mod time;

use crate::function::{Function, Overload};
use crate::library::Library;
use crate::types::Type;

/// The standard functions and operators.
pub(crate) fn library() -> Library {
    let groups = [
        logic::functions(),
        arithmetic::functions(),
        comparisons::functions(),
        aggregates::functions(),
        conversions::functions(),
        strings::functions(),
        time::functions(),
    ];
    let functions = groups.into_iter().flatten().collect();
    NAMED
        .iter()
        .fold(Library::of(functions), |library, of| {
            library.naming(of.runtime_name(), of.clone())
        })
        .naming("list", Type::list(Type::Dyn))
        .naming("map", Type::map(Type::Dyn, Type::Dyn))
}

/// The types without parameters that have a name.
const NAMED: [Type; 8] = [
    Type::Bool,
    Type::Bytes,
    Type::Double,
    Type::Int,
    Type::Null,
    Type::String,
    Type::Type(None),
    Type::Uint,
];

/// The overload `function(params…)`.
fn global(id: &str, params: &[Type], result: Type) -> Overload {
    Overload::new(id, false, params, result)
}

/// The overload `params[0].function(params[1..]…)`.
fn member(id: &str, params: &[Type], result: Type) -> Overload {
    Overload::new(id, true, params, result)
}

/// A function named as an operator whose operands and result have one type, once for each type:
/// `add_int64` and its like.
fn closed(name: &str, operand_count: usize, ids: &[(&str, Type)]) -> Function {
    ids.iter().fold(Function::new(name), |function, (id, of)| {
        function.with(global(id, &vec![of.clone(); operand_count], of.clone()))
    })
}
