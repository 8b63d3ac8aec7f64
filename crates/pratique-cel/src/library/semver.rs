//! Semantic versions: `semver('1.2.3').isLessThan(semver('v2', true))`.
//!
//! Upstream: k8s.io/apiserver/pkg/cel/library/semverlib.go

use pratique_gotext::semver::{ParseError, Version};

use super::arguments::{bool, equal_opaque, string};
use super::methods::{MethodResult, method, method_of_two};
use crate::cost;
use crate::environment::Library;
use crate::error::Fault;
use crate::function::{ConstantValue, Function};
use crate::types::Type;
use crate::value::{Opaque, Value};

const TYPE: &str = "kubernetes.Semver";

/// Functions that read and compare semantic versions: `semver('1.2.3').major()`.
pub fn library() -> Library {
    let ty = || Type::named(TYPE);
    let with_flag = [Type::String, Type::Bool];
    // Numbers from 2^63 on wrap around, as upstream's do.
    let number = |name: &str, read: fn(&Version) -> i64| {
        Function::new(name).with(method(&format!("semver_{name}"), ty(), Type::Int, read))
    };
    let comparison = |name: &str, id: &str, holds: fn(&Version, &Version) -> bool| {
        Function::new(name).with(method_of_two(id, [ty(), ty()], Type::Bool, holds))
    };
    let compare = |one: &Version, other: &Version| one.cmp(other) as i64;
    Library::from_functions(vec![
        Function::new("semver")
            .global("string_to_semver", &[Type::String], ty(), |context, arguments| {
                read(arguments)?.into_value(context.arena)
            })
            .with_text(|text| Version::parse(text).ok().map(ConstantValue::opaque))
            .global("string_bool_to_semver", &with_flag, ty(), |context, arguments| {
                read(arguments)?.into_value(context.arena)
            })
            .costing_always(cost::reads_first),
        Function::new("isSemver")
            .global("is_semver_string", &[Type::String], Type::Bool, |_, arguments| {
                Ok(Value::Bool(read(arguments)?.is_ok()))
            })
            .global("is_semver_string_bool", &with_flag, Type::Bool, |_, arguments| {
                Ok(Value::Bool(read(arguments)?.is_ok()))
            })
            .costing_always(cost::reads_first),
        comparison("isGreaterThan", "semver_is_greater_than", |one, other| {
            one > other
        }),
        comparison("isLessThan", "semver_is_less_than", |one, other| one < other),
        Function::new("compareTo").with(method_of_two(
            "semver_compare_to",
            [ty(), ty()],
            Type::Int,
            compare,
        )),
        number("major", |version| version.major as i64),
        number("minor", |version| version.minor as i64),
        number("patch", |version| version.patch as i64),
    ])
}

impl Opaque for Version {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn equal(&self, other: &Value<'_>) -> Result<bool, Fault> {
        equal_opaque(self, other)
    }

    fn to_text(&self) -> String {
        self.to_string()
    }

    fn owned_bytes(&self) -> usize {
        self.owned_bytes()
    }
}

/// Parses the first argument, normalized first if the second one is true.
fn read(arguments: &[Value<'_>]) -> Result<Result<Version, ParseError>, Fault> {
    let text = string(arguments, 0)?;
    let normalize = arguments.len() > 1 && bool(arguments, 1)?;
    Ok(if normalize {
        Version::parse_normalized(text)
    } else {
        Version::parse(text)
    })
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
