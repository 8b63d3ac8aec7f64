//! ResourceSlices.

use std::collections::HashMap;

use pratique_json::Value;
use pratique_schema::Release;

use super::attributes::{LIST_MEMBERS, internal_attribute};
use super::devices::{validate_device, validate_node_name, validate_node_selection};
use super::limits::{ListLimit, NAMES, SetKey, validate_map, validate_set};
use super::names::{validate_full_name, validate_label, validate_label_text, validate_pool_name};
use super::older_versions::with_newest_form;
use super::results::validate_skipped_operations;
use crate::errors::{Errors, IMMUTABLE};
use crate::internal::internal_json;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::pod::{validate_driver_name, validate_node_selector};
use crate::rules::Request;

const MAX_DEVICES: i64 = 128;

// Upstream: pkg/apis/resource/validation/validation.go, ValidateResourceSlice
pub(super) fn validate_slice(request: &Request<'_>, errors: &mut Errors) {
    with_newest_form(request, |request| {
        validate_core_meta(&request.object.child("metadata"), false, subdomain_name, errors);
        validate_spec(request, errors);
    });
}

// Upstream: pkg/apis/resource/validation/validation.go, ValidateResourceSliceUpdate
pub(super) fn validate_slice_update(request: &Request<'_>, errors: &mut Errors) {
    with_newest_form(request, |request| {
        let (metadata, old) = (request.object.child("metadata"), request.old.child("metadata"));
        validate_core_meta_update(&metadata, &old, errors);
        validate_spec(request, errors);
    });
}

// Upstream: pkg/apis/resource/validation/validation.go, validateResourceSliceSpec
fn validate_spec(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    validate_driver_name(&spec.child("driver"), errors);
    validate_pool(&spec.child("pool"), errors);
    if request.old.is_set() {
        errors.immutable(
            &spec.child("pool").child("name"),
            &old.child("pool").child("name"),
        );
        errors.immutable(&spec.child("driver"), &old.child("driver"));
        let node_name = spec.child("nodeName");
        if !node_name.is_same(&old.child("nodeName")) {
            errors.invalid(
                node_name,
                internal_json(errors.release(), "*string", node_name.value()),
                IMMUTABLE,
            );
        }
    }
    validate_nodes(&spec, errors);
    let (devices, counters) = (spec.child("devices"), spec.child("sharedCounters"));
    // Upstream: pkg/apis/resource/validation/validation.go, validateResourceSliceSpec: before 1.35, a slice had devices and their counters.
    let is_latest = errors.release().at_least(1, 35);
    if is_given(&devices) && is_given(&counters) && is_latest {
        errors.invalid(spec, "", "only one of `sharedCounters` or `devices` is allowed");
    }
    let key = SetKey {
        is_covered: false,
        ..NAMES
    };
    let by_device = spec.child("perDeviceNodeSelection");
    let old_devices = old.child("devices");
    // Upstream: pkg/apis/resource/validation/validation.go, validateResourceSliceSpec: since 1.38, a list that did not change is not
    // validated again, but for the nodes of devices where these are given otherwise.
    let is_ratcheted = errors.release().at_least(1, 38);
    let has_changed = !request.old.is_set() || !devices.is_same(&old_devices);
    let selects = by_device.is_true();
    // Before 1.35, devices name the counters of the same slice. Of sets of the same name, the last counts.
    let known_sets: Option<HashMap<&str, Node<'_, '_>>> = (!is_latest).then(|| {
        let sets = counters.items();
        sets.map(|set| (set.child("name").as_text(), set)).collect()
    });
    if has_changed || !is_ratcheted {
        validate_set(
            &devices,
            ListLimit::Max(max_devices(&devices, errors.release())),
            &key,
            errors,
            |device, errors| {
                let name = device.child("name").as_text();
                let mut old = old_devices
                    .items()
                    .filter(|old| old.child("name").as_text() == name);
                let old = old.next().map(|old| old.value());
                let old = if is_ratcheted { None } else { old };
                validate_device(device, old, selects, known_sets.as_ref(), errors);
            },
        );
    }
    let has_other_nodes = has_changed || !by_device.is_same(&old.child("perDeviceNodeSelection"));
    if is_ratcheted && has_other_nodes {
        for device in devices.items() {
            validate_node_selection(&device, selects, errors);
        }
    }
    let limit = if is_latest {
        ListLimit::Covered(8)
    } else {
        validate_counter_totals(&devices, &counters, errors);
        ListLimit::None
    };
    validate_set(&counters, limit, &NAMES, errors, validate_counter_set);
    validate_partition_type(&spec, errors);
    validate_skipped_operations(&spec.child("skipNodeOperations"), errors);
}

