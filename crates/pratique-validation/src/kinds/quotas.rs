//! ResourceQuotas and LimitRanges.

mod limit_ranges;

use super::{KindRules, Request};
use crate::errors::{Errors, IMMUTABLE, named};
use crate::internal::internal_json;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::pod::validate_resource_name;
use crate::quantities::{is_quota_resource, quantity, validate_resource_quantity};

pub(super) const KINDS: &[KindRules] = &[
    KindRules {
        group: "",
        kind: "ResourceQuota",
        is_namespaced: true,
        create: |request, errors| {
            validate_core_meta(&request.object.child("metadata"), true, subdomain_name, errors);
            validate_spec(&request.object.child("spec"), &[], errors);
            let status = request.object.child("status");
            validate_resources(&status.child("hard"), &[], errors);
            validate_resources(&status.child("used"), &[], errors);
        },
        update: validate_update,
        subresources: &[("status", |request, errors| {
            let (object, old) = (&request.object, &request.old);
            validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
            // Upstream: pkg/apis/core/validation/validation.go, ValidateResourceQuotaStatusUpdate
            let (status, old_status) = (object.child("status"), old.child("status"));
            let (old_hard, old_spec) = (old_status.child("hard"), old.child("spec"));
            let stored = [&old_hard, &old_spec.child("hard")];
            validate_resources(&status.child("hard"), &stored, errors);
            validate_resources(&status.child("used"), &[&old_status.child("used")], errors);
        })],
    },
    KindRules {
        group: "",
        kind: "LimitRange",
        is_namespaced: true,
        create: limit_ranges::validate_limit_range,
        // Upstream: pkg/registry/core/limitrange/strategy.go, ValidateUpdate
        update: limit_ranges::validate_limit_range,
        subresources: &[],
    },
];

