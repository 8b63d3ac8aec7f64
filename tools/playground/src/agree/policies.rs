//! Cases of policies and a request: as recorded, compared with the engine, and as a user pastes them, compared with `pratique review`.

use pratique_conformance::policy;
use pratique_harness::ToolError;
use pratique_types::warnings;
use serde_json::{Value, json};

use super::command::CliProgram;
use super::module::WasmModule;
use super::{CaseOutcome, case};

pub(super) fn compare(
    module: &mut WasmModule,
    program: &CliProgram,
    case: &Value,
) -> Result<CaseOutcome, ToolError> {
    let answer = match module.answer(&case::request(case))? {
        Ok(answer) => answer,
        Err(why) => return Ok(CaseOutcome::Differs(why)),
    };
    match beside_engine(&answer, case) {
        Some(difference) => Ok(CaseOutcome::Differs(difference)),
        None => beside_command(module, program, case),
    }
}

/// How an answer differs from what the engine decides, if it does.
fn beside_engine(answer: &Value, case: &Value) -> Option<String> {
    let engine = policy::answer(case, None)
        .map(as_passed_on)
        .map_err(|error| error.to_string());
    let outcome = case::outcome(answer);
    let same = match (&outcome, &engine) {
        (Ok(outcome), Ok(engine)) => outcome == engine,
        (Err(_), Err(_)) => true,
        _ => false,
    };
    (!same).then(|| format!("the answer is\n  {outcome:?}\nand the engine's\n  {engine:?}"))
}

/// An outcome with the warnings that reach the user: those of the engine are all that it gave.
fn as_passed_on(mut outcome: Value) -> Value {
    if let Some(warnings) = outcome.get_mut("warnings") {
        let warning_texts: Vec<&str> = warnings
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        *warnings = json!(warnings::passed_on(warning_texts));
    }
    outcome
}

fn beside_command(
    module: &mut WasmModule,
    program: &CliProgram,
    case: &Value,
) -> Result<CaseOutcome, ToolError> {
    let pasted = case::pasted(case);
    let answer = match module.answer(&pasted.request())? {
        Ok(answer) => answer,
        Err(why) => return Ok(CaseOutcome::Differs(why)),
    };
    let run = program.run(&pasted.files(), &pasted.arguments())?;
    let of_page = answered(&answer);
    let of_command = run.output.as_ref().and_then(reviewed);
    Ok(match (of_page, of_command) {
        (Some(page), Some(command)) if page == command => CaseOutcome::Agrees,
        // What does not load, or is no request, is refused with the same text.
        (None, None) if is_told(&answer, &run.messages) => CaseOutcome::Agrees,
        (page, command) => CaseOutcome::Differs(format!(
            "the page has\n  {page:?} {}\nand the command\n  {command:?} {}",
            answer.get("problems").unwrap_or(&Value::Null),
            run.messages
        )),
    })
}

/// The output that both have for a request.
type RequestOutcome = [Value; 5];

/// The outcome on the page; none if there is no decision.
fn answered(answer: &Value) -> Option<RequestOutcome> {
    let decision = answer.get("decision")?.as_str()?;
    // The command says why a request is not allowed in one way.
    let decision = json!(if decision == "error" { "denied" } else { decision });
    let message = answer.pointer("/status/message");
    let message = message.filter(|_| decision == "denied");
    let object = answer.get("object").filter(|_| decision == "allowed");
    Some([
        decision,
        message.cloned().unwrap_or_default(),
        list(answer.get("warnings")),
        members(answer.get("auditAnnotations")),
        object.cloned().unwrap_or_default(),
    ])
}

/// The outcome of `pratique review`.
fn reviewed(output: &Value) -> Option<RequestOutcome> {
    let response = output.get("response")?;
    let result = output.get("result")?;
    let decision = match result.get("decision")?.as_str()? {
        "error" | "failed" => "denied",
        other => other,
    };
    let message = response
        .pointer("/status/message")
        .filter(|_| decision == "denied");
    let is_changed = result.get("changed") == Some(&json!(true));
    let object = output
        .get("object")
        .filter(|_| is_changed && decision == "allowed");
    Some([
        json!(decision),
        message.cloned().unwrap_or_default(),
        list(response.get("warnings")),
        members(response.get("auditAnnotations")),
        object.cloned().unwrap_or_default(),
    ])
}

fn list(elements: Option<&Value>) -> Value {
    elements
        .filter(|value| !value.is_null())
        .cloned()
        .unwrap_or_else(|| json!([]))
}

fn members(object: Option<&Value>) -> Value {
    object
        .filter(|value| !value.is_null())
        .cloned()
        .unwrap_or_else(|| json!({}))
}

/// Whether the command reports a problem of the page, of which each line may be indented.
fn is_told(answer: &Value, messages: &str) -> bool {
    let problems = answer.get("problems").and_then(Value::as_array);
    let mut texts = problems
        .into_iter()
        .flatten()
        .filter_map(|problem| problem.get("message")?.as_str());
    texts.any(|text| text.lines().next().is_some_and(|line| messages.contains(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code of the module, as this machine runs it: in Node.js it is compared by `--agree`.
    #[test]
    fn recorded_cases_are_decided_as_the_engine_decides_them() {
        let cases = pratique_conformance::cases_below(&crate::source("testdata/policy")).unwrap();
        let of_other_servers = cases
            .iter()
            .filter(|case| super::super::snapshot::is_of_other_server(case));
        assert!(of_other_servers.count() > 0, "no case is of another server");
        let mut differences = Vec::new();
        for case in &cases {
            let request = case::request(case).to_string();
            let answer = serde_json::from_slice(&pratique_wasm::answer(request.as_bytes())).unwrap();
            differences.extend(beside_engine(&answer, case).map(|why| format!("{}: {why}", case["name"])));
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }
}
