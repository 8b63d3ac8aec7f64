//! The functions and operators of the CEL specification.
//!
//! Upstream: github.com/google/cel-go, common/stdlib/standard.go

mod aggregates;
mod arithmetic;
mod comparisons;
mod conversions;
mod logic;
mod signature;
mod strings;
mod time;

pub(super) use comparisons::relations_since_1_38;

use crate::environment::Library;
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
        .fold(Library::from_functions(functions), |library, of| {
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
