//! The devices of slices.

use pratique_gotext::validation::dns1123_subdomain;
use pratique_json::Value;
use pratique_types::field::{BadValue, Path};

use super::attributes::{count_values, validate_attribute};
use super::capacity::validate_policy;
use super::limits::{ListLimit, SetKey, validate_list, validate_map, validate_set};
use super::names::{MAX_QUALIFIED_NAME, validate_label, validate_qualified_name};
use super::node_resources::validate_node_resources;
use super::results::validate_binding;
use super::slices::validate_counters;
use super::taints::validate_taint;
use crate::errors::Errors;
use crate::node::{Node, is_same};
use crate::pod::validate_node_selector;

const COUNTER_SETS: SetKey = SetKey {
    text: |element| element.child("counterSet").text(),
    is_covered: true,
    is_named: false,
};

/// A device beside the old one of that name.
// Upstream: pkg/apis/resource/validation/validation.go, validateDevice
pub(super) fn validate_device(
    device: &Node<'_, '_>,
    old: Option<&Value<'_>>,
    selects_nodes: bool,
    errors: &mut Errors,
) {
    validate_label(&device.child("name"), errors);
    let (attributes, capacity, taints) = (
        device.child("attributes"),
        device.child("capacity"),
        device.child("taints"),
    );
    validate_size(device, errors);
    validate_map(
        &attributes,
        MAX_QUALIFIED_NAME,
        errors,
        validate_qualified_name,
        validate_attribute,
    );
    let is_old = |field: &Node<'_, '_>, name: &str| {
        old.is_some_and(|old| is_same(field.value(), old.get(name).unwrap_or(&Value::Null)))
    };
    if !is_old(&capacity, "capacity") {
        let is_shared = device.child("allowMultipleAllocations").is_true();
        validate_map(
            &capacity,
            MAX_QUALIFIED_NAME,
            errors,
            validate_qualified_name,
            |capacity, errors| {
                validate_policy(capacity, is_shared, errors);
            },
        );
    }
    if !is_old(&taints, "taints") {
        validate_list(&taints, ListLimit::Max(16), errors, |taint, errors| {
            validate_taint(taint, &Node::absent(Path::ROOT), errors);
        });
    }
    let counters = device.child("consumesCounters");
    validate_set(
        &counters,
        ListLimit::Covered(2),
        &COUNTER_SETS,
        errors,
        |of, errors| {
            validate_counters(of, "counterSet", errors);
        },
    );
    if selects_nodes {
        validate_nodes(device, errors);
    } else if ["nodeName", "nodeSelector", "allNodes"]
        .iter()
        .any(|name| device.child(name).is_set())
    {
        let detail = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the \
                      ResourceSlice spec";
        errors.invalid(device, BadValue::Prepared("null".into()), detail);
    }
    validate_binding(device, errors);
    validate_node_resources(&device.child("nodeAllocatableResources"), &capacity, errors);
}

fn validate_size(device: &Node<'_, '_>, errors: &mut Errors) {
    const MAX: usize = 32;
    const MAX_VALUES: usize = 48;
    let number = |of: usize| i64::try_from(of).unwrap_or(i64::MAX);
    let count = device
        .child("attributes")
        .len()
        .saturating_add(device.child("capacity").len());
    if count > MAX {
        let detail = format!("the total number of attributes and capacities must not exceed {MAX}");
        errors.invalid(device, number(count), &detail);
    }
    let values = count_values(&device.child("attributes"));
    if values > MAX_VALUES {
        let detail = format!("the total number of attribute values must not exceed {MAX_VALUES}");
        errors.invalid(device, number(values), &detail);
    }
}

/// The nodes that have the device, which are given in exactly one way.
fn validate_nodes(device: &Node<'_, '_>, errors: &mut Errors) {
    const DETAIL: &str = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is \
                          set to true in the ResourceSlice spec";
    let mut ways = Vec::new();
    let (name, selector, all) = (
        device.child("nodeName"),
        device.child("nodeSelector"),
        device.child("allNodes"),
    );
    if name.is_set() && name.text().is_empty() {
        errors.invalid(name, "", "must not be empty");
    } else if name.is_set() {
        ways.push("`nodeName`");
        validate_node_name(&name, errors);
    }
    if selector.is_set() {
        ways.push("`nodeSelector`");
        validate_node_selector(&selector, false, errors);
    }
    match all.some_bool() {
        Some(true) => ways.push("`allNodes`"),
        Some(false) => errors.invalid(all, false, "must be either unset or set to true"),
        None => {}
    }
    match ways.len() {
        0 => errors.required(device, DETAIL),
        1 => {}
        _ => errors.invalid(device, format!("{{{}}}", ways.join(", ")).as_str(), DETAIL),
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validateNodeName
pub(super) fn validate_node_name(name: &Node<'_, '_>, errors: &mut Errors) {
    for message in dns1123_subdomain(name.text()) {
        errors.invalid(name, name.text(), &message);
    }
}
