//! Namespaces.

use pratique_gotext::validation::qualified_name;

use super::{KindRules, Request};
use crate::errors::Errors;
use crate::messages::label_name;
use crate::node::Node;
use crate::object_meta::{is_core_finalizer, validate_core_meta, validate_core_meta_update};

pub(super) const KINDS: &[KindRules] = &[KindRules {
    group: "",
    kind: "Namespace",
    is_namespaced: false,
    create: validate_namespace,
    update: validate_update,
    subresources: &[("status", validate_status), ("finalize", validate_finalize)],
}];

// Upstream: pkg/apis/core/validation/validation.go, ValidateNamespace
fn validate_namespace(request: &Request<'_>, errors: &mut Errors) {
    validate_core_meta(&request.object.child("metadata"), false, label_name, errors);
    let spec = request.object.child("spec");
    let finalizers = spec.child("finalizers");
    for finalizer in finalizers.items() {
        validate_finalizer(finalizer.as_text(), &finalizers, errors);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, validateFinalizerName
fn validate_finalizer(finalizer: &str, field: &Node<'_, '_>, errors: &mut Errors) {
    for message in qualified_name(finalizer) {
        errors.invalid(field, finalizer, &message);
    }
    if !is_core_finalizer(finalizer) {
        errors.invalid(
            field,
            finalizer,
            "name is neither a standard finalizer name nor is it fully qualified",
        );
    }
}

// Upstream: pkg/registry/core/namespace/strategy.go, ValidateUpdate
fn validate_update(request: &Request<'_>, errors: &mut Errors) {
    validate_namespace(request, errors);
    validate_metadata_update(request, errors);
}

fn validate_metadata_update(request: &Request<'_>, errors: &mut Errors) {
    let (metadata, old) = (request.object.child("metadata"), request.old.child("metadata"));
    validate_core_meta_update(&metadata, &old, errors);
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateNamespaceStatusUpdate
fn validate_status(request: &Request<'_>, errors: &mut Errors) {
    validate_metadata_update(request, errors);
    let (metadata, status) = (request.object.child("metadata"), request.object.child("status"));
    let phase = status.child_as("phase", "Phase");
    let (expected, detail) = if metadata.child("deletionTimestamp").is_set() {
        (
            "Terminating",
            "may only be 'Terminating' if `deletionTimestamp` is not empty",
        )
    } else {
        ("Active", "may only be 'Active' if `deletionTimestamp` is empty")
    };
    if phase.as_text() != expected {
        errors.invalid_name(&phase, detail);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateNamespaceFinalizeUpdate
fn validate_finalize(request: &Request<'_>, errors: &mut Errors) {
    validate_metadata_update(request, errors);
    let spec = request.object.child("spec");
    for finalizer in spec.child("finalizers").items() {
        validate_finalizer(finalizer.as_text(), &finalizer, errors);
    }
}