/// Whether there is a list, which may be empty.
fn is_given(list: &Node<'_, '_>) -> bool {
    matches!(list.value(), Value::Array(_))
}

// Upstream: pkg/apis/resource/validation/validation.go, validateResourcePool
fn validate_pool(pool: &Node<'_, '_>, errors: &mut Errors) {
    validate_pool_name(&pool.child("name"), errors);
    let (count, generation) = (pool.child("resourceSliceCount"), pool.child("generation"));
    errors.positive(&count);
    if generation.int() < 0 {
        errors.invalid(
            generation,
            generation.int(),
            "must be greater than or equal to zero",
        );
    }
}

/// The nodes that have the devices, which are given in exactly one way.
fn validate_nodes(spec: &Node<'_, '_>, errors: &mut Errors) {
    const DETAIL: &str =
        "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
    let mut ways = Vec::new();
    let (name, selector) = (spec.child("nodeName"), spec.child("nodeSelector"));
    if name.is_set() && name.as_text().is_empty() {
        errors.invalid(name, "", "must be either unset or set to a non-empty string");
    } else if name.is_set() {
        ways.push("`nodeName`");
        validate_node_name(&name, errors);
    }
    if selector.is_set() {
        ways.push("`nodeSelector`");
        validate_node_selector(&selector, false, errors);
        let terms = selector.child("nodeSelectorTerms");
        if terms.len() != 1 {
            let value = internal_json(errors.release(), "[]core.NodeSelectorTerm", terms.value());
            errors.invalid(terms, value, "must have exactly one node selector term");
        }
    }
    for (name, quoted) in [
        ("allNodes", "`allNodes`"),
        ("perDeviceNodeSelection", "`perDeviceNodeSelection`"),
    ] {
        match spec.child(name).some_bool() {
            Some(true) => ways.push(quoted),
            Some(false) => errors.invalid(spec.child(name), false, "must be either unset or set to true"),
            None => {}
        }
    }
    match ways.len() {
        0 => errors.required(spec, DETAIL),
        1 => {}
        _ => {
            let value = format!("{{{}}}", ways.join(", "));
            errors.invalid(
                spec,
                value.as_str(),
                &format!("{DETAIL}, but multiple fields are set"),
            );
        }
    }
}

/// Devices with more to say are fewer.
fn max_devices(devices: &Node<'_, '_>, release: &Release) -> i64 {
    let has_lists = |device: &Node<'_, '_>| {
        device
            .child("attributes")
            .entries()
            .any(|(_, attribute)| LIST_MEMBERS.iter().any(|list| is_given(&attribute.child(list))))
    };
    let is_advanced = |device: Node<'_, '_>| {
        !device.child("taints").is_empty()
            || !device.child("consumesCounters").is_empty()
            || (has_lists(&device) && release.at_least(1, 36))
    };
    // Upstream: pkg/apis/resource/validation/validation.go, validateResourceSliceSpec: fewer devices with taints or counters since 1.35, with lists since 1.36.
    if !release.at_least(1, 35) {
        MAX_DEVICES
    } else if devices.items().any(is_advanced) {
        MAX_DEVICES / 2
    } else {
        MAX_DEVICES
    }
}

