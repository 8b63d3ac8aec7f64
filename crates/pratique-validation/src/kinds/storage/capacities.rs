//! CSIStorageCapacities.

use crate::errors::{Errors, IMMUTABLE};
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::messages::subdomain_name;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::quantities::validate_nonnegative;
use crate::selector::validate_selector;

// Upstream: pkg/apis/storage/validation/validation.go, ValidateCSIStorageCapacity
pub(super) fn validate_capacity(request: &Request<'_>, errors: &mut Errors) {
    let object = &request.object;
    validate_core_meta(&object.child("metadata"), true, subdomain_name, errors);
    let mut old_faults = Errors::default();
    validate_selector(&request.old.child("nodeTopology"), false, &mut old_faults);
    let allows_invalid_values = !old_faults.is_empty();
    validate_selector(&object.child("nodeTopology"), allows_invalid_values, errors);
    let class = object.child("storageClassName");
    // Upstream: pkg/apis/storage/validation/validation.go, ValidateCSIStorageCapacity: since 1.38, a class is required.
    if class.as_text().is_empty() && errors.release().at_least(1, 38) {
        errors.required_covered(class, "");
    } else {
        for message in subdomain_name(class.as_text(), false) {
            errors.invalid_or_empty(&class, &message);
        }
    }
    let capacity = object.child("capacity");
    if capacity.is_set() {
        validate_nonnegative(&capacity, errors);
    }
}

// Upstream: pkg/apis/storage/validation/validation.go, ValidateCSIStorageCapacityUpdate
pub(super) fn validate_capacity_update(request: &Request<'_>, errors: &mut Errors) {
    validate_capacity(request, errors);
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    let (topology, old_topology) = (object.child("nodeTopology"), old.child("nodeTopology"));
    // One that matches all nodes is not the same as none.
    if topology.is_set() != old_topology.is_set() || !topology.is_same(&old_topology) {
        let value = internal_json(errors.release(), "*metav1.LabelSelector", topology.value());
        errors.invalid(topology, value, IMMUTABLE);
    }
    let class = object.child("storageClassName");
    if class.as_text() != old.child("storageClassName").as_text() {
        let start = errors.len();
        errors.invalid_or_empty(&class, IMMUTABLE);
        errors.cover_from(start, "immutable");
    }
}
