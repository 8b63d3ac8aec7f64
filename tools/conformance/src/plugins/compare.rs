//! Comparing the outcome of plugins with that of the reference.

use serde_json::Value;

use crate::CaseOutcome;
use crate::compare::same;

/// Compares a request, or each of a sequence.
pub(crate) fn compare(expect: &Value, actual: Value) -> CaseOutcome {
    let (expected, actual_parts) = match (expect, &actual) {
        (Value::Array(expected), Value::Array(actual_parts)) => {
            (expected.as_slice(), actual_parts.as_slice())
        }
        _ => (std::slice::from_ref(expect), std::slice::from_ref(&actual)),
    };
    let mut decision = expected.len() == actual_parts.len();
    let mut text = None;
    for (expected, actual_part) in expected.iter().zip(actual_parts) {
        let (same_decision, same_text) = of_request(expected, actual_part);
        decision &= same_decision;
        if let Some(same_text) = same_text {
            text = Some(text.unwrap_or(true) && same_text);
        }
    }
    let mut outcome = CaseOutcome::new(decision, expect, actual);
    outcome.text = text;
    outcome
}

/// The best of the variants that the reference may show.
fn of_request(expect: &Value, actual: &Value) -> (bool, Option<bool>) {
    let variants = expect["variants"].as_array().into_iter().flatten();
    let graded = std::iter::once(expect)
        .chain(variants)
        .map(|expect| of_variant(expect, actual));
    graded
        .max_by_key(|(decision, text)| (*decision, *text != Some(false)))
        .unwrap_or((false, None))
}

/// Whether the decision is the same, and the text, if there is one.
fn of_variant(expect: &Value, actual: &Value) -> (bool, Option<bool>) {
    if let Some(error) = expect.get("loadError") {
        let actual_error = actual.get("loadError");
        return (actual_error.is_some(), Some(is_text(expect, error, actual_error)));
    }
    let field = |path: &str| same(expect.pointer(path), actual.pointer(path));
    let decision = actual.get("loadError").is_none()
        && [
            "/allowed",
            "/status/code",
            "/status/reason",
            "/object",
            "/warnings",
            "/auditAnnotations",
            "/booked",
            "/created",
        ]
        .iter()
        .all(|path| field(path));
    let text = expect.pointer("/status/message").map(|message| {
        is_text(expect, message, actual.pointer("/status/message")) && field("/status/details")
    });
    (decision, text)
}

/// Whether a text is the expected one, or any of its forms.
fn is_text(expect: &Value, expected: &Value, actual_text: Option<&Value>) -> bool {
    let mut forms = expect["texts"].as_array().into_iter().flatten();
    actual_text.is_some_and(|actual_text| actual_text == expected || forms.any(|form| form == actual_text))
}
