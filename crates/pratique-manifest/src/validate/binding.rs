//! Bindings of both kinds of policy.

use std::collections::HashSet;

use super::errors::FieldErrors;
use super::matching::{match_resources, mutating_operations, path_segment};
use super::metadata::subdomain;
use super::selector::validate_selector;
use super::view::View;

const ACTIONS: &[&str] = &["Audit", "Deny", "Warn"];
const NOT_FOUND_ACTIONS: &[&str] = &["Deny", "Allow"];

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateValidatingAdmissionPolicyBindingSpec
pub(super) fn validate_validating(spec: &View<'_>, errors: &mut FieldErrors) {
    common(spec, errors);
    validation_actions(&spec.field("validationActions"), errors);
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateMutatingAdmissionPolicyBindingSpec
pub(super) fn validate_mutating(spec: &View<'_>, errors: &mut FieldErrors) {
    common(spec, errors);
    mutating_operations(&spec.field("matchResources"), errors);
}

fn common(spec: &View<'_>, errors: &mut FieldErrors) {
    let policy_name = spec.field("policyName");
    if policy_name.text().is_empty() {
        errors.required(&policy_name, "");
    } else {
        subdomain(&policy_name, errors);
    }
    let param_ref = spec.field("paramRef");
    if !param_ref.is_absent() {
        validate_param_ref(&param_ref, errors);
    }
    match_resources(&spec.field("matchResources"), errors);
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateParamRef
fn validate_param_ref(param_ref: &View<'_>, errors: &mut FieldErrors) {
    const EXCLUSIVE: &str = "name and selector are mutually exclusive";
    let name = param_ref.field("name");
    let selector = param_ref.field("selector");
    let named = !name.text().is_empty();
    if named {
        path_segment(&name, errors);
        if !selector.is_absent() {
            errors.forbidden(&name, EXCLUSIVE);
        }
    }
    if !selector.is_absent() {
        validate_selector(&selector, errors);
        if named {
            errors.forbidden(&selector, EXCLUSIVE);
        }
    }
    if !named && selector.is_absent() {
        errors.required(param_ref, "one of name or selector must be specified");
    }
    let action = param_ref.field("parameterNotFoundAction");
    if action.text().is_empty() {
        errors.required(&action, "");
    } else if !NOT_FOUND_ACTIONS.contains(&action.text()) {
        errors.not_supported(&action, action.text(), NOT_FOUND_ACTIONS);
    }
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateValidationActions
fn validation_actions(actions: &View<'_>, errors: &mut FieldErrors) {
    let mut used = HashSet::new();
    for action in actions.items() {
        if !ACTIONS.contains(&action.text()) {
            errors.not_supported(&action, action.text(), ACTIONS);
        }
        if !used.insert(action.text().to_owned()) {
            errors.duplicate_enum(&action);
        }
    }
    if used.contains("Deny") && used.contains("Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information \
            in the API response and headers serves no purpose)";
        errors.invalid_json(actions, &actions.json(), detail);
    }
    if used.is_empty() {
        errors.required(actions, "at least one validation action is required");
    }
}
