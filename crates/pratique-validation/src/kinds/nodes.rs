//! Nodes.

mod config_source;
mod taints;

use pratique_types::field::{BadValue, Error};

use self::config_source::validate_config_sources;
use self::taints::{validate_node_annotations, validate_taints};
use super::{KindRules, Request};
use crate::addresses::{is_dual_stack_cidr, validate_legacy_cidr};
use crate::errors::Errors;
use crate::internal::internal_json;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::quantities::validate_resource_quantity;

pub(super) const KINDS: &[KindRules] = &[KindRules {
    group: "",
    kind: "Node",
    is_namespaced: false,
    create: |request, errors| validate_node(&request.object, errors),
    update: |request, errors| {
        validate_node(&request.object, errors);
        validate_update(request, errors);
    },
    subresources: &[("status", validate_update)],
}];

// Upstream: pkg/apis/core/validation/validation.go, ValidateNode
fn validate_node(node: &Node<'_, '_>, errors: &mut Errors) {
    let (metadata, spec, status) = (node.child("metadata"), node.child("spec"), node.child("status"));
    validate_core_meta(&metadata, false, subdomain_name, errors);
    validate_node_annotations(&metadata.child("annotations"), errors);
    validate_spec_taints(&metadata, &spec, errors);
    validate_resources(&status, errors);
    let info = status.child("nodeInfo");
    let capacity = info.child("swap").child("capacity").value();
    if !capacity.is_null() {
        // The path is none of the object's.
        let swap = metadata.path().child("nodeSwapStatus");
        errors.positive(&Node::with_path(capacity, swap.child("capacity")));
    }
    validate_declared_features(&status.child("declaredFeatures"), errors);
    validate_pod_networks(&spec.child("podCIDRs"), errors);
}

/// Taints, which errors name below `metadata`.
fn validate_spec_taints(metadata: &Node<'_, '_>, spec: &Node<'_, '_>, errors: &mut Errors) {
    let taints = spec.child("taints").value();
    validate_taints(&Node::with_path(taints, metadata.path().child("taints")), errors);
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateNodeResources
fn validate_resources(status: &Node<'_, '_>, errors: &mut Errors) {
    for list in ["capacity", "allocatable"] {
        let list = status.child(list);
        for (name, _) in list.entries() {
            validate_resource_quantity(name, &list.child(name), errors);
        }
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateNodeDeclaredFeatures
fn validate_declared_features(features: &Node<'_, '_>, errors: &mut Errors) {
    let mut previous: Option<&str> = None;
    for feature in features.items() {
        let name = feature.as_text();
        match previous {
            Some(previous) if previous == name => errors.duplicate(feature, name),
            Some(previous) if previous > name => {
                errors.invalid_or_empty(&feature, "list must be sorted alphabetically");
            }
            _ => {}
        }
        if let Some(fault) = feature_fault(name) {
            let quoted = pratique_gotext::strconv::quote(name);
            errors.invalid_or_empty(&feature, &format!("invalid feature name {quoted}: {fault}"));
        }
        previous = Some(name);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateNodeDeclaredFeatureName
fn feature_fault(name: &str) -> Option<&'static str> {
    if name.len() > 253 {
        return Some("must be no more than 253 characters");
    }
    let is_segment = |segment: &str| {
        segment.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let is_upper = name.starts_with(|letter: char| letter.is_ascii_uppercase());
    (!is_upper || !name.split('/').all(is_segment)).then_some(
        "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or \
         MyFeature/mySubFeature), and contain only alphanumeric characters and slashes",
    )
}

fn validate_pod_networks(networks: &Node<'_, '_>, errors: &mut Errors) {
    for network in networks.items() {
        validate_legacy_cidr(&network, network.as_text(), errors);
    }
    if networks.len() < 2 {
        return;
    }
    let families = is_dual_stack_cidr(networks.items().map(|network| network.as_text()));
    if let Err(fault) = &families {
        let detail = format!("invalid PodCIDRs. failed to check with dual stack with error:{fault}");
        errors.internal(networks, &detail);
    }
    if families != Ok(true) || networks.len() > 2 {
        errors.invalid_value(networks, "may specify no more than one CIDR for each IP family");
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateNodeUpdate
fn validate_update(request: &Request<'_>, errors: &mut Errors) {
    let (node, old) = (&request.object, &request.old);
    let (metadata, spec, status) = (node.child("metadata"), node.child("spec"), node.child("status"));
    let old_spec = old.child("spec");
    validate_core_meta_update(&metadata, &old.child("metadata"), errors);
    validate_node_annotations(&metadata.child("annotations"), errors);
    validate_resources(&status, errors);
    validate_declared_features(&status.child("declaredFeatures"), errors);
    validate_addresses(&status.child("addresses"), errors);
    validate_kept_networks(&spec.child("podCIDRs"), &old_spec.child("podCIDRs"), errors);
    validate_provider(&spec.child("providerID"), &old_spec.child("providerID"), errors);
    validate_config_sources(&spec, &status, errors);
    validate_spec_taints(&metadata, &spec, errors);
    let id = spec.child("externalID");
    if id.as_text() != old_spec.child("externalID").as_text() {
        errors.forbidden(id, "may not be updated");
    }
}

fn validate_addresses(addresses: &Node<'_, '_>, errors: &mut Errors) {
    let mut seen = std::collections::HashSet::new();
    for address in addresses.items() {
        let key = (
            address.child("type").as_text(),
            address.child("address").as_text(),
        );
        if !seen.insert(key) {
            errors.duplicate(
                address,
                internal_json(errors.release(), "core.NodeAddress", address.value()),
            );
        }
    }
}

const NETWORKS_CHANGED: &str = "node updates may not change podCIDR except from \"\" to valid";

fn validate_kept_networks(networks: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    if old.is_empty() {
        return;
    }
    // Upstream: pkg/apis/core/validation/validation.go, ValidateNodeUpdate: one error since 1.38, another for none at all.
    if errors.release().at_least(1, 38) {
        if networks.is_empty() {
            let nothing = BadValue::Prepared("null".into());
            let start = errors.len();
            errors.invalid(networks, nothing, "field cannot be cleared once set");
            errors.cover_from(start, "update");
        } else if !networks.is_same(old) {
            errors.forbidden(networks, NETWORKS_CHANGED);
        }
        return;
    }
    let others = networks.items().zip(old.items());
    let changed = others.filter(|(new, old)| new.as_text() != old.as_text()).count();
    let count = if networks.len() == old.len() { changed } else { 1 };
    for _ in 0..count {
        errors.forbidden(networks, NETWORKS_CHANGED);
    }
}

fn validate_provider(id: &Node<'_, '_>, old: &Node<'_, '_>, errors: &mut Errors) {
    if old.as_text().is_empty() || old.as_text() == id.as_text() {
        return;
    }
    // Upstream: pkg/apis/core/validation/validation.go, ValidateNodeUpdate: forbidden before 1.37.
    if !errors.release().at_least(1, 37) {
        errors.forbidden(
            id,
            "node updates may not change providerID except from \"\" to valid",
        );
        return;
    }
    let detail = match id.as_text() {
        "" => "field cannot be cleared once set",
        _ => "field cannot be modified once set",
    };
    let (nothing, start) = (BadValue::Prepared("null".into()), errors.len());
    errors.push(Error::invalid(id, nothing, detail));
    errors.cover_from(start, "update");
}
