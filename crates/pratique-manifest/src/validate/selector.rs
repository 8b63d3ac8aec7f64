//! Labels and label selectors.

use pratique_gotext::validation;

use super::errors::FieldErrors;
use super::view::View;

/// Labels. Errors of keys and values both name the map.
pub(super) fn validate_labels(labels: &View<'_>, errors: &mut FieldErrors) {
    for (key, value) in labels.entries() {
        for detail in validation::qualified_name(key) {
            errors.invalid(labels, key, &detail);
        }
        for detail in validation::label_value(value) {
            errors.invalid(labels, value, &detail);
        }
    }
}

/// A label selector, if there is one.
// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateLabelSelector
pub(super) fn validate_selector(selector: &View<'_>, errors: &mut FieldErrors) {
    validate_labels(&selector.field("matchLabels"), errors);
    for requirement in selector.field("matchExpressions").items() {
        validate_requirement(&requirement, errors);
    }
}

// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateLabelSelectorRequirement
fn validate_requirement(requirement: &View<'_>, errors: &mut FieldErrors) {
    let operator = requirement.field("operator");
    let values = requirement.field("values");
    match operator.text() {
        "In" | "NotIn" if values.len() == 0 => {
            errors.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if values.len() > 0 => {
            errors.forbidden(
                &values,
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            );
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other => errors.invalid_enum(&operator, other, "not a valid selector operator"),
    }
    let key = requirement.field("key");
    for detail in validation::qualified_name(key.text()) {
        errors.invalid(&key, key.text(), &detail);
    }
    for value in values.items() {
        for detail in validation::label_value(value.text()) {
            errors.invalid(&value, value.text(), &detail);
        }
    }
}
