//! `resource`: devices, and claims of them.

use pratique_json::{Object, Value};

use super::field::{absent, empty, is_empty, pointer, text};
use super::{Context, Function};

pub(super) fn function(version: &str, name: &str) -> Option<Function> {
    Some(match (version, name) {
        (_, "Device" | "BasicDevice") => multipliers,
        ("v1beta1", "DeviceRequest") => |object, _| {
            if !is_empty(object, "deviceClassName") {
                allocation(object);
            }
        },
        (_, "DeviceSubRequest" | "ExactDeviceRequest") => |object, _| allocation(object),
        (_, "DeviceTaint") => |object, context| absent(object, "timeAdded", context.now.to_owned()),
        (_, "ResourcePoolStatusRequestSpec") => |object, _| absent(object, "limit", 100),
        _ => return None,
    })
}

fn allocation(object: &mut Object<'_>) {
    empty(object, "allocationMode", "ExactCount");
    if text(object, "allocationMode") == "ExactCount" {
        empty(object, "count", 1);
    }
}

fn multipliers(object: &mut Object<'_>, _: &Context<'_>) {
    let mappings = pointer(object, "nodeAllocatableResourceMappings");
    for mapping in mappings.into_iter().flat_map(Object::values_mut) {
        if let Value::Object(mapping) = mapping {
            absent(mapping, "allocationMultiplier", "1");
        }
    }
}
