//! The conditions of a CertificateSigningRequest, which decide what becomes of it.

use pratique_json::Value;

use crate::diff::json_diff;
use crate::errors::{Errors, named};
use crate::internal::internal_text;
use crate::node::{Node, is_same};
use crate::seen_texts::SeenTexts;

/// The conditions that are never false.
const FINAL: &[&str] = &["Approved", "Denied", "Failed"];

// Upstream: pkg/apis/certificates/validation/validation.go, validateConditions
pub(super) fn validate_conditions(conditions: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    const STATUSES: &[&str] = &["False", "True", "Unknown"];
    let allows_empty = old
        .items()
        .any(|condition| condition.child("type").as_text().is_empty());
    let allows_duplicates = has_duplicates(old);
    let has = |conditions: &Node<'_, '_>, kind: &str| {
        let mut conditions = conditions.items();
        conditions.any(|condition| condition.child("type").as_text() == kind)
    };
    let mut decisions: Vec<&str> = Vec::new();
    // Since 1.38, a declarative rule alone says that they exclude each other.
    let allows_both = (has(old, "Approved") && has(old, "Denied")) || errors.release().at_least(1, 38);
    let mut seen = SeenTexts::default();
    for condition in conditions.items() {
        let (kind, status) = (condition.child("type"), condition.child("status"));
        if kind.as_text().is_empty() && !allows_empty {
            errors.required(kind, "");
        }
        let statuses: &[&str] = if FINAL.contains(&kind.as_text()) {
            &["True"]
        } else {
            STATUSES
        };
        errors.required_enum(&status, statuses);
        if ["Approved", "Denied"].contains(&kind.as_text()) && !allows_both {
            decisions.push(kind.as_text());
            validate_decisions(conditions, &decisions, errors);
        }
        if !seen.insert(kind.as_text()) && !allows_duplicates {
            errors.duplicate(kind, named(kind.as_text()));
        }
    }
}

/// A request is not both approved and denied.
fn validate_decisions(conditions: &Node<'_, '_>, decisions: &[&str], errors: &mut Errors) {
    let Some((last, earlier)) = decisions.split_last() else {
        return;
    };
    if earlier.iter().any(|decision| decision != last) {
        let start = errors.len();
        errors.invalid(
            conditions,
            named(last),
            "Approved and Denied conditions are mutually exclusive",
        );
        errors.cover_from(start, "zeroOrOneOf");
    }
}

fn has_duplicates(conditions: &Node<'_, '_>) -> bool {
    let mut seen = SeenTexts::default();
    let mut conditions = conditions.items();
    conditions.any(|condition| !seen.insert(condition.child("type").as_text()))
}

/// Final conditions stay; only who approves may add or change the first two of them.
// Upstream: pkg/apis/certificates/validation/validation.go, validateCertificateSigningRequestUpdate
pub(super) fn validate_condition_changes(
    conditions: &Node<'_, '_>,
    old: &Node<'_, '_>,
    allows_approval: bool,
    errors: &mut Errors,
) {
    for kind in FINAL {
        if of_type(conditions, kind).len() < of_type(old, kind).len() {
            let detail = format!("updates may not remove a condition of type \"{kind}\"");
            errors.forbidden(conditions, &detail);
        }
    }
    for kind in ["Approved", "Denied"].iter().filter(|_| !allows_approval) {
        let (new, old) = (of_type(conditions, kind), of_type(old, kind));
        if new.len() > old.len() {
            let detail = format!("updates may not add a condition of type \"{kind}\"");
            errors.forbidden(conditions, &detail);
        } else if new.len() == old.len() && !new.iter().zip(&old).all(|(new, old)| is_same(new, old)) {
            let text = |conditions: Vec<Value<'static>>| {
                internal_text(
                    errors.release(),
                    "[]certificates.CertificateSigningRequestCondition",
                    &Value::Array(conditions),
                )
            };
            let diff = json_diff(&text(old), &text(new));
            let detail = format!("updates may not modify a condition of type \"{kind}\"\n{diff}");
            errors.forbidden(conditions, &detail);
        }
    }
}

fn of_type(conditions: &Node<'_, '_>, kind: &str) -> Vec<Value<'static>> {
    conditions
        .items()
        .filter(|condition| condition.child("type").as_text() == kind)
        .map(|condition| condition.value().owned_within(""))
        .collect()
}
