//! Optional values.
//!
//! Upstream: github.com/google/cel-go, cel/library.go, optionalLib

use super::arguments::list as list_at;
use crate::context::Context;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{Function, Overload};
use crate::ops;
use crate::types::{OPTIONAL, Type};
use crate::value::{Evaluation, List, Value};

/// Functions that make optional values, read them and look inside lists for them.
pub(crate) fn library() -> Library {
    let (inner, key) = (|| Type::param("V"), || Type::param("K"));
    let (list, map) = (|| Type::list(inner()), || Type::map(key(), inner()));
    let optional = || Type::optional(inner());
    let signature = |id: &str, params: &[Type]| Overload::new(id, false, params, optional());
    let (or, or_value) = ("optional_or_optional", "optional_orValue_value");
    // `x[?i]`
    let optional_index = Function::new("_[?_]")
        .with(signature("list_optindex_optional_int", &[list(), Type::Int]))
        .with(signature(
            "optional_list_optindex_optional_int",
            &[Type::optional(list()), Type::Int],
        ))
        .with(signature("map_optindex_optional_value", &[map(), key()]))
        .with(signature(
            "optional_map_optindex_optional_value",
            &[Type::optional(map()), key()],
        ));
    // `x[i]` of an optional list or map.
    let index = Function::new("_[_]")
        .with(signature(
            "optional_list_index_int",
            &[Type::optional(list()), Type::Int],
        ))
        .with(signature(
            "optional_map_index_value",
            &[Type::optional(map()), key()],
        ));
    let optionals = [Type::list(optional())];
    Library::from_functions(vec![
        Function::new("optional.of").global("optional_of", &[inner()], optional(), of_value),
        Function::new("optional.ofNonZeroValue").global(
            "optional_ofNonZeroValue",
            &[inner()],
            optional(),
            of_non_zero,
        ),
        Function::new("optional.none")
            .global("optional_none", &[], optional(), |_, _| Ok(Value::Optional(None))),
        Function::new("value").member("optional_value", &[optional()], inner(), value_of),
        Function::new("hasValue").member("optional_hasValue", &[optional()], Type::Bool, is_some),
        Function::new("or").with(Overload::new(or, true, &[optional(), optional()], optional())),
        Function::new("orValue").with(Overload::new(or_value, true, &[optional(), inner()], inner())),
        // `x.?field`
        Function::new("_?._").with(signature("select_optional_field", &[Type::Dyn, Type::String])),
        optional_index,
        index,
        Function::new("last").member("list_last", &[list()], optional(), last_of),
        Function::new("first").member("list_first", &[list()], optional(), first_of),
        Function::new("optional.unwrap").global("optional_unwrap", &optionals, list(), unwrapped),
        Function::new("unwrapOpt").member("optional_unwrapOpt", &optionals, list(), unwrapped),
    ])
    .naming(OPTIONAL, Type::optional(Type::Dyn))
}

fn of_value<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let value = arguments.first().map(|value| context.arena.value(*value));
    Ok(Value::Optional(value))
}

fn of_non_zero<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match arguments.first() {
        Some(value) if is_zero(context, value)? => Ok(Value::Optional(None)),
        _ => of_value(context, arguments),
    }
}

/// The first second of the year 1, in seconds since 1970: the reference's zero of time.
const FIRST_SECOND: i64 = -62_135_596_800;

/// Whether a value is the zero of its type. Abstract types, types and optionals have none.
fn is_zero<'a>(context: &Context<'a>, value: &Value<'a>) -> Result<bool, Fault> {
    Ok(match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Int(number) => *number == 0,
        Value::Uint(number) => *number == 0,
        Value::Double(number) => *number == 0.0,
        Value::String(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::Timestamp(timestamp) => timestamp.seconds() == FIRST_SECOND && timestamp.nanos() == 0,
        Value::Duration(duration) => duration.nanos() == 0,
        Value::List(list) => list.is_empty(),
        Value::Map(map) => map.is_empty(),
        Value::Struct(value) => !value.is_indexable() && value.fields(context)?.is_empty(),
        Value::Optional(_) | Value::Type(_) | Value::Opaque(_) => false,
    })
}

fn value_of<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match arguments {
        [Value::Optional(Some(value))] => ops::sound(**value),
        [Value::Optional(None)] => Err(Fault::error("optional.none() dereference")),
        _ => Err(Fault::no_such_overload()),
    }
}

fn is_some<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match arguments {
        [Value::Optional(value)] => Ok(Value::Bool(value.is_some())),
        _ => Err(Fault::no_such_overload()),
    }
}

fn first_of<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let first = list_at(arguments, 0)?.get(0);
    Ok(Value::Optional(first.map(|value| context.arena.value(value))))
}

fn last_of<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let list = list_at(arguments, 0)?;
    let last = list.len().checked_sub(1).and_then(|index| list.get(index));
    Ok(Value::Optional(last.map(|value| context.arena.value(value))))
}

/// The values within a list of optionals.
fn unwrapped<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let mut values = Vec::new();
    for element in list_at(arguments, 0)?.iter() {
        match element {
            Value::Optional(value) => values.extend(value.copied()),
            other => {
                let value_text = ops::format_value(&other);
                return Err(Fault::error(format!("value {value_text} is not optional")));
            }
        }
    }
    Ok(Value::List(List::Values(context.arena.slice(&values))))
}
