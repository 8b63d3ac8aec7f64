//! Lists and maps: index, membership, size.

use super::{global, member};
use crate::function::Function;
use crate::types::Type;

/// `x[i]`, `x in y`, `size(x)`.
pub(super) fn functions() -> Vec<Function> {
    vec![index(), within(), size()]
}

fn list() -> Type {
    Type::list(Type::param("A"))
}

fn map() -> Type {
    Type::map(Type::param("A"), Type::param("B"))
}

fn index() -> Function {
    let (key, value) = (Type::param("A"), Type::param("B"));
    Function::new("_[_]")
        .with(global("index_list", &[list(), Type::Int], Type::param("A")))
        .with(global("index_map", &[map(), key], value))
}

fn within() -> Function {
    let element = Type::param("A");
    Function::new("@in")
        .with(global("in_list", &[element.clone(), list()], Type::Bool))
        .with(global("in_map", &[element, map()], Type::Bool))
}

fn size() -> Function {
    Function::new("size")
        .with(global("size_bytes", &[Type::Bytes], Type::Int))
        .with(member("bytes_size", &[Type::Bytes], Type::Int))
        .with(global("size_list", &[list()], Type::Int))
        .with(member("list_size", &[list()], Type::Int))
        .with(global("size_map", &[map()], Type::Int))
        .with(member("map_size", &[map()], Type::Int))
        .with(global("size_string", &[Type::String], Type::Int))
        .with(member("string_size", &[Type::String], Type::Int))
}
