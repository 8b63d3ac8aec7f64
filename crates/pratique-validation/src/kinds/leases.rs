//! Leases, and candidates for those that are coordinated.

use pratique_gotext::semver::Version;
use pratique_gotext::validation::qualified_name;

use super::{KindRules, Request};
use crate::errors::{Errors, IMMUTABLE, named};
use crate::messages::{config_map_key, subdomain_name};
use crate::node::Node;
use crate::object_meta::{validate_object_meta, validate_object_meta_update};

pub(super) const KINDS: &[KindRules] = &[
    KindRules {
        group: "coordination.k8s.io",
        kind: "Lease",
        is_namespaced: true,
        create: |request, errors| {
            validate_object_meta(&request.object.child("metadata"), true, subdomain_name, errors);
            validate_lease(request, errors);
        },
        update: |request, errors| {
            let (object, old) = (&request.object, &request.old);
            validate_object_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
            validate_lease(request, errors);
        },
        subresources: &[],
    },
    KindRules {
        group: "coordination.k8s.io",
        kind: "LeaseCandidate",
        is_namespaced: true,
        create: |request, errors| {
            let metadata = request.object.child("metadata");
            // A prefix is validated as a whole name is: it may end in a hyphen.
            validate_object_meta(&metadata, true, |name, _| config_map_key(name), errors);
            validate_candidate(request, errors);
        },
        update: |request, errors| {
            let (object, old) = (&request.object, &request.old);
            validate_object_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
            validate_candidate(request, errors);
            let (spec, old) = (object.child("spec"), old.child("spec"));
            let name = spec.child("leaseName");
            if name.as_text() != old.child("leaseName").as_text() {
                errors.invalid_or_empty(&name, IMMUTABLE);
            }
        },
        subresources: &[],
    },
];

// Upstream: pkg/apis/coordination/validation/validation.go, ValidateLeaseSpec
fn validate_lease(request: &Request<'_>, errors: &mut Errors) {
    let spec = request.object.child("spec");
    let (duration, transitions) = (spec.child("leaseDurationSeconds"), spec.child("leaseTransitions"));
    if duration.is_set() && duration.int() <= 0 {
        errors.invalid(duration, duration.int(), "must be greater than 0");
    }
    if transitions.int() < 0 {
        errors.invalid(
            transitions,
            transitions.int(),
            "must be greater than or equal to 0",
        );
    }
    let (strategy, holder) = (spec.child("strategy"), spec.child("preferredHolder"));
    if strategy.is_set() {
        validate_strategy(&strategy, errors);
    }
    if !holder.as_text().is_empty() && strategy.as_text().is_empty() {
        errors.forbidden(holder, "may only be specified if `strategy` is defined");
    }
}

// Upstream: pkg/apis/coordination/validation/validation.go, ValidateLeaseCandidateSpec
fn validate_candidate(request: &Request<'_>, errors: &mut Errors) {
    let spec = request.object.child("spec");
    let (name, strategy) = (spec.child("leaseName"), spec.child("strategy"));
    if name.as_text().is_empty() {
        errors.required(name, "");
    }
    let (emulation, binary) = (spec.child("emulationVersion"), spec.child("binaryVersion"));
    let emulated = validate_version(&emulation, errors);
    if binary.as_text().is_empty() {
        errors.required(binary, "");
    }
    let built = validate_version(&binary, errors);
    if !binary.as_text().is_empty() && !emulation.as_text().is_empty() && built < emulated {
        errors.invalid_value(&binary, "must be greater than or equal to `emulationVersion`");
    }
    if strategy.as_text().is_empty() {
        errors.required(strategy, "");
        return;
    }
    if strategy.as_text() == "OldestEmulationVersion" && emulated == zero_version() {
        errors.required(
            emulation,
            "must be specified when `strategy` is 'OldestEmulationVersion'",
        );
    }
    validate_strategy(&strategy, errors);
}

/// The version of a field; the zero version where it is absent or none.
fn validate_version(field: &Node<'_, '_>, errors: &mut Errors) -> Option<Version> {
    let version = Version::parse(field.as_text()).ok();
    if version.is_none() && !field.as_text().is_empty() {
        errors.invalid_value(field, "must be a valid semantic version");
    }
    version.or_else(zero_version)
}

fn zero_version() -> Option<Version> {
    Version::parse("0.0.0").ok()
}

// Upstream: pkg/apis/coordination/validation/validation.go, ValidateCoordinatedLeaseStrategy
fn validate_strategy(strategy: &Node<'_, '_>, errors: &mut Errors) {
    // The name of the field is added once more.
    let printed_strategy = Node::with_path(strategy.value(), strategy.path().child("strategy"));
    if !strategy.as_text().contains('/') {
        if strategy.as_text() != "OldestEmulationVersion" {
            errors.not_supported(&printed_strategy, &["OldestEmulationVersion"]);
        }
        return;
    }
    for message in qualified_name(strategy.as_text()) {
        errors.invalid(printed_strategy, named(strategy.as_text()), &message);
    }
}
