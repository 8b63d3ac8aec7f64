//! One case of the specification.

use std::sync::Arc;

use pratique_cel::function::{Function, Overload};
use pratique_cel::{Arena, CompileError, Constant, Context, Environment, Program, Type, library};

use super::textproto::{ProtoField, ProtoMessage};
use super::value::{self, UnsupportedFeature, same};

/// The outcome of a case.
#[derive(Debug, PartialEq)]
pub(super) enum CaseResult {
    Passed,
    /// Failed, with the actual result.
    Failed(String),
    /// Skipped, with the feature that the engine lacks.
    Skipped(String),
}

/// Runs a `cel.expr.conformance.test.SimpleTest`.
pub(super) fn run_case(test: &ProtoMessage) -> CaseResult {
    attempt(test).unwrap_or_else(|unsupported| CaseResult::Skipped(unsupported.to_string()))
}

fn attempt(test: &ProtoMessage) -> Result<CaseResult, UnsupportedFeature> {
    let text = test.read_text("expr");
    if let Some((_, unsupported)) = UNSUPPORTED.iter().find(|(word, _)| text.contains(word)) {
        return Err(unsupported.clone());
    }
    let expected = ExpectedValue::new(test)?;
    let environment = environment(test)?;
    let program = match compile(&environment, &text, test.flag("disable_check")) {
        Ok(program) => program,
        Err(error) => {
            let text = error.to_string();
            return Ok(match expected_error(test) {
                Some(expected) if text.contains(&expected) => CaseResult::Passed,
                _ => CaseResult::Failed(text),
            });
        }
    };
    if let Some(of) = expected.of_type
        && of != *program.result_type()
    {
        let mismatch = format!("its type is {}, not {of}", program.result_type());
        return Ok(CaseResult::Failed(mismatch));
    }
    if test.flag("check_only") {
        return Ok(CaseResult::Passed);
    }
    let bindings = bindings(test)?;
    let arena = Arena::new();
    let mut activation = environment.activation();
    for (name, value) in &bindings {
        if let Some(slot) = environment.slot(name) {
            activation.set(slot, value.value());
        }
    }
    let context = Context::new(&arena, COST_LIMIT);
    let result = program.evaluate(&context, &activation);
    Ok(match (expected.value, result) {
        (None, Err(_)) => CaseResult::Passed,
        (Some(_), Err(fault)) => CaseResult::Failed(fault.to_string()),
        (None, Ok(value)) => CaseResult::Failed(format!("no error but {value:?}")),
        (Some(expected), Ok(value)) => match Constant::from_value(&value) {
            Some(actual) if same(&expected, &actual) => CaseResult::Passed,
            _ => CaseResult::Failed(format!("{value:?} instead of {expected:?}")),
        },
    })
}

fn compile(environment: &Environment, text: &str, unchecked: bool) -> Result<Program, CompileError> {
    if unchecked {
        return environment.plan(&environment.check_loosely(environment.parse(text)?));
    }
    environment.compile(text)
}

/// The expected error message, which may be that of the type checker.
fn expected_error(test: &ProtoMessage) -> Option<String> {
    let error = test.message("eval_error")?.message("errors")?;
    Some(error.read_text("message")).filter(|text| !text.is_empty())
}

/// The cost limit of a case, which none should reach.
const COST_LIMIT: u64 = 1_000_000_000;

/// Parts of expressions that the engine does not support.
const UNSUPPORTED: &[(&str, UnsupportedFeature)] = &[
    ("TestAllTypes", UnsupportedFeature::Messages),
    ("TestRequired", UnsupportedFeature::Messages),
    ("NestedEnum", UnsupportedFeature::Messages),
    ("GlobalEnum", UnsupportedFeature::Messages),
    ("proto2.", UnsupportedFeature::Messages),
    ("proto3.", UnsupportedFeature::Messages),
    ("proto.", UnsupportedFeature::Messages),
    ("google.protobuf.Any{", UnsupportedFeature::Messages),
    (
        "cel.@block",
        UnsupportedFeature::Extension("blocks, which optimizers make"),
    ),
    (
        "cel.block",
        UnsupportedFeature::Extension("blocks, which optimizers make"),
    ),
    (
        "cel.iterVar",
        UnsupportedFeature::Extension("blocks, which optimizers make"),
    ),
    (
        "cel.bind",
        UnsupportedFeature::Extension("the extension for bindings"),
    ),
    (
        "math.",
        UnsupportedFeature::Extension("the extension for mathematics"),
    ),
    (
        "base64.",
        UnsupportedFeature::Extension("the extension for encodings"),
    ),
];

