//! Results of calls, made in the arena of the evaluation.

use crate::context::Context;
use crate::value::{List, Value};

/// A list of values.
pub(super) fn list<'a>(context: &Context<'a>, elements: &[Value<'a>]) -> Value<'a> {
    Value::List(List::Values(context.arena.slice(elements)))
}

/// A list of strings.
pub(super) fn string_list<'a>(context: &Context<'a>, strings: &[&'a str]) -> Value<'a> {
    let elements: Vec<Value<'a>> = strings.iter().copied().map(Value::String).collect();
    list(context, &elements)
}
