//! The devices that were allocated for a claim.

use super::capacity::validate_capacity_names;
use super::configuration::validate_configuration;
use super::limits::{ListLimit, validate_list};
use super::names::{validate_covered_driver, validate_covered_uid, validate_label, validate_pool_name};
use super::requests::{MAX_REQUESTS, RequestNames, validate_request_name, validate_request_names};
use super::taints::validate_toleration;
use crate::errors::Errors;
use crate::internal::internal_json;
use crate::node::Node;
use crate::pod::validate_node_selector;
use crate::seen_texts::SeenTexts;
use crate::selector::validate_label_name;

// Upstream: pkg/apis/resource/validation/validation.go, validateAllocationResult
pub(super) fn validate_allocation(allocation: &Node<'_, '_>, names: &RequestNames<'_>, errors: &mut Errors) {
    let devices = allocation.child("devices");
    validate_list(
        &devices.child("results"),
        ListLimit::Covered(MAX_REQUESTS),
        errors,
        |of, errors| {
            validate_result(of, names, errors);
        },
    );
    validate_list(
        &devices.child("config"),
        ListLimit::Covered(64),
        errors,
        |of, errors| {
            let (source, start) = (of.child("source"), errors.len());
            errors.required_enum(&source, &["FromClaim", "FromClass"]);
            errors.cover_from(start, "");
            validate_request_names(&of.child("requests"), names, errors);
            validate_configuration(of, false, errors);
        },
    );
    let selector = allocation.child("nodeSelector");
    if selector.is_set() {
        validate_node_selector(&selector, false, errors);
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceRequestAllocationResult
fn validate_result(result: &Node<'_, '_>, names: &RequestNames<'_>, errors: &mut Errors) {
    validate_request_name(&result.child("request"), names, errors);
    validate_covered_driver(&result.child("driver"), errors);
    let start = errors.len();
    validate_pool_name(&result.child("pool"), errors);
    errors.cover_from(start, "format=k8s-resource-pool-name");
    validate_label(&result.child("device"), errors);
    validate_binding(result, errors);
    // Upstream: pkg/apis/resource/validation/validation.go, validateDeviceRequestAllocationResult: since 1.37.
    if errors.release().at_least(1, 37) {
        for toleration in result.child("tolerations").items() {
            validate_toleration(&toleration, errors);
        }
    }
    let share = result.child("shareID");
    if share.is_set() {
        validate_covered_uid(&share, errors);
    }
    validate_skipped_operations(&result.child("skipNodeOperations"), errors);
    // Since 1.38.
    if errors.release().at_least(1, 38) {
        validate_capacity_names(&result.child("consumedCapacity"), errors);
    }
}

/// The conditions for which a device waits, and those that end the waiting.
// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceBindingParameters
pub(super) fn validate_binding(of: &Node<'_, '_>, errors: &mut Errors) {
    let (conditions, failures) = (
        of.child("bindingConditions"),
        of.child("bindingFailureConditions"),
    );
    for list in [&conditions, &failures] {
        validate_list(list, ListLimit::Covered(4), errors, |name, errors| {
            validate_label_name(name, errors)
        });
    }
    let mut seen = SeenTexts::default();
    for condition in conditions
        .items()
        .filter(|condition| !seen.insert(condition.as_text()))
    {
        errors.duplicate(condition, condition.as_text());
    }
    let mut seen_failures = SeenTexts::default();
    for failure in failures.items() {
        if !seen_failures.insert(failure.as_text()) {
            errors.duplicate(failure, failure.as_text());
        }
        if seen.contains(failure.as_text()) {
            let detail = "bindingFailureConditions must not overlap with bindingConditions";
            errors.invalid(failure, failure.as_text(), detail);
        }
    }
    let release = errors.release();
    let empty = |list: &Node<'_, '_>| internal_json(release, "[]string", list.value());
    if conditions.is_empty() && !failures.is_empty() {
        let detail = "bindingConditions are required to use bindingFailureConditions";
        errors.invalid(conditions, empty(&conditions), detail);
    }
    if failures.is_empty() && !conditions.is_empty() {
        let detail = "bindingFailureConditions are required to use bindingConditions";
        errors.invalid(failures, empty(&failures), detail);
    }
}

/// What is not prepared cannot but be left unprepared.
// Upstream: pkg/apis/resource/validation/validation.go, validateSkipNodeOperations
pub(super) fn validate_skipped_operations(operations: &Node<'_, '_>, errors: &mut Errors) {
    let has = |name: &str| operations.items().any(|operation| operation.as_text() == name);
    if has("NodePrepareResources") && !has("NodeUnprepareResources") && !has("*") {
        errors.invalid(
            operations,
            internal_json(errors.release(), "[]string", operations.value()),
            "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped",
        );
    }
}
