//! Conditions of statuses.

use crate::errors::Errors;
use crate::node::Node;
use crate::seen_texts::SeenTexts;
use crate::selector::validate_label_name;

/// The conditions of a status, those of `metav1.Condition`.
// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateConditions
pub fn validate_conditions(conditions: &Node<'_, '_>, errors: &mut Errors) {
    let mut kinds = SeenTexts::default();
    for condition in conditions.items() {
        let kind = condition.child("type").as_text();
        if !kinds.insert(kind) {
            let start = errors.len();
            // Before 1.37, the path named what is equal.
            if errors.release().at_least(1, 37) {
                errors.duplicate(condition, kind);
            } else {
                errors.duplicate(condition.child("type"), kind);
            }
            errors.cover_from(start, "");
        }
        validate_condition(&condition, errors);
    }
}

// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateCondition
fn validate_condition(condition: &Node<'_, '_>, errors: &mut Errors) {
    const STATUSES: &[&str] = &["False", "True", "Unknown"];
    let (kind, status) = (condition.child("type"), condition.child("status"));
    // Before 1.37, what is absent was validated as a value.
    let requires = errors.release().at_least(1, 37);
    let start = errors.len();
    if kind.as_text().is_empty() && requires {
        errors.required(kind, "is required");
    } else {
        validate_label_name(&kind, errors);
    }
    errors.cover_from(start, "format=k8s-label-key");
    let start = errors.len();
    if status.as_text().is_empty() && requires {
        errors.required(status, "");
    } else if !STATUSES.contains(&status.as_text()) {
        errors.not_supported(&status, STATUSES);
    }
    let generation = condition.child("observedGeneration");
    if generation.int() < 0 {
        errors.invalid(
            generation,
            generation.int(),
            "must be greater than or equal to zero",
        );
    }
    errors.cover_from(start, "minimum");
    let time = condition.child("lastTransitionTime");
    if time.is_empty() {
        errors.required_covered(time, "");
    }
    validate_reason(&condition.child("reason"), 1 << 10, errors);
    let message = condition.child("message");
    if message.as_text().len() > 32 << 10 {
        errors.too_long(message, 32 << 10);
    }
}

/// The reasons of conditions of a volume's health, where they are given.
// Upstream: pkg/apis/core/validation/validation.go, validateVolumeHealthConditions
pub(crate) fn validate_health_reasons(conditions: &Node<'_, '_>, errors: &mut Errors) {
    for condition in conditions.items() {
        let reason = condition.child("reason");
        if !reason.as_text().is_empty() {
            // A declarative rule limits its length.
            validate_reason(&reason, usize::MAX, errors);
        }
    }
}

/// The reason of a condition, which is required.
// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, IsValidConditionReason
pub(crate) fn validate_reason(reason: &Node<'_, '_>, max_length: usize, errors: &mut Errors) {
    if reason.as_text().is_empty() {
        errors.required_covered(reason, "");
        return;
    }
    if let Some(fault) = reason_fault(reason.as_text()) {
        errors.invalid_value(reason, fault);
    }
    let start = errors.len();
    if reason.as_text().len() > max_length {
        errors.too_long(reason, i64::try_from(max_length).unwrap_or(i64::MAX));
    }
    errors.cover_from(start, "maxBytes");
}

/// What is wrong with a reason.
fn reason_fault(text: &str) -> Option<&'static str> {
    (!is_reason(text)).then_some(
        "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric \
         characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or \
         'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is \
         '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')",
    )
}

fn is_reason(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_end = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(is_end)
        && bytes.iter().all(|byte| is_end(byte) || b",:".contains(byte))
}