/// Before 1.35, the counters of a slice were counted together.
fn validate_counter_totals(devices: &Node<'_, '_>, sets: &Node<'_, '_>, errors: &mut Errors) {
    const MAX_OF_DEVICES: usize = 1024;
    const MAX_SHARED: usize = 32;
    let sum = |list: &Node<'_, '_>| -> usize { list.items().map(|of| of.child("counters").len()).sum() };
    let consumed: usize = devices
        .items()
        .map(|device| sum(&device.child("consumesCounters")))
        .sum();
    for (field, count, max, what) in [
        (devices, consumed, MAX_OF_DEVICES, "counters in devices"),
        (sets, sum(sets), MAX_SHARED, "shared counters"),
    ] {
        if count > max {
            let number = i64::try_from(count).unwrap_or(i64::MAX);
            let detail = format!("the total number of {what} must not exceed {max}");
            errors.invalid(field, number, &detail);
        }
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validateCounterSet
fn validate_counter_set(set: &Node<'_, '_>, errors: &mut Errors) {
    validate_counters(set, "name", errors);
}

/// A set of counters with its name.
// Upstream: pkg/apis/resource/validation/validation.go, validateCounterSet, validateDeviceCounterConsumption
pub(super) fn validate_counters(of: &Node<'_, '_>, name: &str, errors: &mut Errors) {
    const MAX_COUNTERS: i64 = 32;
    let (is_set, name) = (name == "name", of.child(name));
    let counters = of.child("counters");
    let start = errors.len();
    let is_latest = errors.release().at_least(1, 35);
    if name.as_text().is_empty() {
        errors.required(name, "");
    } else if is_latest || is_set {
        validate_label(&name, errors);
    }
    errors.cover_from(start, "format=k8s-short-name");
    if counters.is_empty() {
        let start = errors.len();
        errors.required(counters, "");
        errors.cover_from(start, "");
    } else if counters.len() > MAX_COUNTERS as usize && is_latest {
        errors.too_many(&counters, MAX_COUNTERS);
    } else {
        let start = errors.len();
        validate_map(&counters, 63, errors, validate_label_text, |_, _| {});
        errors.cover_from(start, "format=k8s-short-name");
    }
}

// Upstream: pkg/apis/resource/validation/validation.go, validatePartitionTypeAttribute
fn validate_partition_type(spec: &Node<'_, '_>, errors: &mut Errors) {
    let attribute = spec.child("partitionTypeAttribute");
    if !attribute.is_set() {
        return;
    }
    let (name, devices) = (attribute.as_text(), spec.child("devices"));
    if !devices
        .items()
        .any(|device| !device.child("consumesCounters").is_empty())
    {
        let detail = "may only be set on a slice which declares devices that consume counters";
        errors.invalid(attribute, name, detail);
        return;
    }
    let mut name_errors = Errors::of_gates(errors.gates());
    validate_full_name(&attribute, &mut name_errors);
    if !name_errors.is_empty() {
        return;
    }
    let domain = spec.child("driver").as_text();
    let bare = name
        .strip_prefix(domain)
        .and_then(|rest| rest.strip_prefix('/'))
        .unwrap_or(name);
    for device in devices
        .items()
        .filter(|device| !device.child("consumesCounters").is_empty())
    {
        let attributes = device.child("attributes");
        let field = attributes.key(name);
        let names = [name, bare];
        match names.iter().find_map(|name| attributes.value().get(name)) {
            None => errors.required(
                field,
                "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set",
            ),
            Some(attribute) if attribute.get("string").is_none() => errors.invalid(
                field,
                internal_attribute(errors.release(), attribute),
                "must be a string value because `partitionTypeAttribute` names this attribute",
            ),
            Some(_) => {}
        }
    }
}
