//! Optional values.

use super::Library;
use crate::function::{Function, Overload};
use crate::types::{OPTIONAL, Type};

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
    Function::new("optional.of").with(global("optional_of", &[inner()], optional()))
}

fn of_non_zero_value() -> Function {
    Function::new("optional.ofNonZeroValue").with(global("optional_ofNonZeroValue", &[inner()], optional()))
}

fn none() -> Function {
    Function::new("optional.none").with(global("optional_none", &[], optional()))
}

fn value() -> Function {
    Function::new("value").with(member("optional_value", &[optional()], inner()))
}

fn has_value() -> Function {
    Function::new("hasValue").with(member("optional_hasValue", &[optional()], Type::Bool))
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
    Function::new("last").with(member("list_last", &[list()], optional()))
}

fn first() -> Function {
    Function::new("first").with(member("list_first", &[list()], optional()))
}

fn unwrap() -> Function {
    let list_of_optionals = Type::list(optional());
    Function::new("optional.unwrap").with(global("optional_unwrap", &[list_of_optionals], list()))
}

fn unwrap_opt() -> Function {
    let list_of_optionals = Type::list(optional());
    Function::new("unwrapOpt").with(member("optional_unwrapOpt", &[list_of_optionals], list()))
}
