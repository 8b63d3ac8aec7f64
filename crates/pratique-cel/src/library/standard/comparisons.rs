//! Equality and order.

use super::global;
use crate::function::Function;
use crate::types::Type;

/// `==`, `!=` and the relations, which also compare numbers of different types.
pub(super) fn functions() -> Vec<Function> {
    vec![
        equality("_==_", "equals"),
        equality("_!=_", "not_equals"),
        relation("_<_", "less"),
        relation("_<=_", "less_equals"),
        relation("_>_", "greater"),
        relation("_>=_", "greater_equals"),
    ]
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

fn relation(name: &str, id: &str) -> Function {
    RELATIONS
        .into_iter()
        .fold(Function::new(name), |function, (ending, left, right)| {
            function.with(global(&format!("{id}_{ending}"), &[left, right], Type::Bool))
        })
}
