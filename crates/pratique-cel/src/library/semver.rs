//! Semantic versions: `semver('1.2.3').isLessThan(semver('v2', true))`.

use std::any::Any;

use pratique_gotext::semver::{ParseError, Version};

use super::arguments::{bool, equal_opaque, opaque, string};
use crate::context::Context;
use crate::cost;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{ConstantValue, Function};
use crate::types::Type;
use crate::value::{Evaluation, Opaque, Value};

const TYPE: &str = "kubernetes.Semver";

/// Functions that read and compare semantic versions: `semver('1.2.3').major()`.
pub fn library() -> Library {
    let of = || Type::named(TYPE);
    Library::of(vec![
        Function::new("semver")
            .global("string_to_semver", &[Type::String], of(), parse)
            .with_text(of_text)
            .global("string_bool_to_semver", &[Type::String, Type::Bool], of(), parse)
            .costing_always(cost::reads_first),
        Function::new("isSemver")
            .global("is_semver_string", &[Type::String], Type::Bool, is_semver)
            .global(
                "is_semver_string_bool",
                &[Type::String, Type::Bool],
                Type::Bool,
                is_semver,
            )
            .costing_always(cost::reads_first),
        Function::new("isGreaterThan").member(
            "semver_is_greater_than",
            &[of(), of()],
            Type::Bool,
            is_greater_than,
        ),
        Function::new("isLessThan").member("semver_is_less_than", &[of(), of()], Type::Bool, is_less_than),
        Function::new("compareTo").member("semver_compare_to", &[of(), of()], Type::Int, compare_to),
        Function::new("major").member("semver_major", &[of()], Type::Int, major),
        Function::new("minor").member("semver_minor", &[of()], Type::Int, minor),
        Function::new("patch").member("semver_patch", &[of()], Type::Int, patch),
    ])
}

impl Opaque for Version {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn equal(&self, other: &Value<'_>) -> Result<bool, Fault> {
        equal_opaque(self, other)
    }

    fn text(&self) -> String {
        self.to_string()
    }

    fn owned_bytes(&self) -> usize {
        self.owned_bytes()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn version_at<'a>(arguments: &[Value<'a>], index: usize) -> Result<&'a Version, Fault> {
    opaque(arguments, index)
}

/// Reads the first argument, filled up if the second one says so.
fn read(arguments: &[Value<'_>]) -> Result<Result<Version, ParseError>, Fault> {
    let text = string(arguments, 0)?;
    let normalize = arguments.len() > 1 && bool(arguments, 1)?;
    Ok(if normalize {
        Version::parse_normalized(text)
    } else {
        Version::parse(text)
    })
}

fn parse<'a>(context: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let version = read(arguments)?.map_err(|error| Fault::error(error.to_string()))?;
    Ok(context.arena.opaque(version))
}

fn of_text(text: &str) -> Option<ConstantValue> {
    Version::parse(text).ok().map(ConstantValue::opaque)
}

fn is_semver<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(read(arguments)?.is_ok()))
}

fn is_greater_than<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(version_at(arguments, 0)? > version_at(arguments, 1)?))
}

fn is_less_than<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(Value::Bool(version_at(arguments, 0)? < version_at(arguments, 1)?))
}

fn compare_to<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    let ordering = version_at(arguments, 0)?.cmp(version_at(arguments, 1)?);
    Ok(Value::Int(ordering as i64))
}

fn major<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(number(version_at(arguments, 0)?.major))
}

fn minor<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(number(version_at(arguments, 0)?.minor))
}

fn patch<'a>(_: &Context<'a>, arguments: &[Value<'a>]) -> Evaluation<'a> {
    Ok(number(version_at(arguments, 0)?.patch))
}

/// Numbers from 2^63 on wrap around, as upstream's do.
fn number<'a>(number: u64) -> Value<'a> {
    Value::Int(number as i64)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Caller;
    use super::*;

    #[test]
    fn versions() {
        let caller = Caller::new(library());
        let text = Value::String;
        caller.check("string_to_semver", &[text("1.2.3-a+b")], "1.2.3-a+b", 1);
        caller.check(
            "string_to_semver",
            &[text("1.2")],
            "No Major.Minor.Patch elements found",
            1,
        );
        caller.check(
            "string_bool_to_semver",
            &[text("v1.2"), Value::Bool(true)],
            "1.2.0",
            1,
        );
        caller.check("is_semver_string", &[text("v1.2")], "false", 1);
        caller.check(
            "is_semver_string_bool",
            &[text("v1.2"), Value::Bool(true)],
            "true",
            1,
        );
        let version = |text| caller.make("string_to_semver", text);
        let (low, high) = (version("1.9.0"), version("1.10.4"));
        caller.check("semver_is_less_than", &[low, high], "true", 1);
        caller.check("semver_is_greater_than", &[low, high], "false", 1);
        caller.check("semver_compare_to", &[low, high], "-1", 1);
        caller.check("semver_major", &[version("18446744073709551615.0.0")], "-1", 1);
        caller.check("semver_minor", &[high], "10", 1);
        caller.check("semver_patch", &[high], "4", 1);
    }
}
