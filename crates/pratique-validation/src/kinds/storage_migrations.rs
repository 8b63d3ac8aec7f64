//! StorageVersionMigrations.

use pratique_gotext::validation::{dns1035_label, dns1123_subdomain};

use super::{KindRules, Request};
use crate::conditions::validate_conditions;
use crate::errors::{Errors, IMMUTABLE};
use crate::internal::internal_json;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};

pub(super) const KINDS: &[KindRules] = &[KindRules {
    group: "storagemigration.k8s.io",
    kind: "StorageVersionMigration",
    is_namespaced: false,
    create: validate_migration,
    update: validate_migration_update,
    subresources: &[("status", validate_status)],
}];

// Upstream: pkg/apis/storagemigration/validation/validation.go, ValidateStorageVersionMigration
fn validate_migration(request: &Request<'_>, errors: &mut Errors) {
    let object = &request.object;
    validate_core_meta(&object.child("metadata"), false, subdomain_name, errors);
    let spec = object.child("spec");
    let of_resource = spec.child("resource");
    let (resource, group) = (of_resource.child("resource"), of_resource.child("group"));
    if resource.as_text().is_empty() {
        errors.required(resource, "resource is required to be set");
    } else {
        add_joined(&resource, &dns1035_label(resource.as_text()), errors);
    }
    if !group.as_text().is_empty() {
        add_joined(&group, &dns1123_subdomain(group.as_text()), errors);
    }
}

fn add_joined(field: &Node<'_, '_>, messages: &[String], errors: &mut Errors) {
    if !messages.is_empty() {
        errors.invalid_value(field, &messages.join(","));
    }
}

// Upstream: pkg/apis/storagemigration/validation/validation.go, ValidateStorageVersionMigrationUpdate
fn validate_migration_update(request: &Request<'_>, errors: &mut Errors) {
    validate_migration(request, errors);
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    let spec = object.child("spec");
    if !spec.is_same(&old.child("spec")) {
        let value = internal_json(
            errors.release(),
            "storagemigration.StorageVersionMigrationSpec",
            spec.value(),
        );
        errors.invalid(spec, value, IMMUTABLE);
    }
}

// Upstream: pkg/apis/storagemigration/validation/validation.go, ValidateStorageVersionMigrationStatusUpdate
fn validate_status(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    let (status, old) = (object.child("status"), old.child("status"));
    let version = status.child("resourceVersion");
    if !version.as_text().is_empty() && !is_resource_version(version.as_text()) {
        let detail = format!("resource version is not well formed: {}", version.as_text());
        errors.invalid_value(&version, &detail);
    }
    let conditions = status.child("conditions");
    validate_conditions(&conditions, errors);
    let old_version = old.child("resourceVersion").as_text();
    if !old_version.is_empty() && old_version != version.as_text() {
        errors.invalid_or_empty(&version, IMMUTABLE);
    }
    let old_conditions = old.child("conditions");
    let (succeeded, failed) = (is_true(&conditions, "Succeeded"), is_true(&conditions, "Failed"));
    for (is_wrong, detail) in [
        (
            succeeded && failed,
            "Both success and failed conditions cannot be true at the same time",
        ),
        (
            is_true(&old_conditions, "Succeeded") && !succeeded,
            "Success condition cannot be set to false once it is true",
        ),
        (
            is_true(&old_conditions, "Failed") && !failed,
            "Failed condition cannot be set to false once it is true",
        ),
    ] {
        if is_wrong {
            let value = internal_json(errors.release(), "[]metav1.Condition", conditions.value());
            errors.invalid(conditions, value, detail);
        }
    }
}

/// Whether the first condition of a type is true.
fn is_true(conditions: &Node<'_, '_>, kind: &str) -> bool {
    let mut conditions = conditions.items();
    let condition = conditions.find(|condition| condition.child("type").as_text() == kind);
    condition.is_some_and(|condition| condition.child("status").as_text() == "True")
}

/// Whether a text is a number of an object's version, of whatever length.
// Upstream: apimachinery/pkg/util/resourceversion/resourceversion.go, isWellFormed
fn is_resource_version(text: &str) -> bool {
    !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
}
