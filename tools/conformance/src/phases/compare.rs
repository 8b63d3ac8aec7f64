//! Comparing the input of admission and the answer with the recording.

use serde_json::Value;

use crate::CaseOutcome;
use crate::compare::same;

/// The causes of an answer, and the parts of its message, both sorted.
fn sorted(answer: &Value) -> (Vec<String>, Vec<&str>) {
    let causes = answer.get("causes").and_then(Value::as_array);
    let mut causes: Vec<String> = causes.into_iter().flatten().map(Value::to_string).collect();
    causes.sort_unstable();
    let message = answer.get("error").and_then(Value::as_str).unwrap_or_default();
    let mut parts: Vec<&str> = message.split(['[', ']', ',']).map(str::trim).collect();
    parts.sort_unstable();
    (causes, parts)
}

/// Whether an answer is that the object is invalid.
fn is_invalid(answer: &Value) -> bool {
    answer.get("code").and_then(Value::as_u64) == Some(422)
}

/// The decision is everything but the texts of errors and warnings. Custom resources are validated.
pub(super) fn compare(expect: &Value, actual: Value, is_custom: bool) -> CaseOutcome {
    let field = |path: &str| same(expect.pointer(path), actual.pointer(path));
    let count = |of: &Value| of.get("warnings").and_then(Value::as_array).map_or(0, Vec::len);
    let sees = field("/mutatingSees");
    let invalid = !is_custom && is_invalid(expect) && !is_invalid(&actual);
    if invalid {
        // The server's own validation refuses it: only the input of mutating admission is compared.
        let outcome = CaseOutcome::new(sees, expect, actual);
        return if sees { outcome.skipped() } else { outcome };
    }
    let decision = sees
        && field("/validatingSees")
        && field("/stored")
        && field("/code")
        && count(expect) == count(&actual);
    let has_text = !same(expect.get("error"), None) || !same(expect.get("warnings"), None);
    let causes = field("/causes");
    let texts = if is_custom && !causes && sorted(expect) == sorted(&actual) {
        // The reference visits the members of objects in random order.
        field("/warnings")
    } else {
        field("/error") && field("/warnings") && (causes || !is_custom)
    };
    let mut outcome = CaseOutcome::new(decision, expect, actual);
    outcome.text = has_text.then_some(texts);
    outcome
}
