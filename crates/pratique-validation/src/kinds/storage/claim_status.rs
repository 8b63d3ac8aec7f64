//! The status of a PersistentVolumeClaim.

use pratique_gotext::validation::qualified_name;
use pratique_types::field::Error;

use crate::conditions::validate_health_reasons;
use crate::errors::{Errors, named};
use crate::kinds::Request;
use crate::node::Node;
use crate::object_meta::validate_core_meta_update;
use crate::quantities::{is_native_resource, validate_basic_amount, validate_resource_quantity};

// Upstream: pkg/apis/core/validation/validation.go, ValidatePersistentVolumeClaimStatusUpdate
pub(super) fn validate_claim_status(request: &Request<'_>, errors: &mut Errors) {
    let (metadata, old) = (request.object.child("metadata"), request.old.child("metadata"));
    let (spec, status) = (request.object.child("spec"), request.object.child("status"));
    validate_core_meta_update(&metadata, &old, errors);
    if metadata.child("resourceVersion").as_text().is_empty() {
        // The path leaves out `metadata`.
        errors.required("resourceVersion", "");
    }
    if spec.child("accessModes").is_empty() {
        errors.required("Spec.accessModes", "");
    }
    for (_, amount) in status.child("capacity").entries() {
        validate_basic_amount(&amount, errors);
    }
    validate_health_reasons(&status.child("healthStatus").child("healthConditions"), errors);
    validate_resize(&status.child("allocatedResourceStatuses"), errors);
    let allocated = status.child("allocatedResources");
    for (name, amount) in allocated.entries() {
        if validate_resource_key(name, &allocated, errors) && validate_basic_amount(&amount, errors) {
            validate_resource_quantity("storage", &amount, errors);
        }
    }
}

fn validate_resize(statuses: &Node<'_, '_>, errors: &mut Errors) {
    const STATES: &[&str] = &[
        "ControllerResizeInProgress",
        "ControllerResizeInfeasible",
        "NodeResizeInProgress",
        "NodeResizeInfeasible",
        "NodeResizePending",
    ];
    for (name, state) in statuses.entries() {
        validate_resource_key(name, statuses, errors);
        if !STATES.contains(&state.as_text()) {
            // It is the resource that is printed, not its state.
            errors.push(Error::not_supported(statuses, named(name), STATES));
        }
    }
}

/// Whether a resource is one that claims have.
// Upstream: pkg/apis/core/validation/validation.go, validatePersistentVolumeClaimResourceKey
fn validate_resource_key(name: &str, field: &Node<'_, '_>, errors: &mut Errors) -> bool {
    let messages = qualified_name(name);
    for message in &messages {
        errors.invalid(field, name, message);
    }
    if !messages.is_empty() {
        return false;
    }
    let is_known = !is_native_resource(name) || name == "storage";
    if !is_known {
        errors.push(Error::not_supported(field, name, ["storage"]));
    }
    is_known
}