/// Amounts by resource; since 1.38, those that are stored are not validated again.
// Upstream: pkg/apis/core/validation/validation.go, validateResourceQuotaResourceList
fn validate_resources(resources: &Node<'_, '_>, stored: &[&Node<'_, '_>], errors: &mut Errors) {
    for (name, value) in resources.entries() {
        validate_resource_name(name, &value, errors);
        if !name.contains('/') && !is_quota_resource(name) {
            errors.invalid(value, named(name), "must be a standard resource for quota");
        }
        let is_stored = stored.iter().any(|stored| {
            let old = stored.key(name);
            old.is_set() && quantity(&old) == quantity(&value)
        });
        if !is_stored || !errors.release().at_least(1, 38) {
            validate_resource_quantity(name, &value, errors);
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateResourceQuotaSpec
fn validate_spec(spec: &Node<'_, '_>, stored: &[&Node<'_, '_>], errors: &mut Errors) {
    validate_resources(&spec.child("hard"), stored, errors);
    validate_scopes(spec, errors);
    validate_scope_selector(spec, errors);
}

const SCOPES: &[&str] = &[
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "VolumeAttributesClass",
    "CrossNamespacePodAffinity",
];

/// Whether a scope means something for a resource.
// Upstream: pkg/apis/core/helper/helpers.go, IsResourceQuotaScopeValidForResource
fn applies_to(scope: &str, resource: &str) -> bool {
    const COMPUTE: &[&str] = &[
        "cpu",
        "memory",
        "limits.cpu",
        "limits.memory",
        "requests.cpu",
        "requests.memory",
    ];
    match scope {
        "Terminating"
        | "NotTerminating"
        | "NotBestEffort"
        | "PriorityClass"
        | "CrossNamespacePodAffinity" => resource == "pods" || COMPUTE.contains(&resource),
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => ["persistentvolumeclaims", "requests.storage"].contains(&resource),
        _ => true,
    }
}

/// How many of the limited resources a scope means nothing for.
fn count_inapplicable(spec: &Node<'_, '_>, scope: &str) -> usize {
    let hard = spec.child("hard");
    let names = hard.entries().map(|(name, _)| name);
    names
        .filter(|name| is_quota_resource(name) && !applies_to(scope, name))
        .count()
}

const PAIRS: &[(&str, &str)] = &[("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating")];

// Upstream: pkg/apis/core/validation/validation.go, validateResourceQuotaScopes
fn validate_scopes(spec: &Node<'_, '_>, errors: &mut Errors) {
    let scopes = spec.child("scopes");
    for scope in scopes.items() {
        if !SCOPES.contains(&scope.as_text()) {
            errors.invalid_value(&scopes, "unsupported scope");
        }
        for _ in 0..count_inapplicable(spec, scope.as_text()) {
            errors.invalid_value(&scopes, "unsupported scope applied to resource");
        }
    }
    let has = |name: &str| scopes.items().any(|scope| scope.as_text() == name);
    for _ in PAIRS.iter().filter(|(one, other)| has(one) && has(other)) {
        errors.invalid_value(&scopes, "conflicting scopes");
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateScopedResourceSelectorRequirement
fn validate_scope_selector(spec: &Node<'_, '_>, errors: &mut Errors) {
    let selector = spec.child("scopeSelector");
    let expressions = selector.child("matchExpressions");
    for requirement in expressions.items() {
        // The paths leave out the index.
        let requirement = Node::with_path(requirement.value(), *expressions.path());
        let (scope, operator) = (requirement.child("scopeName"), requirement.child("operator"));
        if !SCOPES.contains(&scope.as_text()) {
            errors.invalid_name(&scope, "unsupported scope");
        }
        for _ in 0..count_inapplicable(spec, scope.as_text()) {
            let value = internal_json(errors.release(), "core.ScopeSelector", selector.value());
            errors.invalid(expressions, value, "unsupported scope applied to resource");
        }
        let needs_exists = !["PriorityClass", "VolumeAttributesClass"].contains(&scope.as_text());
        if needs_exists && SCOPES.contains(&scope.as_text()) && operator.as_text() != "Exists" {
            errors.invalid_name(
                &operator,
                "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, \
                 ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or \
                 ResourceQuotaScopeCrossNamespacePodAffinity",
            );
        }
        validate_operator(&requirement, errors);
    }
    let has = |name: &str| {
        expressions
            .items()
            .any(|requirement| requirement.child("scopeName").as_text() == name)
    };
    for _ in PAIRS.iter().filter(|(one, other)| has(one) && has(other)) {
        let value = internal_json(
            errors.release(),
            "[]core.ResourceQuotaScope",
            spec.child("scopes").value(),
        );
        errors.invalid(expressions, value, "conflicting scopes");
    }
}

fn validate_operator(requirement: &Node<'_, '_>, errors: &mut Errors) {
    let (operator, values) = (requirement.child("operator"), requirement.child("values"));
    match operator.as_text() {
        "In" | "NotIn" => {
            if values.is_empty() {
                errors.required(
                    values,
                    "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
                );
            }
        }
        "Exists" | "DoesNotExist" => {
            if !values.is_empty() {
                errors.invalid_value(
                    &values,
                    "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
                );
            }
        }
        _ => errors.invalid_name(&operator, "not a valid selector operator"),
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateResourceQuotaUpdate; pkg/registry/core/resourcequota/strategy.go
fn validate_update(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    let (spec, old) = (object.child("spec"), old.child("spec"));
    validate_spec(&spec, &[&old.child("hard")], errors);
    let (scopes, old_scopes) = (spec.child("scopes"), old.child("scopes"));
    let covers = |one: &Node<'_, '_>, other: &Node<'_, '_>| {
        one.items()
            .all(|scope| other.items().any(|other| other.as_text() == scope.as_text()))
    };
    if !covers(&scopes, &old_scopes) || !covers(&old_scopes, &scopes) {
        let value = internal_json(errors.release(), "[]core.ResourceQuotaScope", scopes.value());
        errors.invalid(scopes, value, IMMUTABLE);
    }
}
