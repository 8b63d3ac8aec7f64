//! Conversions between types.

use super::signature::global;
use crate::function::{CallFn, Function};
use crate::ops;
use crate::types::Type;
use crate::value::Value;

/// One function for each type, named like it.
pub(super) fn functions() -> Vec<Function> {
    vec![
        type_of(),
        to_bool(),
        to_bytes(),
        to_double(),
        to_duration(),
        to_dyn(),
        to_int(),
        to_string(),
        to_timestamp(),
        to_uint(),
    ]
}

fn type_of() -> Function {
    let of = Type::param("A");
    Function::new("type")
        .with(global(
            "type",
            std::slice::from_ref(&of),
            Type::type_of(of.clone()),
        ))
        .singleton(ops::to_type)
}

fn to_bool() -> Function {
    let from = [("bool_to_bool", Type::Bool), ("string_to_bool", Type::String)];
    conversion("bool", &from, Type::Bool, ops::to_bool)
}

fn to_bytes() -> Function {
    let from = [("bytes_to_bytes", Type::Bytes), ("string_to_bytes", Type::String)];
    conversion("bytes", &from, Type::Bytes, ops::to_bytes)
}

fn to_double() -> Function {
    let from = [
        ("double_to_double", Type::Double),
        ("int64_to_double", Type::Int),
        ("string_to_double", Type::String),
        ("uint64_to_double", Type::Uint),
    ];
    conversion("double", &from, Type::Double, ops::to_double)
}

fn to_duration() -> Function {
    let from = [
        ("duration_to_duration", Type::Duration),
        ("string_to_duration", Type::String),
    ];
    conversion("duration", &from, Type::Duration, ops::to_duration)
}

fn to_dyn() -> Function {
    let of = Type::param("A");
    Function::new("dyn")
        .with(global("to_dyn", &[of], Type::Dyn))
        .singleton(ops::to_dyn)
}

fn to_int() -> Function {
    let from = [
        ("int64_to_int64", Type::Int),
        ("double_to_int64", Type::Double),
        ("duration_to_int64", Type::Duration),
        ("string_to_int64", Type::String),
        ("timestamp_to_int64", Type::Timestamp),
        ("uint64_to_int64", Type::Uint),
    ];
    conversion("int", &from, Type::Int, ops::to_int)
}

fn to_string() -> Function {
    let from = [
        ("string_to_string", Type::String),
        ("bool_to_string", Type::Bool),
        ("bytes_to_string", Type::Bytes),
        ("double_to_string", Type::Double),
        ("duration_to_string", Type::Duration),
        ("int64_to_string", Type::Int),
        ("timestamp_to_string", Type::Timestamp),
        ("uint64_to_string", Type::Uint),
    ];
    conversion("string", &from, Type::String, ops::to_string)
}

fn to_timestamp() -> Function {
    let from = [
        ("timestamp_to_timestamp", Type::Timestamp),
        ("int64_to_timestamp", Type::Int),
        ("string_to_timestamp", Type::String),
    ];
    conversion("timestamp", &from, Type::Timestamp, ops::to_timestamp)
}

fn to_uint() -> Function {
    let from = [
        ("uint64_to_uint64", Type::Uint),
        ("double_to_uint64", Type::Double),
        ("int64_to_uint64", Type::Int),
        ("string_to_uint64", Type::String),
    ];
    conversion("uint", &from, Type::Uint, ops::to_uint)
}

fn conversion(name: &str, from: &[(&str, Type)], to: Type, call: CallFn) -> Function {
    from.iter().fold(Function::new(name), |function, (id, of)| {
        let overload = global(id, std::slice::from_ref(of), to.clone()).implemented(call);
        function.with(match *id {
            "string_to_bytes" | "bytes_to_string" => overload.costing(cost_of_copying),
            _ => overload,
        })
    })
}

fn cost_of_copying(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    ops::cost_of_traversal(arguments.first().map_or(1, ops::cost_size))
}
