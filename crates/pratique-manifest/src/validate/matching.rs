//! Rules and match resources of policies, bindings and webhooks.

use std::collections::HashSet;

use pratique_validation::rules::{Node, path_segment_name, validate_selector};

use super::errors::FieldErrors;

pub(super) const FAILURE_POLICIES: &[&str] = &["Fail", "Ignore"];
pub(super) const MATCH_POLICIES: &[&str] = &["Equivalent", "Exact"];
pub(super) const REINVOCATION_POLICIES: &[&str] = &["IfNeeded", "Never"];
const OPERATIONS: &[&str] = &["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const MUTATING_OPERATIONS: &[&str] = &["*", "CONNECT", "CREATE", "UPDATE"];
const SCOPES: &[&str] = &["*", "Cluster", "Namespaced"];

/// A field that must have one of some values, where it is given.
pub(super) fn one_of(field: &Node<'_, '_>, supported: &[&str], errors: &mut FieldErrors) {
    if field.is_set() && !supported.contains(&field.as_text()) {
        errors.not_supported(field, supported);
    }
}

/// A field that must be given and have one of some values.
pub(super) fn required_one_of(field: &Node<'_, '_>, supported: &[&str], errors: &mut FieldErrors) {
    if !field.is_set() {
        errors.list.required(field, "");
    } else {
        one_of(field, supported, errors);
    }
}

/// `matchConstraints` of a policy.
pub(super) fn match_constraints(constraints: &Node<'_, '_>, errors: &mut FieldErrors) {
    if !constraints.is_set() {
        errors.list.required(constraints, "");
        return;
    }
    match_resources(constraints, errors);
    let rules = constraints.child("resourceRules");
    if rules.is_empty() {
        errors.list.required(rules, "");
    }
}

/// `matchConstraints` of a policy or `matchResources` of a binding, if there are any.
// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateMatchResources
pub(super) fn match_resources(resources: &Node<'_, '_>, errors: &mut FieldErrors) {
    if !resources.is_set() {
        return;
    }
    required_one_of(&resources.child("matchPolicy"), MATCH_POLICIES, errors);
    for name in ["namespaceSelector", "objectSelector"] {
        let selector = resources.child(name);
        if !selector.is_set() {
            errors.list.required(selector, "");
        } else {
            validate_selector(&selector, false, &mut errors.list);
        }
    }
    for name in ["resourceRules", "excludeResourceRules"] {
        for rule in resources.child(name).items() {
            named_rule(&rule, errors);
        }
    }
}

/// Operations that a mutating policy cannot have. The error has no index.
pub(super) fn mutating_operations(resources: &Node<'_, '_>, errors: &mut FieldErrors) {
    let rules = resources.child("resourceRules");
    for rule in rules.items() {
        for operation in rule.child("operations").items() {
            if !MUTATING_OPERATIONS.contains(&operation.as_text()) {
                errors.not_supported_at(
                    &rules.child("operations"),
                    operation.as_text(),
                    MUTATING_OPERATIONS,
                );
            }
        }
    }
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateNamedRuleWithOperations
fn named_rule(rule: &Node<'_, '_>, errors: &mut FieldErrors) {
    let mut names = HashSet::new();
    for name in rule.child("resourceNames").items() {
        errors
            .list
            .invalid_each(&name, &path_segment_name(name.as_text(), false));
        if !names.insert(name.as_text()) {
            errors.list.duplicate(name, name.as_text());
        }
    }
    rule_with_operations(rule, errors);
}

/// A rule of a webhook or a policy.
// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateRuleWithOperations
pub(super) fn rule_with_operations(rule: &Node<'_, '_>, errors: &mut FieldErrors) {
    let operations = rule.child("operations");
    required_list(&operations, "operations", errors);
    for operation in operations.items() {
        one_of(&operation, OPERATIONS, errors);
    }
    required_list(&rule.child("apiGroups"), "API groups", errors);
    let versions = rule.child("apiVersions");
    required_list(&versions, "API versions", errors);
    for version in versions.items() {
        if version.as_text().is_empty() {
            errors.list.required(version, "");
        }
    }
    resources(&rule.child("resources"), errors);
    one_of(&rule.child("scope"), SCOPES, errors);
}

/// A wildcard that has to be alone in its list.
fn alone(list: &Node<'_, '_>, wildcard: &str, others: &str, errors: &mut FieldErrors) {
    if list.len() > 1 && list.items().any(|item| item.as_text() == wildcard) {
        let detail = format!("if '{wildcard}' is present, must not specify other {others}");
        errors.list.invalid_value(list, &detail);
    }
}

/// A list that must not be empty, and has a wildcard for all.
fn required_list(list: &Node<'_, '_>, what: &str, errors: &mut FieldErrors) {
    if list.is_empty() {
        errors.list.required(list, "");
    }
    alone(list, "*", what, errors);
}

// Upstream: kubernetes/pkg/apis/admissionregistration/validation/validation.go, validateResources
fn resources(resources: &Node<'_, '_>, errors: &mut FieldErrors) {
    if resources.is_empty() {
        errors.list.required(resources, "");
    }
    let mut all_subresources = HashSet::new();
    let mut all_resources = HashSet::new();
    // As in the server, only the last resource without a subresource counts.
    let mut main_resource = false;
    for resource in resources.items() {
        let text = resource.as_text();
        if text.is_empty() {
            errors.list.required(resource, "");
            continue;
        }
        let Some((name, subresource)) = text.split_once('/') else {
            main_resource = text != "*";
            continue;
        };
        if all_subresources.contains(name) {
            errors.list.invalid(
                resource,
                text,
                &format!("if '{name}/*' is present, must not specify {text}"),
            );
        }
        if all_resources.contains(subresource) {
            errors.list.invalid(
                resource,
                text,
                &format!("if '*/{subresource}' is present, must not specify {text}"),
            );
        }
        if subresource == "*" {
            all_subresources.insert(name);
        }
        if name == "*" {
            all_resources.insert(subresource);
        }
    }
    alone(resources, "*/*", "resources", errors);
    if main_resource && resources.items().any(|resource| resource.as_text() == "*") {
        let detail = "if '*' is present, must not specify other resources without subresources";
        errors.list.invalid_value(resources, detail);
    }
}

#[cfg(test)]
mod tests {

    use super::super::mutation::PATCH_TYPES;
    use pratique_schema::Release;

    use super::*;

    /// The lists are written down because reading the table of all types takes longer than loading a manifest.
    #[test]
    fn supported_values_are_those_of_the_api() {
        let of = |name: &str| {
            Release::latest()
                .constraints()
                .for_type(&format!("admissionregistration/v1.{name}"))
        };
        for (name, field, supported) in [
            ("ValidatingAdmissionPolicySpec", "failurePolicy", FAILURE_POLICIES),
            ("MutatingAdmissionPolicySpec", "failurePolicy", FAILURE_POLICIES),
            ("ValidatingWebhook", "failurePolicy", FAILURE_POLICIES),
            ("MutatingWebhook", "failurePolicy", FAILURE_POLICIES),
            ("MatchResources", "matchPolicy", MATCH_POLICIES),
            ("ValidatingWebhook", "matchPolicy", MATCH_POLICIES),
            ("MutatingWebhook", "matchPolicy", MATCH_POLICIES),
            (
                "MutatingAdmissionPolicySpec",
                "reinvocationPolicy",
                REINVOCATION_POLICIES,
            ),
            ("MutatingWebhook", "reinvocationPolicy", REINVOCATION_POLICIES),
            ("RuleWithOperations", "scope", SCOPES),
            ("NamedRuleWithOperations", "scope", SCOPES),
            ("Mutation", "patchType", PATCH_TYPES),
        ] {
            assert_eq!(of(name).values(field), supported, "{name}.{field}");
        }
    }
}
