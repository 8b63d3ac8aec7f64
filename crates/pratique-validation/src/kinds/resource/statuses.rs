//! The statuses of ResourceClaims.

use std::collections::HashSet;

use pratique_json::Value;
use pratique_schema::Release;

use super::admin_access::authorize_results;
use super::configuration::validate_raw;
use super::limits::{ListLimit, SetKey, TEXTS, validate_set};
use super::names::{validate_covered_uid, validate_label, validate_pool_name};
use super::older_versions::with_newest_form;
use super::requests::RequestNames;
use super::results::validate_allocation;
use crate::addresses::validate_interface_address;
use crate::conditions::validate_conditions;
use crate::errors::{Errors, IMMUTABLE};
use crate::internal::internal_json;
use crate::node::{Node, is_same};
use crate::object_meta::validate_core_meta_update;
use crate::pod::validate_driver_name;
use crate::rules::Request;

const UIDS: SetKey = SetKey {
    text: |element| element.child("uid").as_text(),
    member: "uid",
    is_covered: true,
    is_named: true,
};

/// A device, or a share of one: driver, pool, device, share.
type DeviceId<'v> = [&'v str; 4];

// Upstream: pkg/apis/resource/validation/validation.go, ValidateResourceClaimStatusUpdate
pub(super) fn validate_claim_status(request: &Request<'_>, errors: &mut Errors) {
    with_newest_form(request, |request| {
        authorize_results(request, errors);
        let (metadata, old) = (request.object.child("metadata"), request.old.child("metadata"));
        validate_core_meta_update(&metadata, &old, errors);
        validate_status(request, errors);
    });
}

// Upstream: pkg/apis/resource/validation/validation.go, validateResourceClaimStatusUpdate
fn validate_status(request: &Request<'_>, errors: &mut Errors) {
    let (status, old) = (request.object.child("status"), request.old.child("status"));
    let (reserved, allocation) = (status.child("reservedFor"), status.child("allocation"));
    validate_set(&reserved, ListLimit::Covered(256), &UIDS, errors, |of, errors| {
        for name in ["resource", "name", "uid"] {
            if of.child(name).as_text().is_empty() {
                errors.required(of.child(name), "");
            }
        }
    });
    validate_devices(&status, errors);
    if !reserved.is_empty() && !allocation.is_set() {
        errors.forbidden(reserved, "may not be specified when `allocated` is not set");
    } else if request
        .object
        .child("metadata")
        .child("deletionTimestamp")
        .is_set()
    {
        let old = old.child("reservedFor").value().as_array().unwrap_or_default();
        let is_new = |of: &Node<'_, '_>| !old.iter().any(|old| is_same(old, of.value()));
        if reserved.items().any(|of| is_new(&of)) {
            errors.forbidden(
                reserved,
                "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set",
            );
        }
    }
    validate_allocation_change(request, &allocation, &old.child("allocation"), errors);
}

fn validate_allocation_change(
    request: &Request<'_>,
    allocation: &Node<'_, '_>,
    old: &Node<'_, '_>,
    errors: &mut Errors,
) {
    if !allocation.is_set() {
        return;
    }
    if !old.is_set() {
        let spec = request.object.child("spec");
        let names = RequestNames::new(&spec.child("devices"));
        validate_allocation(allocation, &names, errors);
    } else if !allocation.is_same(old) {
        let start = errors.len();
        let value = internal_json(errors.release(), "*resource.AllocationResult", allocation.value());
        errors.invalid(allocation, value, IMMUTABLE);
        errors.cover_from(start, "update");
    }
}

fn validate_devices(status: &Node<'_, '_>, errors: &mut Errors) {
    let results = status.value().at(&["allocation", "devices", "results"]);
    let results = results.and_then(Value::as_array).unwrap_or_default();
    let allocated: HashSet<DeviceId<'_>> = results.iter().map(device_id).collect();
    let devices = status.child("devices");
    for device in devices.items() {
        validate_device(&device, &allocated, errors);
    }
    let mut seen = HashSet::new();
    for device in devices
        .items()
        .filter(|device| !seen.insert(device_id(device.value())))
    {
        let start = errors.len();
        // Upstream: pkg/apis/resource/validation/validation.go, validateSet: before 1.35, the path named what is equal.
        let field = if errors.release().at_least(1, 35) {
            device.path().to_string()
        } else {
            device.path().child("deviceID").to_string()
        };
        errors.duplicate(field, internal_id(device_id(device.value()), errors.release()));
        errors.cover_from(start, "");
    }
}

fn device_id<'v>(of: &'v Value<'v>) -> DeviceId<'v> {
    ["driver", "pool", "device", "shareID"]
        .map(|name| of.get(name).and_then(Value::as_str).unwrap_or_default())
}

/// A device as the JSON of the scheduler's type.
fn internal_id(id: DeviceId<'_>, release: &Release) -> pratique_types::field::BadValue<'static> {
    let [driver, pool, device, share] = id.map(|text| {
        // Upstream: dynamic-resource-allocation/api/uniquestring.go, MarshalJSON: before 1.35, a text had no form of its own.
        if release.at_least(1, 35) {
            Value::from(text).to_string()
        } else {
            "{}".to_owned()
        }
    });
    let text = format!(r#"{{"Driver":{driver},"Pool":{pool},"Device":{device},"ShareID":{share}}}"#);
    pratique_types::field::BadValue::Prepared(pratique_json::escape_html(&text).into_owned().into())
}

// Upstream: pkg/apis/resource/validation/validation.go, validateDeviceStatus
fn validate_device(device: &Node<'_, '_>, allocated: &HashSet<DeviceId<'_>>, errors: &mut Errors) {
    const MAX_CONDITIONS: i64 = 8;
    validate_driver_name(&device.child("driver"), errors);
    validate_pool_name(&device.child("pool"), errors);
    validate_label(&device.child("device"), errors);
    let (share, conditions, data) = (
        device.child("shareID"),
        device.child("conditions"),
        device.child("data"),
    );
    if share.is_set() {
        validate_covered_uid(&share, errors);
    }
    let id = device_id(device.value());
    if !allocated.contains(&id) {
        errors.invalid(
            device,
            internal_id(id, errors.release()),
            "must be an allocated device in the claim",
        );
    }
    if conditions.len() > MAX_CONDITIONS as usize {
        errors.too_many(&conditions, MAX_CONDITIONS);
    }
    validate_conditions(&conditions, errors);
    if data.is_set() {
        validate_raw(&data, false, errors);
    }
    validate_network(&device.child("networkData"), errors);
}

// Upstream: pkg/apis/resource/validation/validation.go, validateNetworkDeviceData
fn validate_network(network: &Node<'_, '_>, errors: &mut Errors) {
    let start = errors.len();
    for (name, max) in [("interfaceName", 256), ("hardwareAddress", 128)] {
        let field = network.child(name);
        if field.as_text().len() > max {
            errors.too_long(field, max as i64);
        }
    }
    errors.cover_from(start, "maxBytes");
    validate_set(
        &network.child("ips"),
        ListLimit::Covered(16),
        &TEXTS,
        errors,
        |address, errors| {
            validate_interface_address(address, errors);
        },
    );
}
