//! The specification of a PersistentVolumeClaim, which templates have as well.

use std::collections::HashSet;

use pratique_gotext::validation::dns1123_subdomain;
use pratique_types::field::BadValue;

use crate::errors::Errors;
use crate::messages::{label_name, subdomain_name};
use crate::node::Node;
use crate::object_meta::validate_template_meta;
use crate::quantities::{validate_positive, validate_resource_quantity};
use crate::selector::validate_selector;

/// What an old claim allows its successor.
// Upstream: pkg/apis/core/validation/validation.go, PersistentVolumeClaimSpecValidationOptions
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClaimOptions {
    pub(crate) invalid_selector_values: bool,
    pub(crate) invalid_data_source_group: bool,
}

pub(crate) const ACCESS_MODES: &[&str] = &[
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];

// Upstream: pkg/apis/core/validation/validation.go, ValidatePersistentVolumeClaimTemplate
pub(crate) fn validate_claim_template(template: &Node<'_, '_>, options: ClaimOptions, errors: &mut Errors) {
    validate_template_meta(&template.child("metadata"), errors);
    validate_claim_spec(&template.child("spec"), options, errors);
}

// Upstream: pkg/apis/core/validation/validation.go, ValidatePersistentVolumeClaimSpec
pub(crate) fn validate_claim_spec(spec: &Node<'_, '_>, options: ClaimOptions, errors: &mut Errors) {
    let modes = spec.child("accessModes");
    if modes.is_empty() {
        errors.required(modes, "at least 1 access mode is required");
    }
    validate_selector(&spec.child("selector"), options.invalid_selector_values, errors);
    validate_access_modes(&modes, errors);
    let resources = spec.child("resources");
    let requests = resources.child("requests");
    // The path leaves out `requests`.
    let storage = Node::with_path(requests.key("storage").value(), resources.path().key("storage"));
    if !storage.is_set() {
        errors.required(storage, "");
    } else {
        let count = errors.len();
        validate_positive(&storage, errors);
        if errors.len() == count {
            validate_resource_quantity("storage", &storage, errors);
        }
    }
    validate_class(&spec.child("storageClassName"), errors);
    let volume_mode = spec.child("volumeMode");
    if volume_mode.is_set() && !["Block", "Filesystem"].contains(&volume_mode.as_text()) {
        errors.not_supported(&volume_mode, &["Block", "Filesystem"]);
    }
    validate_data_sources(spec, options, errors);
    validate_class(&spec.child("volumeAttributesClassName"), errors);
}

pub(crate) fn validate_class(name: &Node<'_, '_>, errors: &mut Errors) {
    if !name.as_text().is_empty() {
        errors.invalid_each(name, &subdomain_name(name.as_text(), false));
    }
}

pub(crate) fn validate_access_modes(modes: &Node<'_, '_>, errors: &mut Errors) {
    let (mut alone, mut others) = (false, false);
    for mode in modes.items() {
        let is_supported = ACCESS_MODES.contains(&mode.as_text());
        if !is_supported {
            errors.not_supported(&Node::with_path(mode.value(), *modes.path()), ACCESS_MODES);
        }
        alone |= mode.as_text() == "ReadWriteOncePod";
        others |= is_supported && mode.as_text() != "ReadWriteOncePod";
    }
    if alone && others {
        errors.forbidden(modes, "may not use ReadWriteOncePod with other access modes");
    }
}

fn validate_data_sources(spec: &Node<'_, '_>, options: ClaimOptions, errors: &mut Errors) {
    let (source, reference) = (spec.child("dataSource"), spec.child("dataSourceRef"));
    for node in [&source, &reference] {
        if node.is_set() {
            validate_data_source(node, options, errors);
        }
    }
    let namespace = reference.child("namespace");
    let detail = if !source.is_set() || !reference.is_set() {
        return;
    } else if !namespace.as_text().is_empty() {
        "may not be specified when dataSourceRef.namespace is specified"
    } else if ["apiGroup", "kind", "name"]
        .iter()
        .any(|name| source.child(name).value() != reference.child(name).value())
    {
        "must match dataSourceRef"
    } else {
        return;
    };
    // The value is a path of Go, which has no JSON.
    errors.invalid(spec, BadValue::Prepared("{}".into()), detail);
}

// Upstream: pkg/apis/core/validation/validation.go, validateDataSource, validateDataSourceRef
fn validate_data_source(source: &Node<'_, '_>, options: ClaimOptions, errors: &mut Errors) {
    for name in ["name", "kind"] {
        if source.child(name).as_text().is_empty() {
            errors.required(source.child(name), "");
        }
    }
    let (group, kind) = (source.child("apiGroup"), source.child("kind"));
    if group.as_text().is_empty() && kind.as_text() != "PersistentVolumeClaim" {
        errors.invalid(
            source,
            kind.as_text(),
            "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
        );
    }
    if !group.as_text().is_empty() && !options.invalid_data_source_group {
        errors.invalid_each(&group, &dns1123_subdomain(group.as_text()));
    }
    let namespace = source.child("namespace");
    if !namespace.as_text().is_empty() {
        errors.invalid_each(&namespace, &label_name(namespace.as_text(), false));
    }
}

/// The names of templates of claims.
pub(crate) fn template_names<'v>(templates: Option<&Node<'_, 'v>>) -> HashSet<&'v str> {
    let templates = templates.iter().flat_map(|templates| templates.items());
    templates
        .map(|template| template.child("metadata").child("name").as_text())
        .collect()
}
