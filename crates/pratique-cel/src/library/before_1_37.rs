//! What functions did before Kubernetes 1.37, whose cel-go is v0.29 instead of v0.26: a library that redeclares them.
//!
//! Upstream: github.com/google/cel-go v0.26.0, interpreter/runtimecost.go, common/stdlib/standard.go, ext/lists.go and
//! ext/strings.go

use std::fmt::Display;

use super::arguments::{int, string};
use super::{bounds, results};
use crate::context::Context;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{CallFn, Function, Intrinsic, Overload};
use crate::ops;
use crate::text;
use crate::types::Type;
use crate::value::{Evaluation, Value};

const TWO_STRINGS: [Type; 2] = [Type::String, Type::String];

pub(super) fn library() -> Library {
    Library::from_functions(vec![
        affix("startsWith", "starts_with_string"),
        affix("endsWith", "ends_with_string"),
        // The evaluator computes the member function alone; this form cost 1.
        Function::new("matches")
            .with(Overload::new("matches", false, &TWO_STRINGS, Type::Bool))
            .intrinsic(Intrinsic::Matches),
        Function::new("duration").global("int64_to_duration", &[Type::Int], Type::Duration, refuse_duration),
        index("indexOf", "string_index_of_string_int", index_of),
        index("lastIndexOf", "string_last_index_of_string_int", last_index_of),
    ])
}

/// What functions of lists did, for versions that have them.
pub(super) fn lists() -> Library {
    Library::from_functions(vec![
        Function::new("lists.range")
            .global("lists_range", &[Type::Int], Type::list(Type::Int), range)
            .costing(super::lists::makes_result),
    ])
}

/// A test whose cost is that of the whole text, whatever is looked for.
fn affix(name: &str, id: &str) -> Function {
    Function::new(name)
        .with(Overload::new(id, true, &TWO_STRINGS, Type::Bool))
        .costing(|arguments, _| ops::cost_of_traversal(arguments.first().map_or(1, ops::cost_size)))
}

fn refuse_duration<'a>(_: &Context<'a>, _: &[Value<'a>]) -> Evaluation<'a> {
    let text = "type conversion error from 'int' to 'google.protobuf.Duration'";
    Err(Fault::error(text))
}

/// Without a bound but that on costs, and nothing where the size is negative.
fn range<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let size = int(arguments, 0)?.max(0);
    bounds::check_elements(context, usize::try_from(size).unwrap_or(usize::MAX))?;
    results::collected(context, (0..size).map(Value::Int))
}

fn index(name: &str, id: &str, call: CallFn) -> Function {
    Function::new(name).member(id, &[Type::String, Type::String, Type::Int], Type::Int, call)
}

fn index_of<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    search(arguments, text::index_of_from)
}

fn last_index_of<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    search(arguments, text::last_index_of_from)
}

/// The empty pattern is found wherever it is looked for, also outside of the text.
fn search<'a, E: Display>(
    arguments: &[Value<'a>],
    search_from: impl FnOnce(&str, &str, i64) -> Result<i64, E>,
) -> Evaluation<'a> {
    let (text, pattern, start) = (string(arguments, 0)?, string(arguments, 1)?, int(arguments, 2)?);
    if pattern.is_empty() {
        return Ok(Value::Int(start));
    }
    search_from(text, pattern, start)
        .map(Value::Int)
        .map_err(Fault::from_display)
}

#[cfg(test)]
mod tests {
    use crate::{Arena, Context, Environment};

    /// The result of an expression, and its cost, in a server of 1.36 and in one of 1.37.
    fn check(text: &str, before: &str, now: &str) {
        for (release, expected) in [(36, before), (37, now)] {
            let arena = Arena::new();
            let context = Context::new(&arena, 1_000_000);
            let environment = Environment::kubernetes_of(release, 36);
            let outcome = match environment.compile(text) {
                Err(error) => error.to_string(),
                Ok(program) => match program.evaluate(&context, &environment.activation()) {
                    Ok(value) => format!("{value:?} {}", context.cost()),
                    Err(fault) => fault.to_string(),
                },
            };
            assert!(outcome.contains(expected), "1.{release}: {text}: {outcome}");
        }
    }

    #[test]
    fn what_a_newer_cel_go_changed() {
        check("'hello'.startsWith('')", "Bool(true) 1", "Bool(true) 0");
        check("''.endsWith('x')", "Bool(false) 0", "Bool(false) 1");
        check("matches('a'.trim(), 'a')", "Bool(true) 2", "Bool(true) 2");
        check("'abc'.indexOf('', 10)", "Int(10)", "Int(3)");
        check("'abc'.lastIndexOf('', 10)", "Int(10)", "Int(3)");
        check("duration(dyn(1))", "type conversion error", "no such overload");
        check("{'a b': 1}.`a b`", "unsupported syntax: '`'", "Int(1)");
        let (now, text) = ("exceeds maximum allowed", "lists.range(2000000).size()");
        check(text, "cost limit", now);
        check("lists.range(-1).size()", "Int(0)", "must be non-negative");
    }

    #[test]
    fn what_a_version_lacks_is_not_declared() {
        let is_there = |minor| {
            Environment::kubernetes_of(34, minor)
                .compile("lists.range(3)")
                .is_ok()
        };
        assert!(!is_there(33) && is_there(34));
    }
}
