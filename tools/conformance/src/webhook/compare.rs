//! Comparing the outcome of a webhook case with its expectation.

use serde_json::Value;

use super::super::CaseOutcome;
use super::super::compare::same;

/// The decision is everything but the wording of a refusal.
pub(super) fn compare(expect: &Value, actual: Value) -> CaseOutcome {
    let field = |path: &str| same(expect.pointer(path), actual.pointer(path));
    let whole = [
        "/calls",
        "/allowed",
        "/status/code",
        "/status/reason",
        "/object",
        "/warnings",
        "/auditAnnotations",
    ];
    let headers = expect.get("warningHeaders").is_none() || field("/warningHeaders");
    let decision = whole.into_iter().all(field) && headers;
    let text = expect.pointer("/status/message").map(|_| field("/status"));
    let mut outcome = CaseOutcome::new(decision, expect, actual);
    outcome.text = text;
    outcome
}
