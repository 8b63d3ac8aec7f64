//! The string functions of the standard; the other ones are an extension.

use pratique_gotext::regexp::{RefusedPattern, Regex};

use super::signature::{global, member};
use crate::context::Context;
use crate::cost::CostFn;
use crate::error::Fault;
use crate::function::{CallFn, Function, Intrinsic};
use crate::ops;
use crate::types::Type;
use crate::value::{Evaluation, Value};

/// Tests of substrings and regular expressions.
pub(super) fn functions() -> Vec<Function> {
    vec![
        test("contains", "contains_string", contains, cost_of_search).intrinsic(Intrinsic::Contains),
        test("endsWith", "ends_with_string", ends_with, cost_of_affix).intrinsic(Intrinsic::EndsWith),
        test("startsWith", "starts_with_string", starts_with, cost_of_affix).intrinsic(Intrinsic::StartsWith),
        matches(),
    ]
}

const TWO_STRINGS: [Type; 2] = [Type::String, Type::String];

fn test(name: &str, id: &str, call: CallFn, cost: CostFn) -> Function {
    let overload = member(id, &TWO_STRINGS, Type::Bool);
    Function::new(name).with(overload.costing(cost)).singleton(call)
}

fn matches() -> Function {
    Function::new("matches")
        .with(global("matches", &TWO_STRINGS, Type::Bool))
        .costing(cost_of_match)
        .with(member("matches_string", &TWO_STRINGS, Type::Bool))
        .costing(cost_of_match)
        .singleton(matches_dynamic)
        .with_pattern(matches_constant)
        .intrinsic(Intrinsic::Matches)
}

fn contains<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    strings(arguments, ops::contains)
}

fn ends_with<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    strings(arguments, ops::ends_with)
}

fn starts_with<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    strings(arguments, ops::starts_with)
}

fn matches_dynamic<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match arguments {
        [Value::String(text), Value::String(pattern)] => match Regex::try_new(pattern, context) {
            Ok(regex) => regex.try_is_match(text, context).map(Value::Bool),
            Err(RefusedPattern::Pattern(error)) => Err(error.into()),
            Err(RefusedPattern::Stopped(stop)) => Err(stop),
        },
        [first, _] => Err(ops::unknown_operands("matches", first)),
        _ => Err(Fault::no_such_overload()),
    }
}

fn matches_constant<'a>(context: &Context<'a>, regex: &Regex, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match arguments.first() {
        Some(Value::String(text)) => regex.try_is_match(text, context).map(Value::Bool),
        _ => Err(Fault::no_such_overload()),
    }
}

fn strings<'a>(arguments: &[Value<'a>], holds: impl FnOnce(&str, &str) -> bool) -> Evaluation<'a> {
    match arguments {
        [Value::String(text), Value::String(part)] => Ok(Value::Bool(holds(text, part))),
        _ => Err(Fault::no_such_overload()),
    }
}

fn cost_of_affix(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    traversal(arguments, 1)
}

fn cost_of_search(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    traversal(arguments, 0) * traversal(arguments, 1)
}

fn cost_of_match(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    let size = |index: usize| arguments.get(index).map_or(1, ops::cost_size);
    ops::cost_of_match(size(0), size(1))
}

fn traversal(arguments: &[Value<'_>], index: usize) -> u64 {
    ops::cost_of_traversal(arguments.get(index).map_or(1, ops::cost_size))
}
