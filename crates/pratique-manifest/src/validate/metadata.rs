//! Object metadata.

use pratique_gotext::strconv::quote;
use pratique_gotext::validation;
use pratique_types::GroupVersion;

use super::errors::FieldErrors;
use super::selector::validate_labels;
use super::view::View;

const ANNOTATIONS_MAX: usize = 256 * 1024;
const MANAGER_MAX: usize = 128;
const SUBRESOURCE_MAX: usize = 256;

// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateObjectMetaAccessorWithOpts
pub(super) fn validate(metadata: &View<'_>, errors: &mut FieldErrors) {
    names(metadata, errors);
    if !metadata.field("namespace").text().is_empty() {
        errors.forbidden(&metadata.field("namespace"), "not allowed on this type");
    }
    let generation = metadata.field("generation");
    if generation.integer().is_some_and(|value| value < 0) {
        errors.invalid_json(
            &generation,
            &generation.json(),
            "must be greater than or equal to 0",
        );
    }
    validate_labels(&metadata.field("labels"), errors);
    annotations(&metadata.field("annotations"), errors);
    owner_references(&metadata.field("ownerReferences"), errors);
    finalizers(&metadata.field("finalizers"), errors);
    for entry in metadata.field("managedFields").items() {
        managed_fields(&entry, errors);
    }
}

fn names(metadata: &View<'_>, errors: &mut FieldErrors) {
    let generate_name = metadata.field("generateName");
    if !generate_name.text().is_empty() {
        for detail in validation::dns1123_subdomain_prefix(generate_name.text()) {
            errors.invalid(&generate_name, generate_name.text(), &detail);
        }
    }
    let name = metadata.field("name");
    if name.text().is_empty() {
        errors.required(&name, "name or generateName is required");
    } else {
        subdomain(&name, errors);
    }
}

/// A name that is a DNS subdomain.
pub(super) fn subdomain(name: &View<'_>, errors: &mut FieldErrors) {
    for detail in validation::dns1123_subdomain(name.text()) {
        errors.invalid(name, name.text(), &detail);
    }
}

// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateAnnotations
fn annotations(annotations: &View<'_>, errors: &mut FieldErrors) {
    for (key, _) in annotations.entries() {
        for detail in validation::qualified_name(&key.to_lowercase()) {
            errors.invalid(annotations, key, &detail);
        }
    }
    let size: usize = annotations
        .entries()
        .map(|(key, value)| key.len() + value.len())
        .sum();
    if size > ANNOTATIONS_MAX {
        errors.too_long(annotations, ANNOTATIONS_MAX);
    }
}

// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateOwnerReferences
fn owner_references(references: &View<'_>, errors: &mut FieldErrors) {
    let mut controller: Option<String> = None;
    for reference in references.items() {
        owner_reference(&reference, errors);
        if !reference.field("controller").is_true() {
            continue;
        }
        let this = format!(
            "{}/{}",
            reference.field("kind").text(),
            reference.field("name").text()
        );
        match &controller {
            Some(first) => {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
                );
                let shown: Vec<String> = references.items().map(|item| owner_text(&item)).collect();
                errors.invalid_text(references, &format!("[{}]", shown.join(",")), &detail);
            }
            None => controller = Some(this),
        }
    }
}

/// Since 1.37 errors name the reference, and what is missing is required; before, they named the list, and `apiVersion` had
/// `Invalid value: "": version must not be empty`, the others `Invalid value: "": must not be empty`.
// Upstream: apimachinery/pkg/api/validation/objectmeta.go, validateOwnerReference
fn owner_reference(reference: &View<'_>, errors: &mut FieldErrors) {
    let text = |name| reference.field(name).text().to_owned();
    let api_version = text("apiVersion");
    let GroupVersion { group, version } = GroupVersion::parse(&api_version).unwrap_or_default();
    if version.is_empty() && !api_version.is_empty() {
        let detail = "must be <group>/<version> or <version>";
        errors.invalid(&reference.field("apiVersion"), &api_version, detail);
    }
    for name in ["apiVersion", "kind", "name", "uid"] {
        if text(name).is_empty() {
            errors.required(&reference.field(name), "must not be empty");
        }
    }
    if group.is_empty() && version == "v1" && text("kind") == "Event" {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        errors.invalid_text(reference, &owner_text(reference), detail);
    }
}

/// An owner reference as JSON, with its fields in their declared order.
fn owner_text(reference: &View<'_>) -> String {
    let fields = [
        "apiVersion",
        "kind",
        "name",
        "uid",
        "controller",
        "blockOwnerDeletion",
    ];
    let present = fields
        .into_iter()
        .filter(|name| !reference.field(name).is_absent());
    let shown: Vec<String> = present
        .map(|name| format!("\"{name}\":{}", reference.field(name).json()))
        .collect();
    format!("{{{}}}", shown.join(","))
}

// Upstream: apimachinery/pkg/api/validation/objectmeta.go, ValidateFinalizers
fn finalizers(finalizers: &View<'_>, errors: &mut FieldErrors) {
    for finalizer in finalizers.texts() {
        for detail in validation::qualified_name(finalizer) {
            errors.invalid(finalizers, finalizer, &detail);
        }
    }
    let has = |name: &str| finalizers.texts().any(|finalizer| finalizer == name);
    if has("orphan") && has("foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.invalid_json(finalizers, &finalizers.json(), detail);
    }
}

// Upstream: apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateManagedFields
fn managed_fields(entry: &View<'_>, errors: &mut FieldErrors) {
    let operation = entry.field("operation");
    match operation.text() {
        // Before 1.37 both were `Invalid value: "…": must be `Apply` or `Update``.
        "" => errors.required(&operation, "must not be empty"),
        "Apply" | "Update" => {}
        other => errors.not_supported(&operation, other, &["Apply", "Update"]),
    }
    let fields_type = entry.field("fieldsType");
    if !["", "FieldsV1"].contains(&fields_type.text()) {
        errors.invalid(&fields_type, fields_type.text(), "must be `FieldsV1`");
    }
    let manager = entry.field("manager");
    if manager.text().len() > MANAGER_MAX {
        errors.too_long(&manager, MANAGER_MAX);
    }
    for (at, c) in manager.text().char_indices() {
        if quote(c.encode_utf8(&mut [0; 4])).starts_with("\"\\") && !matches!(c, '"' | '\\') {
            let detail = format!("invalid character U+{:04X} (at position {at})", u32::from(c));
            errors.invalid(&manager, manager.text(), &detail);
        }
    }
    if entry.field("subresource").text().len() > SUBRESOURCE_MAX {
        errors.too_long(&entry.field("subresource"), SUBRESOURCE_MAX);
    }
}
