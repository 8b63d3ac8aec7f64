//! CSINodes.

use pratique_gotext::validation::qualified_name;
use pratique_json::Value;

use crate::conditions::validate_reason;
use crate::errors::{Errors, IMMUTABLE};
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::messages::subdomain_name;
use crate::node::{Node, is_same};
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::pod::volume_sources::validate_driver_name;
use crate::seen_texts::SeenTexts;

// Upstream: pkg/apis/storage/validation/validation.go, ValidateCSINode
pub(super) fn validate_node(request: &Request<'_>, errors: &mut Errors) {
    let object = &request.object;
    validate_core_meta(&object.child("metadata"), false, subdomain_name, errors);
    let mut names = SeenTexts::default();
    for driver in object.child("spec").child("drivers").items() {
        validate_driver(&driver, errors);
        let name = driver.child("name");
        if !names.insert(name.as_text()) {
            errors.duplicate(name, name.as_text());
        }
        validate_topology_keys(&driver, errors);
    }
}

// Upstream: pkg/apis/storage/validation/validation.go, validateCSINodeDriver
fn validate_driver(driver: &Node<'_, '_>, errors: &mut Errors) {
    const MAX_LENGTH: usize = 256;
    validate_driver_name(&driver.child("name"), errors);
    let node = driver.child("nodeID");
    if node.as_text().is_empty() {
        errors.required(node, "");
    }
    if node.as_text().len() > MAX_LENGTH {
        errors.invalid_or_empty(&node, &format!("must be {MAX_LENGTH} characters or less"));
    }
    errors.nonnegative(&driver.child("allocatable").child("count"));
}

fn validate_topology_keys(driver: &Node<'_, '_>, errors: &mut Errors) {
    let mut keys = SeenTexts::default();
    for key in driver.child("topologyKeys").items() {
        let text = key.as_text();
        // The paths are that of the driver.
        if text.is_empty() {
            errors.required(driver, "");
        }
        if !keys.insert(text) {
            errors.duplicate(driver, text);
        }
        for message in qualified_name(text) {
            errors.invalid(driver, text, &message);
        }
    }
}

/// Drivers may come and go; of one that stays, only what can be allocated may change, where its feature is on.
// Upstream: pkg/apis/storage/validation/validation.go, ValidateCSINodeUpdate
pub(super) fn validate_node_update(request: &Request<'_>, errors: &mut Errors) {
    // Upstream: pkg/registry/storage/csinode/strategy.go, ValidateUpdate: twice before 1.36.
    if !errors.release().at_least(1, 36) {
        validate_node(request, errors);
    }
    validate_node(request, errors);
    let (spec, old_spec) = (request.object.child("spec"), request.old.child("spec"));
    let (drivers, old_drivers) = (spec.child("drivers"), old_spec.child("drivers"));
    let compared_part = if errors.gates().changes_allocatable_counts {
        without_allocatable
    } else {
        |driver: &Node<'_, '_>| driver.value().owned_within("")
    };
    for old in old_drivers.items() {
        let name = old.child("name").as_text();
        for driver in drivers
            .items()
            .filter(|driver| driver.child("name").as_text() == name)
        {
            let new = compared_part(&driver);
            if !is_same(&new, &compared_part(&old)) {
                errors.invalid(
                    drivers,
                    internal_json(errors.release(), "storage.CSINodeDriver", &new),
                    IMMUTABLE,
                );
            }
        }
    }
}

fn without_allocatable(driver: &Node<'_, '_>) -> Value<'static> {
    let mut driver = driver.value().owned_within("");
    if let Value::Object(members) = &mut driver {
        members.remove("allocatable");
    }
    driver
}

const MAX_HEALTH_CONDITIONS: i64 = 16;
const MAX_REASON: usize = 256;
const MAX_MESSAGE: usize = 1024;

// Upstream: pkg/apis/storage/validation/validation.go, ValidateCSINodeStatusUpdate
pub(super) fn validate_status(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    let status = object.child("status");
    let mut names = SeenTexts::default();
    for health in status.child("storageHealth").items() {
        let name = health.child("name");
        if !names.insert(name.as_text()) {
            errors.duplicate(health, name.as_text());
        }
        validate_driver_name(&name, errors);
        let conditions = health.child("healthConditions");
        if i64::try_from(conditions.len()).is_ok_and(|length| length > MAX_HEALTH_CONDITIONS) {
            let start = errors.len();
            errors.too_many(&conditions, MAX_HEALTH_CONDITIONS);
            errors.cover_from(start, "maxItems");
            continue;
        }
        for condition in conditions.items() {
            validate_health_condition(&condition, errors);
        }
    }
}

// Upstream: pkg/apis/storage/validation/validation.go, validateStorageHealthCondition
fn validate_health_condition(condition: &Node<'_, '_>, errors: &mut Errors) {
    let check_enum = |field: Node<'_, '_>, supported: &[&str], errors: &mut Errors| {
        if !supported.contains(&field.as_text()) {
            errors.not_supported(&field, supported);
        }
    };
    let (status, start) = (condition.child("status"), errors.len());
    // Upstream: pkg/apis/storage/validation/validation.go, validateStorageHealthCondition: an absent one is missing since 1.38.
    if status.as_text().is_empty() && errors.release().at_least(1, 38) {
        errors.required(status, "");
    } else {
        check_enum(status, &["StorageDegraded", "StorageUnreachable"], errors);
    }
    errors.cover_from(start, "");
    validate_reason(&condition.child("reason"), MAX_REASON, errors);
    let (message, start) = (condition.child("message"), errors.len());
    if message.as_text().len() > MAX_MESSAGE {
        errors.too_long(message, MAX_MESSAGE as i64);
    }
    errors.cover_from(start, "maxBytes");
    let (access, volume) = (condition.child("accessMode"), condition.child("volumeMode"));
    if access.is_set() {
        check_enum(
            access,
            &[
                "ReadOnlyMany",
                "ReadWriteMany",
                "ReadWriteOnce",
                "ReadWriteOncePod",
            ],
            errors,
        );
    }
    if volume.is_set() {
        check_enum(volume, &["Filesystem", "Block"], errors);
    }
}
