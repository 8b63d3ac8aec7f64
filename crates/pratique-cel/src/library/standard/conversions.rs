//! Conversions between types.

use super::signature::global;
use crate::function::{CallFn, Function};
use crate::ops;
use crate::types::Type;
use crate::value::Value;

/// One function for each type, named like it.
pub(super) fn functions() -> Vec<Function> {
    let any = Type::param("A");
    let to_type = global("type", std::slice::from_ref(&any), Type::type_of(any.clone()));
    let (string, bytes) = (("string", Type::String), ("bytes", Type::Bytes));
    let (int, uint, double) = (
        ("int64", Type::Int),
        ("uint64", Type::Uint),
        ("double", Type::Double),
    );
    let (duration, timestamp) = (("duration", Type::Duration), ("timestamp", Type::Timestamp));
    let boolean = ("bool", Type::Bool);
    vec![
        Function::new("type").with(to_type).singleton(ops::to_type),
        conversion("bool", &boolean, &[&boolean, &string], ops::to_bool),
        conversion("bytes", &bytes, &[&bytes, &string], ops::to_bytes),
        conversion(
            "double",
            &double,
            &[&double, &int, &string, &uint],
            ops::to_double,
        ),
        conversion("duration", &duration, &[&duration, &string], ops::to_duration),
        Function::new("dyn")
            .with(global("to_dyn", &[any], Type::Dyn))
            .singleton(ops::to_dyn),
        conversion(
            "int",
            &int,
            &[&int, &double, &duration, &string, &timestamp, &uint],
            ops::to_int,
        ),
        conversion(
            "string",
            &string,
            &[
                &string, &boolean, &bytes, &double, &duration, &int, &timestamp, &uint,
            ],
            ops::to_string,
        ),
        conversion(
            "timestamp",
            &timestamp,
            &[&timestamp, &int, &string],
            ops::to_timestamp,
        ),
        conversion("uint", &uint, &[&uint, &double, &int, &string], ops::to_uint),
    ]
}

/// The name of a type in the ids of overloads, and the type.
type NamedType = (&'static str, Type);

fn conversion(name: &str, (target, to): &NamedType, from: &[&NamedType], call: CallFn) -> Function {
    from.iter().fold(Function::new(name), |function, (source, of)| {
        let id = format!("{source}_to_{target}");
        let overload = global(&id, std::slice::from_ref(of), to.clone()).implemented(call);
        function.with(match &*id {
            "string_to_bytes" | "bytes_to_string" => overload.costing(cost_of_copying),
            _ => overload,
        })
    })
}

fn cost_of_copying(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    ops::cost_of_traversal(arguments.first().map_or(1, ops::cost_size))
}
