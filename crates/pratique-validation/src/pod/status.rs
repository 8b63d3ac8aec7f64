//! The status of a Pod, which the kubelet and controllers write.

use std::collections::HashSet;

use pratique_gotext::validation::dns1123_label;

use super::annotations::validate_annotation_updates;
use super::container_statuses::{validate_container_statuses, validate_transitions};
use super::options::PodOptions;
use crate::addresses::{is_dual_stack, validate_legacy_ip_at};
use crate::conditions::validate_health_reasons;
use crate::errors::{Errors, IMMUTABLE, named};
use crate::gates::FeatureSet;
use crate::internal::internal_json;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::validate_core_meta_update;
use crate::quantities::quantity;
use crate::seen_texts::SeenTexts;
use crate::selector::validate_label_name;

const NEGATIVE_GENERATION: &str = "must be a non-negative integer";

// Upstream: pkg/apis/core/validation/validation.go, ValidatePodStatusUpdate
pub(crate) fn validate_pod_status(
    pod: &Node<'_, '_>,
    old: &Node<'_, '_>,
    gates: FeatureSet,
    errors: &mut Errors,
) {
    let (metadata, old_metadata) = (pod.child("metadata"), old.child("metadata"));
    let (spec, old_spec) = (pod.child("spec"), old.child("spec"));
    let (status, old_status) = (pod.child("status"), old.child("status"));
    let annotations = metadata.child("annotations");
    let options = PodOptions::from_old(&old_spec, &old_metadata.child("annotations")).with_gates(gates);
    validate_core_meta_update(&metadata, &old_metadata, errors);
    validate_annotation_updates(&annotations, &old_metadata.child("annotations"), errors);
    super::validate_pod_annotations(&annotations, &spec, options, errors);
    validate_conditions(&status.child("conditions"), errors);
    validate_nomination(&status, &old_status, &old_spec, gates, errors);
    let generation = status.child("observedGeneration");
    if generation.int() < 0 {
        errors.invalid(generation, generation.int(), NEGATIVE_GENERATION);
    }
    let class = status.child("qosClass");
    if class.as_text() != old_status.child("qosClass").as_text() {
        errors.invalid_name(&class, IMMUTABLE);
    }
    validate_transitions(&status, &old_status, &old_spec, gates, errors);
    validate_claim_statuses(&status, &spec, errors);
    validate_extended_claim(&status.child("extendedResourceClaimStatus"), &spec, errors);
    validate_allocatable_statuses(&status, &spec, errors);
    validate_volume_health(&status.child("volumeHealth"), &spec.child("volumes"), errors);
    validate_pod_addresses(&status, &old_status, errors);
    validate_host_addresses(&status, &old_status, errors);
    validate_container_statuses(&status, &spec, errors);
}

// Upstream: pkg/apis/core/validation/validation.go, validatePodConditions
fn validate_conditions(conditions: &Node<'_, '_>, errors: &mut Errors) {
    for condition in conditions.items() {
        let generation = condition.child("observedGeneration");
        if generation.int() < 0 {
            errors.invalid(generation, generation.int(), NEGATIVE_GENERATION);
        }
        let kind = condition.child_as("type", "Type");
        if !["PodScheduled", "Ready", "Initialized"].contains(&kind.as_text()) {
            validate_label_name(&kind, errors);
        }
    }
}

