//! Bindings of both kinds of policy.

use std::collections::HashSet;

use pratique_validation::rules::{Node, named, path_segment_name, subdomain_name, validate_selector};

use super::errors::{DeclarativeRules, FieldErrors};
use super::matching::{match_resources, mutating_operations};

const ACTIONS: &[&str] = &["Audit", "Deny", "Warn"];
const NOT_FOUND_ACTIONS: &[&str] = &["Deny", "Allow"];

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateValidatingAdmissionPolicyBindingSpec
pub(super) fn validate_validating(spec: &Node<'_, '_>, errors: &mut FieldErrors) {
    let (name, actions) = (spec.child("policyName"), spec.child("validationActions"));
    // Upstream: pkg/apis/admissionregistration/validation/validation.go: what is missing is not found by hand any more since 1.38.
    let is_by_hand = match errors.declarative {
        DeclarativeRules::Absent => true,
        DeclarativeRules::Told => false,
        DeclarativeRules::Following => !errors.list.release().at_least(1, 38),
    };
    if is_by_hand || !name.as_text().is_empty() {
        validate_policy_name(spec, errors);
    }
    validate_common(spec, errors);
    validate_actions(&actions, errors);
    if is_by_hand && actions.is_empty() {
        let detail = "at least one validation action is required";
        errors.list.required_covered(actions, detail);
    }
    // Declarative rules come after those by hand.
    // Upstream: api/admissionregistration/v1/zz_generated.validations.go, Validate_ValidatingAdmissionPolicyBindingSpec
    if errors.declarative == DeclarativeRules::Told {
        for field in [name, actions].into_iter().filter(Node::is_empty) {
            errors.list.required(field, "");
        }
    }
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateMutatingAdmissionPolicyBindingSpec
pub(super) fn validate_mutating(spec: &Node<'_, '_>, errors: &mut FieldErrors) {
    validate_policy_name(spec, errors);
    validate_common(spec, errors);
    mutating_operations(&spec.child("matchResources"), errors);
}

fn validate_policy_name(spec: &Node<'_, '_>, errors: &mut FieldErrors) {
    let name = spec.child("policyName");
    if name.as_text().is_empty() {
        errors.list.required_covered(name, "");
    } else {
        errors
            .list
            .invalid_each(&name, &subdomain_name(name.as_text(), false));
    }
}

fn validate_common(spec: &Node<'_, '_>, errors: &mut FieldErrors) {
    let param_ref = spec.child("paramRef");
    if param_ref.is_set() {
        validate_param_ref(&param_ref, errors);
    }
    match_resources(&spec.child("matchResources"), errors);
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateParamRef
fn validate_param_ref(param_ref: &Node<'_, '_>, errors: &mut FieldErrors) {
    const EXCLUSIVE: &str = "name and selector are mutually exclusive";
    let name = param_ref.child("name");
    let selector = param_ref.child("selector");
    let has_name = !name.as_text().is_empty();
    if has_name {
        errors
            .list
            .invalid_each(&name, &path_segment_name(name.as_text(), false));
        if selector.is_set() {
            errors.list.forbidden(name, EXCLUSIVE);
        }
    }
    if selector.is_set() {
        validate_selector(&selector, false, &mut errors.list);
        if has_name {
            errors.list.forbidden(selector, EXCLUSIVE);
        }
    }
    if !has_name && !selector.is_set() {
        errors
            .list
            .required(param_ref, "one of name or selector must be specified");
    }
    let action = param_ref.child("parameterNotFoundAction");
    if action.as_text().is_empty() {
        errors.list.required(action, "");
    } else if !NOT_FOUND_ACTIONS.contains(&action.as_text()) {
        errors.not_supported(&action, NOT_FOUND_ACTIONS);
    }
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateValidationActions
fn validate_actions(actions: &Node<'_, '_>, errors: &mut FieldErrors) {
    let mut used = HashSet::new();
    for action in actions.items() {
        if !ACTIONS.contains(&action.as_text()) {
            errors.not_supported(&action, ACTIONS);
        }
        if !used.insert(action.as_text()) {
            errors.list.duplicate(action, named(action.as_text()));
        }
    }
    if used.contains("Deny") && used.contains("Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information \
            in the API response and headers serves no purpose)";
        errors.list.invalid_value(actions, detail);
    }
}
