//! Optional values.

use crate::context::Context;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{Function, Overload};
use crate::ops;
use crate::types::{OPTIONAL, Type};
use crate::value::{Evaluation, List, Value};

/// Functions that make optional values, read them and look inside lists for them.
pub(crate) fn library() -> Library {
    Library::of(vec![
        of(),
        of_non_zero_value(),
        none(),
        value(),
        has_value(),
        or(),
        or_value(),
        select(),
        optional_index(),
        index(),
        last(),
        first(),
        unwrap(),
        unwrap_opt(),
    ])
    .naming(OPTIONAL, Type::optional(Type::Dyn))
}

fn inner() -> Type {
    Type::param("V")
}

fn optional() -> Type {
    Type::optional(inner())
}

fn list() -> Type {
    Type::list(inner())
}

fn map() -> Type {
    Type::map(key(), inner())
}

fn key() -> Type {
    Type::param("K")
}

fn global(id: &str, params: &[Type], result: Type) -> Overload {
    Overload::new(id, false, params, result)
}

fn member(id: &str, params: &[Type], result: Type) -> Overload {
    Overload::new(id, true, params, result)
}

fn of() -> Function {
    Function::new("optional.of").with(global("optional_of", &[inner()], optional()).implemented(of_value))
}

fn of_non_zero_value() -> Function {
    Function::new("optional.ofNonZeroValue")
        .with(global("optional_ofNonZeroValue", &[inner()], optional()).implemented(of_non_zero))
}

fn none() -> Function {
    Function::new("optional.none")
        .with(global("optional_none", &[], optional()).implemented(|_, _| Ok(Value::Optional(None))))
}

fn value() -> Function {
    Function::new("value").with(member("optional_value", &[optional()], inner()).implemented(value_of))
}

fn has_value() -> Function {
    Function::new("hasValue")
        .with(member("optional_hasValue", &[optional()], Type::Bool).implemented(is_some))
}

fn or() -> Function {
    let id = "optional_or_optional";
    Function::new("or").with(member(id, &[optional(), optional()], optional()))
}

fn or_value() -> Function {
    let id = "optional_orValue_value";
    Function::new("orValue").with(member(id, &[optional(), inner()], inner()))
}

/// `x.?field`
fn select() -> Function {
    let params = [Type::Dyn, Type::String];
    Function::new("_?._").with(global("select_optional_field", &params, optional()))
}

/// `x[?i]`
fn optional_index() -> Function {
    Function::new("_[?_]")
        .with(global(
            "list_optindex_optional_int",
            &[list(), Type::Int],
            optional(),
        ))
        .with(global(
            "optional_list_optindex_optional_int",
            &[Type::optional(list()), Type::Int],
            optional(),
        ))
        .with(global("map_optindex_optional_value", &[map(), key()], optional()))
        .with(global(
            "optional_map_optindex_optional_value",
            &[Type::optional(map()), key()],
            optional(),
        ))
}

/// `x[i]` of an optional list or map.
fn index() -> Function {
    let (list, map) = (Type::optional(list()), Type::optional(map()));
    Function::new("_[_]")
        .with(global("optional_list_index_int", &[list, Type::Int], optional()))
        .with(global("optional_map_index_value", &[map, key()], optional()))
}

fn last() -> Function {
    Function::new("last").with(member("list_last", &[list()], optional()).implemented(last_of))
}

fn first() -> Function {
    Function::new("first").with(member("list_first", &[list()], optional()).implemented(first_of))
}

fn unwrap() -> Function {
    let list_of_optionals = Type::list(optional());
    Function::new("optional.unwrap")
        .with(global("optional_unwrap", &[list_of_optionals], list()).implemented(unwrapped))
}

fn unwrap_opt() -> Function {
    let list_of_optionals = Type::list(optional());
    Function::new("unwrapOpt")
        .with(member("optional_unwrapOpt", &[list_of_optionals], list()).implemented(unwrapped))
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
    let first = only_list(arguments)?.get(0);
    Ok(Value::Optional(first.map(|value| context.arena.value(value))))
}

fn last_of<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let list = only_list(arguments)?;
    let last = list.len().checked_sub(1).and_then(|index| list.get(index));
    Ok(Value::Optional(last.map(|value| context.arena.value(value))))
}

/// The values within a list of optionals.
fn unwrapped<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let mut values = Vec::new();
    for element in only_list(arguments)?.iter() {
        match element {
            Value::Optional(value) => values.extend(value.copied()),
            other => {
                let shown = ops::shown(&other);
                return Err(Fault::error(format!("value {shown} is not optional")));
            }
        }
    }
    Ok(Value::List(List::Values(context.arena.slice(&values))))
}

fn only_list<'a>(arguments: &[Value<'a>]) -> Result<List<'a>, Fault> {
    match arguments {
        [Value::List(list)] => Ok(*list),
        _ => Err(Fault::no_such_overload()),
    }
}