/// The node that a Pod may be put on after others were removed from it.
fn validate_nomination(
    status: &Node<'_, '_>,
    old_status: &Node<'_, '_>,
    old_spec: &Node<'_, '_>,
    gates: FeatureSet,
    errors: &mut Errors,
) {
    let node = status.child("nominatedNodeName");
    if node.as_text().is_empty() || node.as_text() == old_status.child("nominatedNodeName").as_text() {
        return;
    }
    errors.invalid_each(&node, &subdomain_name(node.as_text(), false));
    if gates.clears_nominations && !old_spec.child("nodeName").as_text().is_empty() {
        errors.forbidden(node, "may not be set on pods that are already bound to a node");
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validatePodResourceClaimStatuses
fn validate_claim_statuses(status: &Node<'_, '_>, spec: &Node<'_, '_>, errors: &mut Errors) {
    let statuses = status.child("resourceClaimStatuses");
    if statuses.is_empty() {
        return;
    }
    let mut names = SeenTexts::default();
    let known = names_in(&spec.child("resourceClaims"));
    for claim in statuses.items() {
        let name = claim.child("name");
        if !known.contains(name.as_text()) {
            errors.invalid(
                name,
                name.as_text(),
                "must match the name of an entry in `spec.resourceClaims`",
            );
        }
        if !names.insert(name.as_text()) {
            errors.duplicate(name, name.as_text());
        }
        let claim_name = claim.child("resourceClaimName");
        // Upstream: pkg/apis/core/validation/validation.go, validatePodResourceClaimStatuses: before 1.36, the path was that of the name.
        let field = if errors.release().at_least(1, 36) {
            claim_name
        } else {
            name
        };
        if claim_name.is_set() {
            for message in subdomain_name(claim_name.as_text(), false) {
                errors.invalid(field, claim_name.as_text(), &message);
            }
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validatePodVolumeHealth
fn validate_volume_health(statuses: &Node<'_, '_>, volumes: &Node<'_, '_>, errors: &mut Errors) {
    if statuses.is_empty() {
        return;
    }
    let known = names_in(volumes);
    for status in statuses.items() {
        let name = status.child("name");
        if !name.as_text().is_empty() && !known.contains(name.as_text()) {
            errors.not_found(name, name.as_text());
        }
        validate_health_reasons(&status.child("healthConditions"), errors);
    }
}

/// The names of the elements of a list.
fn names_in<'v>(list: &Node<'_, 'v>) -> HashSet<&'v str> {
    list.items()
        .map(|element| element.child("name").as_text())
        .collect()
}

// Upstream: pkg/apis/core/validation/validation.go, validatePodExtendedResourceClaimStatus
fn validate_extended_claim(claim: &Node<'_, '_>, spec: &Node<'_, '_>, errors: &mut Errors) {
    if !claim.is_set() {
        return;
    }
    let mappings = claim.child("requestMappings");
    if mappings.is_empty() {
        errors.required(mappings, "at least one request mapping is required");
    }
    let mut keys = HashSet::new();
    for mapping in mappings.items() {
        let (container, resource, request) = (
            mapping.child("containerName"),
            mapping.child("resourceName"),
            mapping.child("requestName"),
        );
        match requests_of(spec, container.as_text(), resource.as_text()) {
            None => errors.invalid_or_empty(
                &container,
                "must match the name of an entry in spec.initContainers.name or spec.containers.name",
            ),
            Some(false) => errors.invalid_or_empty(
                &resource,
                "must match the extended resource name of an entry in spec.initContainers.resources.requests or \
                 spec.containers.resources.requests",
            ),
            Some(true) => {}
        }
        for message in dns1123_label(request.as_text()) {
            // The path leaves out the mapping.
            errors.invalid(claim.path().child("requestName"), request.as_text(), &message);
        }
        // Before 1.35, the request was not looked at.
        let has_request = errors.release().at_least(1, 35);
        let request_name = if has_request { request.as_text() } else { "" };
        if !keys.insert([container.as_text(), resource.as_text(), request_name]) {
            let count = if has_request { 3 } else { 2 };
            for field in [container, resource, request].iter().take(count) {
                errors.duplicate(field, field.as_text());
            }
        }
    }
    let name = claim.child("resourceClaimName");
    if name.as_text().is_empty() {
        errors.required(name, "");
    } else {
        errors.invalid_each(&name, &subdomain_name(name.as_text(), false));
    }
}

/// Whether a container requests a resource, if there is such a container.
fn requests_of(spec: &Node<'_, '_>, container: &str, resource: &str) -> Option<bool> {
    // Of containers of the same name, the last counts.
    ["containers", "initContainers"].iter().find_map(|list| {
        let list = spec.child(list);
        let named = list
            .items()
            .filter(|other| other.child("name").as_text() == container)
            .last()?;
        let resources = named.child("resources");
        Some(resources.child("requests").key(resource).is_set())
    })
}

// Upstream: pkg/apis/core/validation/validation.go, validateNodeAllocatableResourceClaimStatus
fn validate_allocatable_statuses(status: &Node<'_, '_>, spec: &Node<'_, '_>, errors: &mut Errors) {
    let statuses = status.child("nodeAllocatableResourceClaimStatuses");
    for allocatable in statuses.items() {
        let name = allocatable.child("resourceClaimName");
        if name.as_text().is_empty() {
            continue;
        }
        let lists = [
            spec.child("resourceClaims"),
            status.child("resourceClaimStatuses"),
        ];
        let is_known = lists.iter().any(|list| {
            list.items()
                .any(|claim| claim.child("resourceClaimName").value().as_str() == Some(name.as_text()))
        });
        // Since 1.38, that of extended resources is known, too.
        let extended = status.child("extendedResourceClaimStatus");
        let is_extended = errors.release().at_least(1, 38)
            && extended.child("resourceClaimName").as_text() == name.as_text();
        if !is_known && !is_extended {
            errors.invalid_or_empty(&name, "no mapping found in pod reference");
        }
        for mapped in allocatable.child("mapping").items() {
            validate_allocatable_name(&mapped.child("name"), errors);
            validate_amount(&mapped.child("quantity"), errors);
        }
        for overhead in allocatable.child("overhead").items() {
            validate_allocatable_name(&overhead.child("name"), errors);
            let amounts = [overhead.child("perPod"), overhead.child("perContainer")];
            if amounts.iter().any(Node::is_set) {
                for amount in &amounts {
                    validate_amount(amount, errors);
                }
            } else {
                errors.invalid(overhead, "", "at least one of perPod or perContainer must be set");
            }
        }
    }
}

// Upstream: pkg/apis/core/helper/helpers.go, IsNodeAllocatableResourceName
fn validate_allocatable_name(name: &Node<'_, '_>, errors: &mut Errors) {
    let text = name.as_text();
    let is_allocatable =
        ["cpu", "memory", "ephemeral-storage"].contains(&text) || crate::quantities::is_huge_pages(text);
    if !is_allocatable {
        errors.invalid(name, named(text), "must be a node allocatable resource name");
    }
}

fn validate_amount(amount: &Node<'_, '_>, errors: &mut Errors) {
    if quantity(amount).signum() < 0 {
        errors.invalid(amount, amount.as_text(), "must be non-negative");
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validatePodIPs
fn validate_pod_addresses(status: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let (address, addresses) = (status.child("podIP"), status.child("podIPs"));
    for item in addresses.items() {
        validate_listed_address(&item, &old.child("podIPs"), errors);
    }
    validate_families(&addresses, "[]core.PodIP", errors);
    // Upstream: pkg/apis/core/validation/validation.go, validatePodIPs: since 1.37, the one and the first agree.
    if !errors.release().at_least(1, 37) {
        return;
    }
    let begins = addresses.items().next();
    match &begins {
        _ if address.as_text().is_empty() != begins.is_none() => errors.invalid(
            addresses,
            internal_json(errors.release(), "[]core.PodIP", addresses.value()),
            "podIP and podIPs must either both be set or both be unset",
        ),
        Some(first) if first.child("ip").as_text() != address.as_text() => {
            errors.invalid_or_empty(&first.child("ip"), "must be equal to `podIP`");
        }
        _ => {}
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateHostIPs
fn validate_host_addresses(status: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let (address, addresses) = (status.child("hostIP"), status.child("hostIPs"));
    if let Some(first) = addresses.items().next()
        && first.child("ip").as_text() != address.as_text()
    {
        errors.invalid_or_empty(&first.child("ip"), "must be equal to `hostIP`");
    }
    for item in addresses.items() {
        validate_listed_address(&item, &old.child("hostIPs"), errors);
    }
    validate_families(&addresses, "[]core.HostIP", errors);
}

/// An address of a list whose errors name the element and not its `ip`.
fn validate_listed_address(item: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    let text = item.child("ip").as_text();
    if !old.items().any(|old| old.child("ip").as_text() == text) {
        validate_legacy_ip_at(item, text, errors);
    }
}

fn validate_families(addresses: &Node<'_, '_>, type_name: &str, errors: &mut Errors) {
    if addresses.len() < 2 {
        return;
    }
    let families = is_dual_stack(addresses.items().map(|item| item.child("ip").as_text()));
    if let Err(fault) = &families {
        let detail = format!("failed to check for dual stack with error:{fault}");
        errors.internal(addresses, &detail);
    }
    if families != Ok(true) || addresses.len() > 2 {
        errors.invalid(
            addresses,
            internal_json(errors.release(), type_name, addresses.value()),
            "may specify no more than one IP for each IP family",
        );
    }
}
