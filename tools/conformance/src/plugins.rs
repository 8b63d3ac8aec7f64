//! The suite `plugins`: built-in admission plugins over a described cluster.

mod access;
mod backend;
mod compare;
mod run;

use serde_json::Value;

use super::CaseOutcome;

pub(crate) use self::compare::compare as compare_answer;

pub(super) fn run_case(case: &Value) -> CaseOutcome {
    let Some(expect) = case.get("expect") else {
        return CaseOutcome::failed(case, "the case has no expectation");
    };
    match run::answer(case) {
        Ok(actual) => compare::compare(expect, actual),
        Err(error) => CaseOutcome::failed(case, &error.to_string()),
    }
}
