//! How two outcomes of a request differ.

use serde_json::Value;

use pratique_conformance::compare::same;

/// In what an outcome differs from what is expected.
pub fn differs(ours: &Value, theirs: &Value) -> Option<&'static str> {
    let field = |path: &str| same(theirs.pointer(path), ours.pointer(path));
    let checks = [
        // One crashed, or refused to answer.
        ("Crash", ours.get("allowed").is_some()),
        ("Allowed", field("/allowed")),
        ("Code", field("/status/code") && field("/status/reason")),
        ("Object", field("/object")),
        ("Annotations", field("/auditAnnotations")),
        ("Warnings", field("/warnings")),
        ("Message", field("/status/message") && field("/status/details")),
    ];
    checks.into_iter().find(|(_, same)| !same).map(|(kind, _)| kind)
}

/// The texts of an outcome.
pub(crate) fn texts(outcome: &Value) -> String {
    let of = |path: &str| outcome.pointer(path).map(ToString::to_string).unwrap_or_default();
    [of("/status/message"), of("/warnings"), of("/auditAnnotations")].join("\n")
}
