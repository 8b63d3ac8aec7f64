//! StorageClasses and VolumeAttributesClasses.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pratique_gotext::validation::qualified_name;

use crate::errors::Errors;
use crate::internal::internal_json;
use crate::kinds::Request;
use crate::messages::subdomain_name;
use crate::node::Node;
use crate::object_meta::{validate_core_meta, validate_core_meta_update};
use crate::seen_texts::SeenTexts;
use crate::selector::validate_label_name;

// Upstream: pkg/registry/storage/storageclass/strategy.go, ValidateUpdate
pub(super) fn validate_storage_class_update(request: &Request<'_>, errors: &mut Errors) {
    validate_storage_class(request, errors);
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    for (name, type_name) in [
        ("parameters", "{}string"),
        ("provisioner", "string"),
        ("reclaimPolicy", "*core.PersistentVolumeReclaimPolicy"),
        ("volumeBindingMode", "*storage.VolumeBindingMode"),
    ] {
        let field = object.child(name);
        if field.is_same(&old.child(name)) {
            continue;
        }
        // Upstream: pkg/apis/storage/validation/validation.go, ValidateStorageClassUpdate: changed in 1.36
        if errors.release().at_least(1, 36) || name == "volumeBindingMode" {
            let value = internal_json(errors.release(), type_name, field.value());
            errors.immutable_by_hand(field, value);
        } else {
            errors.forbidden(field, &format!("updates to {name} are forbidden."));
        }
    }
}

// Upstream: pkg/apis/storage/validation/validation.go, ValidateStorageClass
pub(super) fn validate_storage_class(request: &Request<'_>, errors: &mut Errors) {
    const MODES: &[&str] = &["Immediate", "WaitForFirstConsumer"];
    let object = &request.object;
    validate_core_meta(&object.child("metadata"), false, subdomain_name, errors);
    let provisioner = object.child("provisioner");
    if provisioner.as_text().is_empty() {
        errors.required_until(38, provisioner, "");
    }
    validate_provisioner(&provisioner, errors);
    validate_parameters(&object.child("parameters"), errors);
    let reclaim = object.child("reclaimPolicy");
    if !reclaim.as_text().is_empty() && !["Delete", "Retain"].contains(&reclaim.as_text()) {
        errors.not_supported(&reclaim, &["Delete", "Retain"]);
    }
    let mode = object.child("volumeBindingMode");
    if !mode.is_set() {
        errors.required(mode, "");
    } else if !MODES.contains(&mode.as_text()) {
        errors.not_supported(&mode, MODES);
    }
    validate_topologies(&object.child("allowedTopologies"), errors);
}

// Upstream: pkg/apis/storage/validation/validation.go, ValidateVolumeAttributesClass
pub(super) fn validate_attributes_class(request: &Request<'_>, errors: &mut Errors) {
    let object = &request.object;
    validate_core_meta(&object.child("metadata"), false, subdomain_name, errors);
    let (driver, parameters) = (object.child("driverName"), object.child("parameters"));
    if driver.as_text().is_empty() {
        errors.required(driver, "");
    }
    validate_provisioner(&driver, errors);
    validate_parameters(&parameters, errors);
    if parameters.is_empty() {
        errors.required(parameters, "must contain at least one key/value pair");
    }
}

// Upstream: pkg/apis/storage/validation/validation.go, ValidateVolumeAttributesClassUpdate
pub(super) fn validate_attributes_class_update(request: &Request<'_>, errors: &mut Errors) {
    // Upstream: pkg/registry/storage/volumeattributesclass/strategy.go, ValidateUpdate: before 1.35, it is validated twice.
    if !errors.release().at_least(1, 35) {
        validate_attributes_class(request, errors);
    }
    let (object, old) = (&request.object, &request.old);
    validate_core_meta_update(&object.child("metadata"), &old.child("metadata"), errors);
    for name in ["driverName", "parameters"] {
        let field = object.child(name);
        if !field.is_same(&old.child(name)) {
            errors.forbidden(field, &format!("updates to {name} are forbidden."));
        }
    }
    validate_attributes_class(request, errors);
}

// Upstream: pkg/apis/storage/validation/validation.go, validateProvisioner
fn validate_provisioner(provisioner: &Node<'_, '_>, errors: &mut Errors) {
    let lower = provisioner.as_text().to_lowercase();
    for message in qualified_name(&lower).iter().filter(|_| !lower.is_empty()) {
        errors.invalid(provisioner, lower.as_str(), message);
    }
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
        size = size
            .saturating_add(key.len())
            .saturating_add(value.as_text().len());
    }
    if size > MAX_SIZE {
        errors.too_long(parameters, MAX_SIZE as i64);
    }
}

// Upstream: pkg/apis/core/validation/validation.go, ValidateTopologySelectorTerm
fn validate_topologies(topologies: &Node<'_, '_>, errors: &mut Errors) {
    // How many terms before say the same. The server compares with as many empty terms as there are terms, too.
    let mut seen_terms = HashMap::from([(BTreeMap::new(), topologies.len())]);
    for term in topologies.items() {
        let expressions = term.child("matchLabelExpressions");
        let mut keys = SeenTexts::default();
        for requirement in expressions.items() {
            let (key, values) = (requirement.child("key"), requirement.child("values"));
            if values.is_empty() {
                errors.required(values, "");
            }
            let mut seen = SeenTexts::default();
            for value in values.items().filter(|value| !seen.insert(value.as_text())) {
                errors.duplicate(value, value.as_text());
            }
            validate_label_name(&key, errors);
            if !keys.insert(key.as_text()) {
                errors.duplicate(key, key.as_text());
            }
        }
        let seen_before = seen_terms.entry(values_by_key(&term)).or_insert(0);
        // Upstream: pkg/apis/storage/validation/validation.go, validateAllowedTopologies: an error for each; equal errors are one
        // since 1.37.
        let are_told = if errors.release().at_least(1, 37) {
            (*seen_before).min(1)
        } else {
            *seen_before
        };
        *seen_before += 1;
        errors.duplicate_times(are_told, expressions, "");
    }
}

/// What a term says, in whichever order; of requirements with one key, the last counts.
fn values_by_key<'v>(term: &Node<'_, 'v>) -> BTreeMap<&'v str, BTreeSet<&'v str>> {
    let expressions = term.child("matchLabelExpressions");
    let values_of = |requirement: Node<'_, 'v>| {
        let values = requirement.child("values");
        let values = values.items().map(|value| value.as_text()).collect();
        (requirement.child("key").as_text(), values)
    };
    expressions.items().map(values_of).collect()
}