/// The expectation of a case: a value (`None` for an error), and optionally a type.
struct ExpectedValue {
    value: Option<Constant>,
    of_type: Option<Type>,
}

impl ExpectedValue {
    fn new(test: &ProtoMessage) -> Result<Self, UnsupportedFeature> {
        if test.get("unknown").is_some() || test.get("any_unknowns").is_some() {
            return Err(UnsupportedFeature::PartialEvaluation);
        }
        if test.get("eval_error").is_some() || test.get("any_eval_errors").is_some() {
            return Ok(ExpectedValue {
                value: None,
                of_type: None,
            });
        }
        let typed = test.message("typed_result");
        let of_type = typed.and_then(|typed| typed.message("deduced_type"));
        let result = typed.map_or(test.message("value"), |typed| typed.message("result"));
        Ok(ExpectedValue {
            value: Some(result.map_or(Ok(Constant::Bool(true)), value::value)?),
            of_type: of_type.map(value::type_of).transpose()?,
        })
    }
}

/// The language of the specification with the extensions that it has cases for, and what a case declares.
fn environment(test: &ProtoMessage) -> Result<Environment, UnsupportedFeature> {
    let libraries = [
        library::optionals,
        library::strings,
        library::two_variables,
        library::lists,
        library::sets,
        library::ip,
        library::cidr,
    ];
    let environment = libraries
        .iter()
        .fold(Environment::standard(), |environment, library| {
            environment.with_library(library())
        });
    let container = test.read_text("container");
    let mut environment = environment.with_container(&container);
    for declaration in test.messages("type_env") {
        let name = declaration.read_text("name");
        if let Some(ident) = declaration.message("ident") {
            let of = ident.message("type").map_or(Ok(Type::Dyn), value::type_of)?;
            environment = environment.with_variable(&name, of);
        }
        if let Some(function) = declaration.message("function") {
            environment = environment.with_function(declared(&name, function)?);
        }
    }
    Ok(environment)
}

/// A function that can be checked but has no code.
fn declared(name: &str, of: &ProtoMessage) -> Result<Function, UnsupportedFeature> {
    of.messages("overloads")
        .try_fold(Function::new(name), |function, overload| {
            let params = overload.messages("params").map(value::type_of);
            let params: Vec<Type> = params.collect::<Result<_, _>>()?;
            let result = overload
                .message("result_type")
                .map_or(Ok(Type::Dyn), value::type_of)?;
            let member = overload.flag("is_instance_function");
            Ok(function.with(Overload::new(
                &overload.read_text("overload_id"),
                member,
                &params,
                result,
            )))
        })
}

fn bindings(test: &ProtoMessage) -> Result<Vec<(Arc<str>, Constant)>, UnsupportedFeature> {
    let binding = |binding: &ProtoMessage| {
        let value = binding.message("value").and_then(|of| of.get("value"));
        match value.and_then(ProtoField::message) {
            Some(value) => Ok((binding.read_text("key").into(), value::value(value)?)),
            None => Err(UnsupportedFeature::PartialEvaluation),
        }
    };
    test.messages("bindings").map(binding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::textproto;
    use super::*;

    fn check(text: &str, expected: CaseResult) {
        let test = textproto::parse(text).expect("the case is well-formed");
        assert_eq!(run_case(&test), expected, "{text}");
    }

    #[test]
    fn verdicts() {
        check("expr: '1 + 1 == 2'", CaseResult::Passed);
        check("expr: '1 + 1' value { int64_value: 2 }", CaseResult::Passed);
        check(
            "expr: '1 + 1' value { uint64_value: 2 }",
            CaseResult::Failed("Int(2) instead of Uint(2)".to_owned()),
        );
        check(
            "expr: '1 / 0' eval_error { errors { message: 'x' } }",
            CaseResult::Passed,
        );
        check("expr: '1 / 0'", CaseResult::Failed("division by zero".to_owned()));
        check(
            "expr: 'TestAllTypes{}'",
            CaseResult::Skipped("protocol buffer messages".to_owned()),
        );
        check(
            "expr: '[x]' check_only: true type_env { name: 'x' ident { type { primitive: INT64 } } }
             typed_result { deduced_type { list_type { elem_type { primitive: INT64 } } } }",
            CaseResult::Passed,
        );
        check(
            "expr: 'y' container: 'x' type_env { name: 'x.y' ident { type { dyn {} } } }
             bindings { key: 'x.y' value { value { map_value { entries { key { int64_value: 1 } value { bool_value: true } } } } } }
             value { map_value { entries { key { int64_value: 1 } value { bool_value: true } } } }",
            CaseResult::Passed,
        );
    }
}
