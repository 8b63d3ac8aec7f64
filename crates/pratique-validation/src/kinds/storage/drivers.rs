//! CSIDrivers.

use crate::errors::Errors;
use crate::kinds::Request;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::seen_texts::SeenTexts;

// Upstream: pkg/apis/storage/validation/validation.go, ValidateCSIDriver
pub(super) fn validate_driver(request: &Request<'_>, errors: &mut Errors) {
    validate_core_meta(&request.object.child("metadata"), false, subdomain_name, errors);
    validate_spec(&request.object.child("spec"), errors);
}

// Upstream: pkg/apis/storage/validation/validation.go, ValidateCSIDriverUpdate
pub(super) fn validate_driver_update(request: &Request<'_>, errors: &mut Errors) {
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    let (spec, old) = (object.child("spec"), old.child("spec"));
    validate_spec(&spec, errors);
    let required = spec.child_as("attachRequired", attach_name(errors));
    errors.immutable(&required, &old.child("attachRequired"));
    let start = errors.len();
    errors.immutable(
        &spec.child("volumeLifecycleModes"),
        &old.child("volumeLifecycleModes"),
    );
    errors.cover_from(start, "immutable");
}

// Upstream: pkg/apis/storage/validation/validation.go, validateCSIDriverSpec
fn validate_spec(spec: &Node<'_, '_>, errors: &mut Errors) {
    const POLICIES: &[&str] = &["File", "None", "ReadWriteOnceWithFSType"];
    for (name, error_name) in [
        ("attachRequired", attach_name(errors)),
        ("podInfoOnMount", "podInfoOnMount"),
        ("storageCapacity", "storageCapacity"),
    ] {
        require_set(&spec.child_as(name, error_name), errors);
    }
    let policy = spec.child("fsGroupPolicy");
    if policy.is_set() && !POLICIES.contains(&policy.as_text()) {
        errors.not_supported(&policy, POLICIES);
    }
    let requests = spec.child("tokenRequests");
    validate_token_requests(&requests, errors);
    validate_modes(&spec.child("volumeLifecycleModes"), errors);
    require_set(&spec.child("seLinuxMount"), errors);
    let period = spec.child("nodeAllocatableUpdatePeriodSeconds");
    if period.some_int().is_some_and(|seconds| seconds < 10) {
        errors.invalid(
            period,
            period.int(),
            "must be greater than or equal to 10 seconds",
        );
    }
    let in_secrets = spec.child("serviceAccountTokenInSecrets");
    if in_secrets.is_set() && requests.is_empty() {
        errors.invalid_value(
            &in_secrets,
            "serviceAccountTokenInSecrets is set but no tokenRequests are specified",
        );
    }
    if errors.gates().limits_volumes {
        require_set(&spec.child("preventPodSchedulingIfMissing"), errors);
    }
}

/// What errors call `attachRequired`.
// Upstream: pkg/apis/storage/validation/validation.go, validateCSIDriverSpec: mended in 1.38
fn attach_name(errors: &Errors) -> &'static str {
    if errors.release().at_least(1, 38) {
        "attachRequired"
    } else {
        "attachedRequired"
    }
}

fn require_set(field: &Node<'_, '_>, errors: &mut Errors) {
    if !field.is_set() {
        errors.required(field, "");
    }
}

// Upstream: pkg/apis/storage/validation/validation.go, validateTokenRequests
fn validate_token_requests(requests: &Node<'_, '_>, errors: &mut Errors) {
    let mut audiences = SeenTexts::default();
    for request in requests.items() {
        let (audience, seconds) = (request.child("audience"), request.child("expirationSeconds"));
        if !audiences.insert(audience.as_text()) {
            errors.duplicate(audience, audience.as_text());
            continue;
        }
        let Some(duration) = seconds.some_int() else {
            continue;
        };
        if duration < 600 {
            errors.invalid(
                seconds,
                duration,
                "may not specify a duration less than 10 minutes",
            );
        }
        if duration > 1 << 32 {
            errors.invalid(
                seconds,
                duration,
                "may not specify a duration larger than 2^32 seconds",
            );
        }
    }
}

fn validate_modes(modes: &Node<'_, '_>, errors: &mut Errors) {
    const MODES: &[&str] = &["Persistent", "Ephemeral"];
    for mode in modes.items().filter(|mode| !MODES.contains(&mode.as_text())) {
        // The path is that of the list.
        errors.not_supported(&Node::with_path(mode.value(), *modes.path()), MODES);
    }
}
