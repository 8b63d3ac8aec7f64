//! Labels and label selectors.

use pratique_gotext::validation::{label_value, qualified_name};

use crate::errors::Errors;
use crate::node::Node;

// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateLabels
pub(crate) fn validate_labels(labels: &Node<'_, '_>, errors: &mut Errors) {
    for (key, value) in labels.entries() {
        validate_label_key(labels, key, errors);
        for message in label_value(value.as_text()) {
            errors.invalid(labels, value.as_text(), &message);
        }
    }
}

fn validate_label_key(field: &Node<'_, '_>, key: &str, errors: &mut Errors) {
    for message in qualified_name(key) {
        errors.invalid(field, key, &message);
    }
}

/// The key of a label.
// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateLabelName
pub(crate) fn validate_label_name(name: &Node<'_, '_>, errors: &mut Errors) {
    validate_label_key(name, name.as_text(), errors);
}

/// A label selector; values are not looked at where the old object has invalid ones.
// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateLabelSelector
pub fn validate_selector(selector: &Node<'_, '_>, allows_invalid_values: bool, errors: &mut Errors) {
    if !selector.is_set() {
        return;
    }
    validate_labels(&selector.child("matchLabels"), errors);
    for requirement in selector.child("matchExpressions").items() {
        validate_requirement(&requirement, allows_invalid_values, errors);
    }
}

// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateLabelSelectorRequirement
fn validate_requirement(requirement: &Node<'_, '_>, allows_invalid_values: bool, errors: &mut Errors) {
    if !validate_value_count(requirement, errors) {
        errors.invalid_name(&requirement.child("operator"), "not a valid selector operator");
    }
    validate_key(requirement, allows_invalid_values, errors);
}

/// A requirement whose operator may be one that is not known here.
// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, AllowUnknownOperatorInRequirement
pub(crate) fn validate_open_requirement(requirement: &Node<'_, '_>, errors: &mut Errors) {
    validate_value_count(requirement, errors);
    validate_key(requirement, false, errors);
}

/// Whether the operator is known; then it has the values that it needs, and no others.
pub(crate) fn validate_value_count(requirement: &Node<'_, '_>, errors: &mut Errors) -> bool {
    let (operator, values) = (requirement.child("operator"), requirement.child("values"));
    match operator.as_text() {
        "In" | "NotIn" if values.is_empty() => {
            errors.required(values, "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => errors.forbidden(
            values,
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        ),
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        _ => return false,
    }
    true
}

fn validate_key(requirement: &Node<'_, '_>, allows_invalid_values: bool, errors: &mut Errors) {
    validate_label_name(&requirement.child("key"), errors);
    if !allows_invalid_values {
        for value in requirement.child("values").items() {
            errors.invalid_each(&value, &label_value(value.as_text()));
        }
    }
}

/// Whether a selector has values that no label can have.
// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, LabelSelectorHasInvalidLabelValue
pub(crate) fn has_invalid_values(selector: &Node<'_, '_>) -> bool {
    let expressions = selector.child("matchExpressions");
    expressions.items().any(|expression| {
        let values = expression.child("values");
        values
            .items()
            .any(|value| !label_value(value.as_text()).is_empty())
    })
}

/// Whether a selector can be made of it.
// Upstream: apimachinery/pkg/apis/meta/v1/helpers.go, LabelSelectorAsSelector
pub(crate) fn is_selector(selector: &Node<'_, '_>) -> bool {
    let is_pair = |(key, value): (&str, Node<'_, '_>)| {
        qualified_name(key).is_empty() && label_value(value.as_text()).is_empty()
    };
    let is_requirement = |requirement: Node<'_, '_>| {
        let values = requirement.child("values");
        let fits = match requirement.child("operator").as_text() {
            "In" | "NotIn" => !values.is_empty(),
            "Exists" | "DoesNotExist" => values.is_empty(),
            _ => false,
        };
        fits && qualified_name(requirement.child("key").as_text()).is_empty()
            && values
                .items()
                .all(|value| label_value(value.as_text()).is_empty())
    };
    selector.child("matchLabels").entries().all(is_pair)
        && selector.child("matchExpressions").items().all(is_requirement)
}

/// Whether a selector matches labels; one that is absent matches none, an empty one all.
// Upstream: apimachinery/pkg/apis/meta/v1/helpers.go, LabelSelectorAsSelector; apimachinery/pkg/labels/selector.go, Matches
pub(crate) fn matches_labels(selector: &Node<'_, '_>, labels: &Node<'_, '_>) -> bool {
    let label = |key: &str| labels.key(key).value().as_str();
    let meets = |requirement: Node<'_, '_>| {
        let value = label(requirement.child("key").as_text());
        let values = requirement.child("values");
        let is_listed = value.is_some_and(|value| values.items().any(|listed| listed.as_text() == value));
        match requirement.child("operator").as_text() {
            "In" => is_listed,
            "NotIn" => !is_listed,
            "Exists" => value.is_some(),
            _ => value.is_none(),
        }
    };
    selector.is_set()
        && selector
            .child("matchLabels")
            .entries()
            .all(|(key, value)| label(key) == Some(value.as_text()))
        && selector.child("matchExpressions").items().all(meets)
}
