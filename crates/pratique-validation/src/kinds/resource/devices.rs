//! The devices of slices.

use std::collections::HashMap;

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
use crate::internal::internal_json;
use crate::node::{Node, is_same};
use crate::pod::validate_node_selector;

const COUNTER_SETS: SetKey = SetKey {
    text: |element| element.child("counterSet").as_text(),
    member: "counterSet",
    is_covered: true,
    is_named: false,
};

/// A device beside the old one of that name. The sets of counters of the slice are given by their names where devices name them.
// Upstream: pkg/apis/resource/validation/validation.go, validateDevice
pub(super) fn validate_device(
    device: &Node<'_, '_>,
    old: Option<&Value<'_>>,
    selects_nodes: bool,
    known_sets: Option<&HashMap<&str, Node<'_, '_>>>,
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
    // Upstream: pkg/apis/resource/validation/validation.go, validateDevice: before 1.37, it was always validated.
    if !is_old(&capacity, "capacity") || !errors.release().at_least(1, 37) {
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
    // Upstream: pkg/apis/resource/validation/validation.go, validateDevice: before 1.35, taints were always validated.
    if !is_old(&taints, "taints") || !errors.release().at_least(1, 35) {
        validate_list(&taints, ListLimit::Max(16), errors, |taint, errors| {
            validate_taint(taint, &Node::absent(Path::ROOT), errors);
        });
    }
    let counters = device.child("consumesCounters");
    // Upstream: pkg/apis/resource/validation/validation.go, validateDevice: before 1.35, counters had a limit for the device.
    let limit = if errors.release().at_least(1, 35) {
        ListLimit::Covered(2)
    } else {
        ListLimit::None
    };
    validate_set(&counters, limit, &COUNTER_SETS, errors, |of, errors| {
        validate_counters(of, "counterSet", errors);
    });
    if let Some(known_sets) = known_sets {
        validate_counter_references(device, known_sets, errors);
    }
    // Since 1.38, after all else; see there.
    if !errors.release().at_least(1, 38) {
        validate_node_selection(device, selects_nodes, errors);
    }
    validate_binding(device, errors);
    validate_node_resources(&device.child("nodeAllocatableResources"), &capacity, errors);
}

/// The nodes that have the device.
// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceNodeSelection
pub(super) fn validate_node_selection(device: &Node<'_, '_>, selects_nodes: bool, errors: &mut Errors) {
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
}

/// Before 1.35, counters are those of the same slice, and few.
fn validate_counter_references(
    device: &Node<'_, '_>,
    known_sets: &HashMap<&str, Node<'_, '_>>,
    errors: &mut Errors,
) {
    const MAX_COUNTERS: usize = 32;
    let consumed = device.child("consumesCounters");
    let count: usize = consumed.items().map(|of| of.child("counters").len()).sum();
    if count > MAX_COUNTERS {
        let number = i64::try_from(count).unwrap_or(i64::MAX);
        let detail = format!("the total number of counters must not exceed {MAX_COUNTERS}");
        errors.invalid(device, number, &detail);
    }
    for of in consumed.items() {
        let (set, counters) = (of.child("counterSet"), of.child("counters"));
        let Some(known) = known_sets.get(set.as_text()) else {
            errors.invalid(
                set,
                set.as_text(),
                "must reference a counterSet defined in the ResourceSlice sharedCounters",
            );
            continue;
        };
        for (name, _) in counters.entries() {
            if !known.child("counters").key(name).is_set() {
                errors.invalid(
                    counters,
                    name,
                    "must reference a counter defined in the ResourceSlice sharedCounters",
                );
            }
        }
    }
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
    // Since 1.36, when attributes can be lists.
    if values > MAX_VALUES && errors.release().at_least(1, 36) {
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
    if name.is_set() && name.as_text().is_empty() {
        errors.invalid(name, "", "must not be empty");
    } else if name.is_set() {
        ways.push("`nodeName`");
        validate_node_name(&name, errors);
    }
    if selector.is_set() {
        ways.push("`nodeSelector`");
        validate_node_selector(&selector, false, errors);
        let terms = selector.child("nodeSelectorTerms");
        // Upstream: pkg/apis/resource/validation/validation.go, validateDeviceNodeSelection: since 1.38, a selector has one term.
        if terms.len() != 1 && errors.release().at_least(1, 38) {
            let value = internal_json(errors.release(), "[]core.NodeSelectorTerm", terms.value());
            errors.invalid(terms, value, "must have exactly one node selector term");
        }
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
    for message in dns1123_subdomain(name.as_text()) {
        errors.invalid(name, name.as_text(), &message);
    }
}
