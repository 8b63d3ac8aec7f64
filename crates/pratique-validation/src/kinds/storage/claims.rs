//! PersistentVolumeClaims.

use pratique_json::Value;

use crate::claims::{ClaimOptions, validate_claim_spec};
use crate::diff::json_diff;
use crate::errors::{Errors, IMMUTABLE};
use crate::internal::{internal_json, internal_text};
use crate::kinds::Request;
use crate::messages::subdomain_name;
use crate::node::{Node, is_same};
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::quantities::quantity;
use crate::selector::validate_selector;

const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";

// Upstream: pkg/apis/core/validation/validation.go, ValidatePersistentVolumeClaim
pub(super) fn validate_claim(request: &Request<'_>, errors: &mut Errors) {
    validate_core_meta(&request.object.child("metadata"), true, subdomain_name, errors);
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    validate_claim_spec(&spec, options(&old), errors);
}

// Upstream: pkg/apis/core/validation/validation.go, ValidationOptionsForPersistentVolumeClaim
fn options(old: &Node<'_, '_>) -> ClaimOptions {
    let mut errors = Errors::default();
    validate_selector(&old.child("selector"), false, &mut errors);
    let sources = ["dataSource", "dataSourceRef"];
    ClaimOptions {
        invalid_selector_values: !errors.is_empty(),
        invalid_data_source_group: sources
            .iter()
            .any(|name| old.child(name).child("apiGroup").is_set()),
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidatePersistentVolumeClaimUpdate
pub(super) fn validate_claim_update(request: &Request<'_>, errors: &mut Errors) {
    let (metadata, old_metadata) = (request.object.child("metadata"), request.old.child("metadata"));
    // Upstream: pkg/registry/core/persistentvolumeclaim/strategy.go, ValidateUpdate: twice before 1.35.
    if !errors.release().at_least(1, 35) {
        validate_claim(request, errors);
    }
    validate_core_meta_update(&metadata, &old_metadata, errors);
    validate_claim(request, errors);
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let (mut new_form, mut old_form) = (spec.value().owned_within(""), old.value().owned_within(""));
    normalize_source(&mut old_form);
    if old.child("volumeName").as_text().is_empty() {
        set(&mut old_form, "volumeName", spec.child("volumeName").value());
    }
    validate_class_change(request, &mut new_form, errors);
    let status = request.object.child("status");
    if status.child("phase").as_text() == "Bound" {
        let requests = new_form
            .get_mut("resources")
            .and_then(|resources| resources.get_mut("requests"));
        let old_resources = old.child("resources");
        if let Some(requests) = requests {
            set(
                requests,
                "storage",
                old_resources.child("requests").child("storage").value(),
            );
        }
        set(
            &mut new_form,
            "volumeAttributesClassName",
            old.child("volumeAttributesClassName").value(),
        );
    }
    if !is_same(&new_form, &old_form) {
        let diff = json_diff(
            &internal_text(errors.release(), "core.PersistentVolumeClaimSpec", &old_form),
            &internal_text(errors.release(), "core.PersistentVolumeClaimSpec", &new_form),
        );
        errors.forbidden(
            spec,
            &format!(
                "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n{diff}"
            ),
        );
    }
    validate_size(request, errors);
    let mode = spec.child("volumeMode");
    if mode.value() != old.child("volumeMode").value() {
        let value = internal_json(errors.release(), "*core.PersistentVolumeMode", mode.value());
        // The path leaves out `spec`.
        errors.invalid("volumeMode", value, IMMUTABLE);
    }
    validate_attributes_class(request, errors);
}

/// Fills the newer field for the source of the data from the older, or the other way round, as is done where a claim is read.
// Upstream: pkg/api/persistentvolumeclaim/util.go, NormalizeDataSources
fn normalize_source(spec: &mut Value<'static>) {
    let source = spec.get("dataSource").cloned().unwrap_or(Value::Null);
    let reference = spec.get("dataSourceRef").cloned().unwrap_or(Value::Null);
    let has_namespace = reference
        .get("namespace")
        .is_some_and(|namespace| !namespace.is_empty());
    if reference.is_null() {
        set(spec, "dataSourceRef", &source);
    } else if source.is_null() && !has_namespace {
        set(spec, "dataSource", &reference);
    }
}

fn set(object: &mut Value<'static>, name: &'static str, value: &Value<'_>) {
    let Value::Object(members) = object else {
        return;
    };
    if value.is_null() {
        members.remove(name);
    } else {
        members.insert(name, value.owned_within(""));
    }
}

/// A class may move from the old annotation to the field, or come where there was none.
fn validate_class_change(request: &Request<'_>, new_form: &mut Value<'static>, errors: &mut Errors) {
    let (metadata, old_metadata) = (request.object.child("metadata"), request.old.child("metadata"));
    let (annotations, old_annotations) = (metadata.child("annotations"), old_metadata.child("annotations"));
    let (annotation, old_annotation) = (
        annotations.key(CLASS_ANNOTATION),
        old_annotations.key(CLASS_ANNOTATION),
    );
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let (class, old_class) = (spec.child("storageClassName"), old.child("storageClassName"));
    let comes = class.is_set() && !old_class.is_set();
    let is_old = class.as_text() == old_annotation.as_text();
    let is_moved = old_annotation.is_set()
        && comes
        && is_old
        && (!annotation.is_set() || annotation.as_text() == old_annotation.as_text());
    if is_moved {
        set(new_form, "storageClassName", &Value::Null);
        return;
    }
    if annotation.as_text() != old_annotation.as_text() {
        let annotations = metadata.path().child("annotations");
        errors.invalid(
            annotations.child(CLASS_ANNOTATION),
            annotation.as_text(),
            IMMUTABLE,
        );
    }
    if comes && (!old_annotation.is_set() || is_old) {
        set(new_form, "storageClassName", &Value::Null);
    }
}

/// A claim may shrink to no less than what it has.
fn validate_size(request: &Request<'_>, errors: &mut Errors) {
    let size = |object: &Node<'_, '_>, path: [&str; 3]| {
        let (outer, inner) = (object.child(path[0]), path[1]);
        quantity(&outer.child(inner).child(path[2]).child("storage"))
    };
    let requested = ["spec", "resources", "requests"];
    let (new, old) = (size(&request.object, requested), size(&request.old, requested));
    let status = request.old.child("status");
    let capacity = status.child("capacity");
    if new < old && new <= quantity(&capacity.child("storage")) {
        errors.forbidden(
            "spec.resources.requests.storage",
            "field can not be less than status.capacity",
        );
    }
}

fn validate_attributes_class(request: &Request<'_>, errors: &mut Errors) {
    let (spec, old) = (request.object.child("spec"), request.old.child("spec"));
    let (class, old_class) = (
        spec.child("volumeAttributesClassName"),
        old.child("volumeAttributesClassName"),
    );
    let status = request.old.child("status");
    let has_current = status.child("currentVolumeAttributesClassName").is_set();
    if class.value() == old_class.value() || !has_current {
        return;
    }
    if !class.is_set() {
        errors.forbidden(
            class,
            "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil",
        );
    } else if class.as_text().is_empty() {
        errors.forbidden(
            class,
            "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil",
        );
    }
}
