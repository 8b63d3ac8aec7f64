//! Kinds with few rules: StorageClasses, RuntimeClasses, Leases.

use pratique_gotext::validation::qualified_name;

use super::{KindRules, Request};
use crate::errors::{Errors, named};
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{
    validate_core_meta, validate_core_meta_update, validate_object_meta, validate_object_meta_update,
};
use crate::seen::Seen;
use crate::selector::validate_label_name;

pub(super) const KINDS: &[KindRules] = &[
    KindRules {
        group: "storage.k8s.io",
        kind: "StorageClass",
        is_namespaced: false,
        create: validate_storage_class,
        // Upstream: pkg/registry/storage/storageclass/strategy.go, ValidateUpdate
        update: |request, errors| {
            validate_storage_class(request, errors);
            let (object, old) = (&request.object, &request.old);
            validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
        },
        subresources: &[],
    },
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
];

// Upstream: pkg/apis/storage/validation/validation.go, ValidateStorageClass
fn validate_storage_class(request: &Request<'_>, errors: &mut Errors) {
    const MODES: &[&str] = &["Immediate", "WaitForFirstConsumer"];
    let object = &request.object;
    validate_core_meta(&object.child("metadata"), false, subdomain_name, errors);
    let provisioner = object.child("provisioner");
    let lower = provisioner.text().to_lowercase();
    // A declarative rule requires it.
    for message in qualified_name(&lower).iter().filter(|_| !lower.is_empty()) {
        errors.invalid(provisioner, lower.as_str(), message);
    }
    validate_parameters(&object.child("parameters"), errors);
    let reclaim = object.child("reclaimPolicy");
    if !reclaim.text().is_empty() && !["Delete", "Retain"].contains(&reclaim.text()) {
        errors.not_supported(&reclaim, &["Delete", "Retain"]);
    }
    let mode = object.child("volumeBindingMode");
    if !mode.is_set() {
        errors.required(mode, "");
    } else if !MODES.contains(&mode.text()) {
        errors.not_supported(&mode, MODES);
    }
    validate_topologies(&object.child("allowedTopologies"), errors);
}

// Upstream: pkg/apis/storage/validation/validation.go, validateParameters
fn validate_parameters(parameters: &Node<'_, '_>, errors: &mut Errors) {
    const MAX_COUNT: usize = 512;
    const MAX_SIZE: usize = 256 << 10;
    if parameters.len() > MAX_COUNT {
        errors.too_long(parameters, MAX_COUNT as i64);
        return;
    }
    let mut size = 0usize;
    for (key, value) in parameters.entries() {
        if key.is_empty() {
            errors.invalid(parameters, key, "field can not be empty.");
        }
        size = size.saturating_add(key.len()).saturating_add(value.text().len());
    }
    if size > MAX_SIZE {
        errors.too_long(parameters, MAX_SIZE as i64);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateTopologySelectorTerm
fn validate_topologies(topologies: &Node<'_, '_>, errors: &mut Errors) {
    for (at, term) in topologies.items().enumerate() {
        let expressions = term.child("matchLabelExpressions");
        let mut keys = Seen::default();
        for requirement in expressions.items() {
            let (key, values) = (requirement.child("key"), requirement.child("values"));
            if values.is_empty() {
                errors.required(values, "");
            }
            let mut seen = Seen::default();
            for value in values.items().filter(|value| !seen.insert(value.text())) {
                errors.duplicate(value, value.text());
            }
            validate_label_name(&key, errors);
            if !keys.insert(key.text()) {
                errors.duplicate(key, key.text());
            }
        }
        for _ in topologies
            .items()
            .take(at)
            .filter(|earlier| is_same_term(earlier, &term))
        {
            errors.duplicate(expressions, "");
        }
    }
}

/// Whether two terms say the same, in whichever order.
fn is_same_term(one: &Node<'_, '_>, other: &Node<'_, '_>) -> bool {
    let values = |term: &Node<'_, '_>| {
        let mut all: Vec<(String, Vec<String>)> = term
            .child("matchLabelExpressions")
            .items()
            .map(|requirement| {
                let values = requirement.child("values");
                let mut values: Vec<String> = values.items().map(|value| value.text().to_owned()).collect();
                values.sort_unstable();
                (requirement.child("key").text().to_owned(), values)
            })
            .collect();
        all.sort_unstable();
        all
    };
    values(one) == values(other)
}

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
    if !holder.text().is_empty() && strategy.text().is_empty() {
        errors.forbidden(holder, "may only be specified if `strategy` is defined");
    }
}

// Upstream: pkg/apis/coordination/validation/validation.go, ValidateCoordinatedLeaseStrategy
fn validate_strategy(strategy: &Node<'_, '_>, errors: &mut Errors) {
    // The name of the field is added once more.
    let shown = Node::with_path(strategy.value(), strategy.path().child("strategy"));
    if !strategy.text().contains('/') {
        if strategy.text() != "OldestEmulationVersion" {
            errors.not_supported(&shown, &["OldestEmulationVersion"]);
        }
        return;
    }
    for message in qualified_name(strategy.text()) {
        errors.invalid(shown, named(strategy.text()), &message);
    }
}
