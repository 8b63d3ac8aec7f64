//! Cases of expressions: what the page's mode for these makes of them, and what is recorded of an API server.

use pratique_harness::ToolError;
use serde_json::{Map, Value, json};

use super::CaseOutcome;
use super::command::CliProgram;
use super::module::WasmModule;

/// Variables of policies that a single expression does not have.
const OF_REQUESTS: [&str; 4] = ["request", "namespaceObject", "authorizer", "variables"];
const OBJECTS: [&str; 3] = ["object", "oldObject", "params"];

pub(super) fn compare(
    module: &mut WasmModule,
    _: &CliProgram,
    case: &Value,
) -> Result<CaseOutcome, ToolError> {
    let text = |name: &str| case.get(name).and_then(Value::as_str).unwrap_or_default();
    let expression = text("expression");
    let has_types = case.pointer("/env/hasPatchTypes") == Some(&json!(true));
    if has_types || OF_REQUESTS.iter().any(|name| names(expression, name)) {
        return Ok(CaseOutcome::Skipped(
            "it is about what a request or a mutation has",
        ));
    }
    let bindings = case.get("bindings");
    let mut variables = Map::new();
    for name in OBJECTS {
        let has_params = case.pointer("/env/hasParams") == Some(&json!(true));
        if name != "params" || has_params {
            let binding = bindings.and_then(|bindings| bindings.get(name));
            variables.insert(name.to_owned(), binding.cloned().unwrap_or_default());
        }
    }
    let request = json!({"expression": {"expression": expression, "variables": variables}});
    let answer = match module.answer(&request)? {
        Ok(answer) => answer,
        Err(why) => return Ok(CaseOutcome::Differs(why)),
    };
    let expected = case.get("expect").unwrap_or(&Value::Null);
    let same = |ours: &str, theirs: &str| answer.get(ours) == expected.get(theirs);
    let agrees = match (expected.get("compileError"), expected.get("error")) {
        (Some(_), _) => same("compileError", "compileError"),
        (None, Some(_)) => same("error", "error"),
        (None, None) => {
            same("cost", "cost") && answer.get("text").is_some() && agree_on_value(&answer, expected)
        }
    };
    Ok(if agrees {
        CaseOutcome::Agrees
    } else {
        CaseOutcome::Differs(format!(
            "{expression}\n  {answer}\nand an API server has\n  {expected}"
        ))
    })
}

/// Whether an expression has a name, outside of other names.
fn names(expression: &str, name: &str) -> bool {
    let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let mut words = expression.split(|c: char| !is_part(c));
    words.any(|word| word == name)
}

/// Whether values that JSON has are the same; others are recorded in a form of their own.
fn agree_on_value(answer: &Value, expected: &Value) -> bool {
    let recorded = expected.get("value").unwrap_or(&Value::Null);
    let plain = ["boolValue", "stringValue"]
        .iter()
        .find_map(|kind| recorded.get(kind));
    let integer = recorded.get("int64Value").and_then(Value::as_str);
    match (plain, integer) {
        (Some(value), _) => answer.get("value") == Some(value),
        (None, Some(number)) => answer.get("value").map(Value::to_string).as_deref() == Some(number),
        (None, None) => true,
    }
}
