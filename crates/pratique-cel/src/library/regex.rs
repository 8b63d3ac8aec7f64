//! Kubernetes' functions of regular expressions: `find` and `findAll`.
//!
//! Upstream: k8s.io/apiserver/pkg/cel/library/regex.go

use pratique_gotext::regexp::{RefusedPattern, Regex};

use super::arguments::{limit, string};
use super::bounds;
use super::results;
use crate::context::Context;
use crate::cost;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{Function, Overload};
use crate::types::Type;
use crate::value::{Evaluation, Value};

/// Kubernetes' functions of regular expressions: `'abc'.find('b')`, `'abc'.findAll('[a-c]')`.
pub fn library() -> Library {
    let two = [Type::String, Type::String];
    let three = [Type::String, Type::String, Type::Int];
    let all = |id: &str, params: &[Type]| {
        Overload::new(id, true, params, Type::list(Type::String)).implemented(find_all)
    };
    Library::from_functions(vec![
        Function::new("find")
            .member("string_find_string", &two, Type::String, find)
            .costing_always(search)
            .with_pattern(find_with),
        Function::new("findAll")
            .with(all("string_find_all_string", &two))
            .with(all("string_find_all_string_int", &three))
            .costing_always(search)
            .with_pattern(find_all_with),
    ])
}

fn search(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    cost::regex(cost::size_at(arguments, 0), cost::size_at(arguments, 1))
}

fn find<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    find_with(context, &compile(context, arguments)?, arguments)
}

fn find_with<'a>(context: &Context<'a>, regex: &Regex, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let text = searched(arguments)?;
    Ok(Value::String(regex.try_find(text, context)?.unwrap_or("")))
}

fn find_all<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    find_all_with(context, &compile(context, arguments)?, arguments)
}

fn find_all_with<'a>(context: &Context<'a>, regex: &Regex, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let text = searched(arguments)?;
    let matches = regex.try_find_all(text, limit(arguments, 2)?, context)?;
    results::texts(context, matches.into_iter())
}

/// The text, if it is not too long to be searched for the pattern.
fn searched<'a>(arguments: &[Value<'a>]) -> Result<&'a str, Fault> {
    let text = string(arguments, 0)?;
    bounds::check_search(text, string(arguments, 1)?)?;
    Ok(text)
}

fn compile(context: &Context<'_>, arguments: &[Value<'_>]) -> Result<Regex, Fault> {
    searched(arguments)?;
    Regex::try_new(string(arguments, 1)?, context).map_err(|refused| match refused {
        RefusedPattern::Pattern(error) => Fault::error(format!("Illegal regex: {error}")),
        RefusedPattern::Stopped(stop) => stop,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::testing::Caller;

    #[test]
    fn calls() {
        let caller = Caller::new(library());
        let find = |text, pattern, expected: &str, cost| {
            caller.check(
                "string_find_string",
                &[Value::String(text), Value::String(pattern)],
                expected,
                cost,
            );
        };
        find("abc 123", "[0-9]+", "'123'", 2);
        find("abc", "x", "''", 1);
        find(
            "abc",
            "(",
            "Illegal regex: error parsing regexp: missing closing ): `(`",
            1,
        );
        let all = |text, pattern, limit, expected: &str| {
            let arguments = [Value::String(text), Value::String(pattern), Value::Int(limit)];
            caller.check("string_find_all_string_int", &arguments, expected, 1);
        };
        all("banana", "an", -1, "['an', 'an']");
        all("banana", "an", 1, "['an']");
        all("banana", "an", 0, "[]");
        caller.check(
            "string_find_all_string",
            &[Value::String("é"), Value::String("")],
            "['', '']",
            0,
        );
    }
}
