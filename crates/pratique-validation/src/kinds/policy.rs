//! PodDisruptionBudgets and PriorityClasses.

use pratique_types::field::Error;

use super::apps::{validate_at_most_all, validate_int_or_percent};
use super::{KindRules, Request};
use crate::conditions::validate_conditions;
use crate::errors::Errors;
use crate::internal::internal_json;
use crate::messages::subdomain_name;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::pod::validate_preemption_policy;
use crate::selector::{has_invalid_values, validate_selector};

pub(super) const KINDS: &[KindRules] = &[
    KindRules {
        group: "policy",
        kind: "PodDisruptionBudget",
        is_namespaced: true,
        create: validate_budget,
        update: validate_budget,
        subresources: &[("status", validate_budget_status)],
    },
    KindRules {
        group: "scheduling.k8s.io",
        kind: "PriorityClass",
        is_namespaced: false,
        create: validate_priority_class,
        update: validate_priority_class_update,
        subresources: &[],
    },
];

// Upstream: pkg/apis/policy/validation/validation.go, ValidatePodDisruptionBudgetSpec
fn validate_budget(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let (available, unavailable) = (spec.child("minAvailable"), spec.child("maxUnavailable"));
    if available.is_set() && unavailable.is_set() {
        let value = internal_json(errors.release(), "policy.PodDisruptionBudgetSpec", spec.value());
        errors.invalid(spec, value, "minAvailable and maxUnavailable cannot be both set");
    }
    for value in [&available, &unavailable] {
        if value.is_set() {
            validate_int_or_percent(value, errors);
            validate_at_most_all(value, errors);
        }
    }
    let allows_invalid = has_invalid_values(&old.child("selector"));
    validate_selector(&spec.child("selector"), allows_invalid, errors);
    let eviction = spec.child("unhealthyPodEvictionPolicy");
    if eviction.is_set() && !["AlwaysAllow", "IfHealthyBudget"].contains(&eviction.as_text()) {
        errors.not_supported(&eviction, &["AlwaysAllow", "IfHealthyBudget"]);
    }
}

// Upstream: pkg/apis/policy/validation/validation.go, ValidatePodDisruptionBudgetStatusUpdate
fn validate_budget_status(request: &Request<'_>, errors: &mut Errors) {
    let status = request.object.child("status");
    validate_conditions(&status.child("conditions"), errors);
    for name in [
        "disruptionsAllowed",
        "currentHealthy",
        "desiredHealthy",
        "expectedPods",
    ] {
        errors.nonnegative(&status.child(name));
    }
}

const HIGHEST_USER_PRIORITY: i64 = 1_000_000_000;
/// The classes of the system with their values.
const SYSTEM_CLASSES: &[(&str, i64)] = &[
    ("system-node-critical", 2 * HIGHEST_USER_PRIORITY + 1000),
    ("system-cluster-critical", 2 * HIGHEST_USER_PRIORITY),
];

// Upstream: pkg/apis/scheduling/validation/validation.go, ValidatePriorityClass
fn validate_priority_class(request: &Request<'_>, errors: &mut Errors) {
    let (metadata, value) = (request.object.child("metadata"), request.object.child("value"));
    validate_core_meta(&metadata, false, subdomain_name, errors);
    let name = metadata.child("name");
    if name.as_text().starts_with("system-") {
        let is_default = request.object.child("globalDefault").is_true();
        if let Some(why) = unknown_system_class(name.as_text(), value.int(), is_default) {
            let detail = format!(
                "priority class names with 'system-' prefix are reserved for system use only. error: {why}"
            );
            errors.forbidden(name, &detail);
        }
    } else if value.int() > HIGHEST_USER_PRIORITY {
        let detail = format!("maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}");
        errors.forbidden(value, &detail);
    }
    let policy = request.object.child("preemptionPolicy");
    if policy.is_set() {
        validate_preemption_policy(&policy, errors);
    }
}

/// Why a class is none of the system's.
// Upstream: pkg/apis/scheduling/v1/helpers.go, IsKnownSystemPriorityClass
fn unknown_system_class(name: &str, value: i64, is_default: bool) -> Option<String> {
    let Some((_, expected)) = SYSTEM_CLASSES.iter().find(|(known, _)| *known == name) else {
        return Some(format!("{name} is not a known system priority class"));
    };
    if *expected != value {
        return Some(format!("value of {name} PriorityClass must be {expected}"));
    }
    is_default.then(|| format!("globalDefault of {name} PriorityClass must be false"))
}

// Upstream: pkg/apis/scheduling/validation/validation.go, ValidatePriorityClassUpdate
fn validate_priority_class_update(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    let value = object.child("value");
    if value.int() != old.child("value").int() {
        // Upstream: pkg/apis/scheduling/validation/validation.go, ValidatePriorityClassUpdate: forbidden before 1.38.
        if errors.release().at_least(1, 38) {
            errors.invalid(value, value.int(), crate::errors::IMMUTABLE);
        } else {
            errors.push(Error::forbidden(value, "may not be changed in an update."));
        }
    }
    let policy = object.child("preemptionPolicy");
    if policy.value() != old.child("preemptionPolicy").value() {
        errors.invalid(
            policy,
            internal_json(errors.release(), "*core.PreemptionPolicy", policy.value()),
            crate::errors::IMMUTABLE,
        );
    }
}
