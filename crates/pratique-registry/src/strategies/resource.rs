//! `resource.k8s.io`.
// Upstream: pkg/registry/resource/*/strategy.go

use pratique_json::{Object, Value};

use crate::object::{self, Path};
use crate::strategy::{Context, Endpoint, Strategy};

const GROUP: &str = "resource.k8s.io";

pub(super) const STRATEGIES: &[Strategy] = &[
    Strategy::new(GROUP, "DeviceClass").generation(&[&["spec"]]),
    Strategy::new(GROUP, "DeviceTaintRule")
        .generation(&[&["spec"]])
        .status(Endpoint::STATUS_ONLY)
        .prepare(|_, _| {}, update_taint_rule),
    Strategy::new(GROUP, "ResourceClaim").status(Endpoint::STATUS_ONLY.and(update_claim_status)),
    Strategy::new(GROUP, "ResourceClaimTemplate"),
    Strategy::new(GROUP, "ResourcePoolStatusRequest")
        .conditional()
        .status(Endpoint::STATUS_ONLY),
    Strategy::new(GROUP, "ResourceSlice")
        .generation(&[&["spec"]])
        .counted_first()
        .prepare(
            |_, object| drop_slice_fields(object, None),
            |_, object, old| drop_slice_fields(object, Some(old)),
        ),
];

const TIME_ADDED: Path<'static> = &["spec", "taint", "timeAdded"];

/// A taint with another effect is a new one.
fn update_taint_rule(context: &mut Context<'_>, object: &mut Value<'static>, old: &Value<'static>) {
    let changed = !object::same(object, old, &["spec", "taint", "effect"]);
    if changed && object::same(object, old, TIME_ADDED) {
        object::set(object, TIME_ADDED, context.placeholders.time.clone());
    }
}

/// The status of devices that are no longer allocated is dropped.
// Upstream: pkg/registry/resource/resourceclaim/strategy.go, dropDeallocatedStatusDevices
fn update_claim_status(_: &mut Context<'_>, object: &mut Value<'static>, old: &Value<'static>) {
    let allocated = |of: &Value<'static>| -> Vec<[String; 4]> {
        let results = object::list(of, &["status", "allocation", "devices", "results"]);
        results.iter().map(device).collect()
    };
    let now = allocated(object);
    let mut deallocated = allocated(old);
    deallocated.retain(|device| !now.contains(device));
    let devices: Path<'_> = &["status", "devices"];
    let mut left = object::list(object, devices).to_vec();
    left.retain(|status| !deallocated.contains(&device(status)));
    match left.is_empty() {
        true => drop(object::remove(object, devices)),
        false => object::set(object, devices, left),
    }
}

/// The identity of a device.
fn device(of: &Value<'static>) -> [String; 4] {
    ["driver", "pool", "device", "shareID"].map(|name| object::text(of, &[name]).to_owned())
}

/// Fields of attributes behind a gate that is off.
const LISTS: [&str; 4] = ["bools", "ints", "strings", "versions"];
const MAPPINGS: &str = "nodeAllocatableResourceMappings";

/// Drops fields behind gates that are off, unless the old object uses them.
fn drop_slice_fields(object: &mut Value<'static>, old: Option<&Value<'static>>) {
    let path: Path<'_> = &["spec", "devices"];
    let before = old.map(|old| object::list(old, path)).unwrap_or_default();
    let maps_resources = before
        .iter()
        .any(|device| device.get(MAPPINGS).is_some_and(|of| !of.is_empty()));
    let has_lists = before
        .iter()
        .any(|device| attributes(device).any(|of| LISTS.iter().any(|list| object::has(of, &[list]))));
    for device in object::list_mut(object, path) {
        // In `v1beta1` the fields of a device are one level deeper.
        let device = match device.get("basic").is_some() {
            true => device.get_mut("basic"),
            false => Some(device),
        };
        let Some(device) = device else {
            continue;
        };
        if !maps_resources {
            object::remove(device, &[MAPPINGS]);
        }
        if let (false, Some(Value::Object(attributes))) = (has_lists, device.get_mut("attributes")) {
            for attribute in attributes.values_mut() {
                for list in LISTS {
                    object::remove(attribute, &[list]);
                }
            }
        }
    }
}

fn attributes<'v>(device: &'v Value<'static>) -> impl Iterator<Item = &'v Value<'static>> {
    let attributes = device.get("attributes").and_then(Value::as_object);
    attributes
        .into_iter()
        .flat_map(Object::iter)
        .map(|(_, attribute)| attribute)
}
