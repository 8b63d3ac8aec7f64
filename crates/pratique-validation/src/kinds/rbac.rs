//! Roles and bindings.
//!
//! What declarative rules say of these kinds (verbs, names of subjects and of the role) is not repeated here.

use pratique_types::field::BadValue;

use super::{KindRules, Request};
use crate::errors::Errors;
use crate::messages::{path_segment_name, subdomain_name};
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::selector::{has_invalid_values, is_selector, validate_selector};

pub(super) const KINDS: &[KindRules] = &[
    KindRules {
        group: GROUP,
        kind: "Role",
        is_namespaced: true,
        create: |request, errors| validate_role(request, true, errors),
        update: |request, errors| {
            if is_validated_twice(errors) {
                validate_role(request, true, errors);
            }
            validate_role(request, true, errors);
            validate_update(request, errors);
        },
        subresources: &[],
    },
    KindRules {
        group: GROUP,
        kind: "ClusterRole",
        is_namespaced: false,
        create: validate_cluster_role,
        update: |request, errors| {
            if is_validated_twice(errors) {
                validate_cluster_role(request, errors);
            }
            validate_cluster_role(request, errors);
            validate_update(request, errors);
        },
        subresources: &[],
    },
    KindRules {
        group: GROUP,
        kind: "RoleBinding",
        is_namespaced: true,
        create: |request, errors| validate_binding(request, true, errors),
        update: |request, errors| {
            if is_validated_twice(errors) {
                validate_binding(request, true, errors);
            }
            validate_binding(request, true, errors);
            validate_update(request, errors);
            validate_same_role(request, errors);
        },
        subresources: &[],
    },
    KindRules {
        group: GROUP,
        kind: "ClusterRoleBinding",
        is_namespaced: false,
        create: |request, errors| validate_binding(request, false, errors),
        update: |request, errors| {
            if is_validated_twice(errors) {
                validate_binding(request, false, errors);
            }
            validate_binding(request, false, errors);
            validate_update(request, errors);
            validate_same_role(request, errors);
        },
        subresources: &[],
    },
];

const GROUP: &str = "rbac.authorization.k8s.io";

/// Whether a changed object is validated as a new one first, so that its errors are there twice.
// Upstream: pkg/registry/rbac, ValidateUpdate: before 1.35
fn is_validated_twice(errors: &Errors) -> bool {
    !errors.release().at_least(1, 35)
}

// Upstream: pkg/apis/rbac/validation/validation.go, ValidateRBACName
fn rbac_name(name: &str, _: bool) -> Vec<String> {
    path_segment_name(name, false)
}

fn validate_update(request: &Request<'_>, errors: &mut Errors) {
    let (metadata, old) = (request.object.child("metadata"), request.old.child("metadata"));
    validate_core_meta_update(&metadata, &old, errors);
}

// Upstream: pkg/apis/rbac/validation/validation.go, ValidateRole
fn validate_role(request: &Request<'_>, is_namespaced: bool, errors: &mut Errors) {
    validate_core_meta(
        &request.object.child("metadata"),
        is_namespaced,
        rbac_name,
        errors,
    );
    for rule in request.object.child("rules").items() {
        validate_rule(&rule, is_namespaced, errors);
    }
}

// Upstream: pkg/apis/rbac/validation/validation.go, ValidatePolicyRule
fn validate_rule(rule: &Node<'_, '_>, is_namespaced: bool, errors: &mut Errors) {
    let (verbs, urls) = (rule.child("verbs"), rule.child("nonResourceURLs"));
    if verbs.is_empty() {
        errors.required_until(38, verbs, "verbs must contain at least one value");
    }
    if !urls.is_empty() {
        if is_namespaced {
            errors.invalid_value(&urls, "namespaced rules cannot apply to non-resource URLs");
        }
        if ["apiGroups", "resources", "resourceNames"]
            .iter()
            .any(|name| !rule.child(name).is_empty())
        {
            errors.invalid_value(
                &urls,
                "rules cannot apply to both regular resources and non-resource URLs",
            );
        }
        return;
    }
    if rule.child("apiGroups").is_empty() {
        errors.required(
            rule.child("apiGroups"),
            "resource rules must supply at least one api group",
        );
    }
    if rule.child("resources").is_empty() {
        errors.required(
            rule.child("resources"),
            "resource rules must supply at least one resource",
        );
    }
}

