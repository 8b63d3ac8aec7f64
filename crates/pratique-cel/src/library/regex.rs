//! Kubernetes' functions of regular expressions: `find` and `findAll`.

use super::bounds;
use super::results;
use crate::context::Context;
use crate::cost;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::Function;
use crate::regex::{Refused, Regex};
use crate::types::Type;
use crate::value::{Evaluation, Value};

/// Kubernetes' functions of regular expressions: `'abc'.find('b')`, `'abc'.findAll('[a-c]')`.
pub fn library() -> Library {
    let find_function = Function::new("find")
        .member(
            "string_find_string",
            &[Type::String, Type::String],
            Type::String,
            find,
        )
        .costing_always(search)
        .with_pattern(find_with);
    let strings = Type::list(Type::String);
    let find_all_function = Function::new("findAll")
        .member(
            "string_find_all_string",
            &[Type::String, Type::String],
            strings.clone(),
            find_all,
        )
        .member(
            "string_find_all_string_int",
            &[Type::String, Type::String, Type::Int],
            strings,
            find_all,
        )
        .costing_always(search)
        .with_pattern(find_all_with);
    Library::of(vec![find_function, find_all_function])
}

fn search(arguments: &[Value<'_>], _: Option<&Value<'_>>) -> u64 {
    cost::regex(cost::size_at(arguments, 0), cost::size_at(arguments, 1))
}

fn find<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match arguments {
        [Value::String(text), Value::String(pattern)] => {
            bounds::search(text, pattern)?;
            find_with(context, &compile(context, pattern)?, arguments)
        }
        _ => Err(Fault::no_such_overload()),
    }
}

fn find_with<'a>(context: &Context<'a>, regex: &Regex, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match arguments {
        [Value::String(text), Value::String(pattern)] => {
            bounds::search(text, pattern)?;
            Ok(Value::String(regex.first(text, context)?.unwrap_or("")))
        }
        _ => Err(Fault::no_such_overload()),
    }
}

fn find_all<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    match arguments {
        [Value::String(text), Value::String(pattern)]
        | [Value::String(text), Value::String(pattern), Value::Int(_)] => {
            bounds::search(text, pattern)?;
            find_all_with(context, &compile(context, pattern)?, arguments)
        }
        _ => Err(Fault::no_such_overload()),
    }
}

fn find_all_with<'a>(context: &Context<'a>, regex: &Regex, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let (text, pattern, limit) = match arguments {
        [Value::String(text), Value::String(pattern)] => (text, pattern, -1),
        [Value::String(text), Value::String(pattern), Value::Int(limit)] => (text, pattern, *limit),
        _ => return Err(Fault::no_such_overload()),
    };
    bounds::search(text, pattern)?;
    let found = regex.all(text, limit, context)?;
    results::collected(context, found.into_iter().map(Value::String))
}

fn compile(context: &Context<'_>, pattern: &str) -> Result<Regex, Fault> {
    Regex::compile(pattern, context).map_err(|refused| match refused {
        Refused::Pattern(error) => Fault::error(format!("Illegal regex: {error}")),
        Refused::Stopped(stop) => stop,
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
