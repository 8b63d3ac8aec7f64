//! What a device takes from the resources of its node.

use super::names::validate_qualified_name;
use crate::errors::{Errors, named};
use crate::node::Node;
use crate::quantities::{is_huge_pages, quantity};

// Upstream: pkg/apis/resource/validation/validation.go, validateNodeAllocatableResources
pub(super) fn validate_node_resources(
    resources: &Node<'_, '_>,
    capacity: &Node<'_, '_>,
    errors: &mut Errors,
) {
    for (name, resource) in resources.entries() {
        if !matches!(name, "cpu" | "memory") && !is_huge_pages(name) {
            errors.invalid(resource, named(name), "must be a node allocatable resource name");
        }
        let (mapping, overhead) = (resource.child("mapping"), resource.child("overhead"));
        if !mapping.is_set() && !overhead.is_set() {
            errors.required(resource, "at least one of mapping or overhead must be set");
        }
        if mapping.is_set() {
            validate_mapping(&mapping, capacity, errors);
        }
        if overhead.is_set() {
            validate_overhead(&overhead, errors);
        }
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validateNodeAllocatableMapping
fn validate_mapping(mapping: &Node<'_, '_>, capacity: &Node<'_, '_>, errors: &mut Errors) {
    let (key, by_capacity, by_device) = (
        mapping.child("capacityKey"),
        mapping.child("capacityMultiplier"),
        mapping.child("deviceMultiplier"),
    );
    if key.is_set() {
        if key.as_text().is_empty() {
            errors.invalid(key, "", "capacityKey must not be an empty string");
        } else if has_invalid_name(&key, errors) {
            // What is no name is no key, either.
        } else if capacity.value().get(key.as_text()).is_none() {
            errors.not_found(key, named(key.as_text()));
        }
        if by_capacity.is_set() {
            validate_multiplier(&by_capacity, errors);
        } else {
            errors.required(
                by_capacity,
                "capacityMultiplier is required when capacityKey is set",
            );
        }
    }
    if by_device.is_set() {
        validate_multiplier(&by_device, errors);
    }
    if by_capacity.is_set() && !key.is_set() {
        errors.required(key, "capacityKey is required when capacityMultiplier is set");
    }
}

/// Since 1.38, the key is validated as one of the capacity.
fn has_invalid_name(key: &Node<'_, '_>, errors: &mut Errors) -> bool {
    let start = errors.len();
    if errors.release().at_least(1, 38) {
        validate_qualified_name(key, key.as_text(), errors);
    }
    errors.len() > start
}

fn validate_multiplier(multiplier: &Node<'_, '_>, errors: &mut Errors) {
    if quantity(multiplier).signum() <= 0 {
        errors.invalid(multiplier, multiplier.as_text(), "must be positive");
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validateNodeAllocatableOverheadMapping
fn validate_overhead(overhead: &Node<'_, '_>, errors: &mut Errors) {
    let fields = [overhead.child("perPod"), overhead.child("perContainer")];
    if fields.iter().all(|field| !field.is_set()) {
        errors.invalid(overhead, "", "at least one of perPod or perContainer must be set");
    }
    for field in fields.iter().filter(|field| quantity(field).signum() < 0) {
        errors.invalid(field, field.as_text(), "must be non-negative");
    }
}
