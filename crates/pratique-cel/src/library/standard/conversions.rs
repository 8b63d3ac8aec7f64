//! Conversions between types.

use super::global;
use crate::function::Function;
use crate::types::Type;

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
    Function::new("type").with(global(
        "type",
        std::slice::from_ref(&of),
        Type::type_of(of.clone()),
    ))
}

fn to_bool() -> Function {
    let from = [("bool_to_bool", Type::Bool), ("string_to_bool", Type::String)];
    conversion("bool", &from, Type::Bool)
}

fn to_bytes() -> Function {
    let from = [("bytes_to_bytes", Type::Bytes), ("string_to_bytes", Type::String)];
    conversion("bytes", &from, Type::Bytes)
}

fn to_double() -> Function {
    let from = [
        ("double_to_double", Type::Double),
        ("int64_to_double", Type::Int),
        ("string_to_double", Type::String),
        ("uint64_to_double", Type::Uint),
    ];
    conversion("double", &from, Type::Double)
}

fn to_duration() -> Function {
    let from = [
        ("duration_to_duration", Type::Duration),
        ("string_to_duration", Type::String),
    ];
    conversion("duration", &from, Type::Duration)
}

fn to_dyn() -> Function {
    conversion("dyn", &[("to_dyn", Type::param("A"))], Type::Dyn)
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
    conversion("int", &from, Type::Int)
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
    conversion("string", &from, Type::String)
}

fn to_timestamp() -> Function {
    let from = [
        ("timestamp_to_timestamp", Type::Timestamp),
        ("int64_to_timestamp", Type::Int),
        ("string_to_timestamp", Type::String),
    ];
    conversion("timestamp", &from, Type::Timestamp)
}

fn to_uint() -> Function {
    let from = [
        ("uint64_to_uint64", Type::Uint),
        ("double_to_uint64", Type::Double),
        ("int64_to_uint64", Type::Int),
        ("string_to_uint64", Type::String),
    ];
    conversion("uint", &from, Type::Uint)
}

fn conversion(name: &str, from: &[(&str, Type)], to: Type) -> Function {
    from.iter().fold(Function::new(name), |function, (id, of)| {
        function.with(global(id, std::slice::from_ref(of), to.clone()))
    })
}