// Upstream: pkg/apis/rbac/validation/validation.go, ValidateClusterRole
fn validate_cluster_role(request: &Request<'_>, errors: &mut Errors) {
    validate_role(request, false, errors);
    let old = request.old.child("aggregationRule");
    let allows_invalid = old
        .child("clusterRoleSelectors")
        .items()
        .any(|selector| has_invalid_values(&selector));
    let aggregation = request.object.child("aggregationRule");
    if !aggregation.is_set() {
        return;
    }
    let selectors = aggregation.child("clusterRoleSelectors");
    if selectors.is_empty() {
        errors.required(
            selectors,
            "at least one clusterRoleSelector required if aggregationRule is non-nil",
        );
    }
    for selector in selectors.items() {
        validate_selector(&selector, allows_invalid, errors);
        if !is_selector(&selector) {
            // The error prints the selector that could not be made: a nil interface.
            errors.invalid(
                selector,
                BadValue::Prepared("null".into()),
                "invalid label selector.",
            );
        }
    }
}

// Upstream: pkg/apis/rbac/validation/validation.go, ValidateRoleBinding, ValidateClusterRoleBinding
fn validate_binding(request: &Request<'_>, is_namespaced: bool, errors: &mut Errors) {
    validate_core_meta(
        &request.object.child("metadata"),
        is_namespaced,
        rbac_name,
        errors,
    );
    let role = request.object.child("roleRef");
    let group = role.child("apiGroup");
    if group.as_text() != GROUP {
        errors.unsupported_text(&group, &[GROUP]);
    }
    let kinds: &[&str] = if is_namespaced {
        &["Role", "ClusterRole"]
    } else {
        &["ClusterRole"]
    };
    let kind = role.child("kind");
    if !kinds.contains(&kind.as_text()) {
        errors.unsupported_text(&kind, kinds);
    }
    let name = role.child("name");
    if name.as_text().is_empty() {
        errors.required_covered(name, "");
    } else {
        errors.invalid_each(&name, &rbac_name(name.as_text(), false));
    }
    for subject in request.object.child("subjects").items() {
        validate_subject(&subject, is_namespaced, errors);
    }
}

// Upstream: pkg/apis/rbac/validation/validation.go, ValidateRoleBindingSubject
fn validate_subject(subject: &Node<'_, '_>, is_namespaced: bool, errors: &mut Errors) {
    let (name, group, kind) = (
        subject.child("name"),
        subject.child("apiGroup"),
        subject.child("kind"),
    );
    if name.as_text().is_empty() {
        errors.required_covered(name, "");
    }
    match kind.as_text() {
        "ServiceAccount" => {
            if !name.as_text().is_empty() {
                errors.invalid_each(&name, &subdomain_name(name.as_text(), false));
            }
            if !group.as_text().is_empty() {
                errors.unsupported_text(&group, &[""]);
            }
            if !is_namespaced && subject.child("namespace").as_text().is_empty() {
                errors.required(subject.child("namespace"), "");
            }
        }
        "User" | "Group" => {
            if group.as_text() != GROUP {
                errors.unsupported_text(&group, &[GROUP]);
            }
        }
        _ => errors.unsupported_text(&kind, &["ServiceAccount", "User", "Group"]),
    }
}

fn validate_same_role(request: &Request<'_>, errors: &mut Errors) {
    let (role, old) = (request.object.child("roleRef"), request.old.child("roleRef"));
    if role.is_same(&old) {
        return;
    }
    let text = |name: &str| pratique_json::Value::from(role.child(name).as_text()).to_string();
    let role_text = format!(
        "{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}",
        text("apiGroup"),
        text("kind"),
        text("name")
    );
    let role_text = pratique_json::escape_html(&role_text).into_owned();
    // Upstream: pkg/apis/rbac/validation/validation.go, ValidateRoleBindingUpdate: changed in 1.37
    let detail = if errors.release().at_least(1, 37) {
        crate::errors::IMMUTABLE
    } else {
        "cannot change roleRef"
    };
    let start = errors.len();
    errors.invalid(role, BadValue::Prepared(role_text.into()), detail);
    errors.cover_from(start, "immutable");
}
