//! What became of a request on either side, and how two outcomes differ.

use serde_json::Value;

use pratique_conformance::compare::same;

/// In what two outcomes differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One crashed, or refused to answer.
    Crash,
    /// One allows.
    Allowed,
    /// The code or reason of a denial.
    Code,
    /// The object.
    Object,
    /// The audit annotations.
    Annotations,
    /// The warnings.
    Warnings,
    /// The message or details of a denial.
    Message,
}

/// In what an outcome differs from what is expected.
pub fn differs(ours: &Value, theirs: &Value) -> Option<Kind> {
    let field = |path: &str| same(theirs.pointer(path), ours.pointer(path));
    let checks = [
        (ours.get("allowed").is_some(), Kind::Crash),
        (field("/allowed"), Kind::Allowed),
        (field("/status/code") && field("/status/reason"), Kind::Code),
        (field("/object"), Kind::Object),
        (field("/auditAnnotations"), Kind::Annotations),
        (field("/warnings"), Kind::Warnings),
        (
            field("/status/message") && field("/status/details"),
            Kind::Message,
        ),
    ];
    checks.into_iter().find(|(same, _)| !same).map(|(_, kind)| kind)
}

/// The texts of an outcome.
pub(crate) fn texts(outcome: &Value) -> String {
    let of = |path: &str| outcome.pointer(path).map(ToString::to_string).unwrap_or_default();
    [of("/status/message"), of("/warnings"), of("/auditAnnotations")].join("\n")
}
