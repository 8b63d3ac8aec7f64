//! The `scale` subresource and printer columns: fields by their simple paths.

use pratique_validation::rules::{Errors, Node, named};

const COLUMN_TYPES: &[&str] = &["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS: &[&str] = &[
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
];

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceDefinitionSubresources
pub(super) fn validate_subresources(subresources: &Node<'_, '_>, errors: &mut Errors) {
    let scale = subresources.child("scale");
    if !scale.is_set() {
        return;
    }
    for (name, prefix, detail) in [
        ("specReplicasPath", ".spec.", "should be a json path under .spec"),
        (
            "statusReplicasPath",
            ".status.",
            "should be a json path under .status",
        ),
    ] {
        let path = scale.child(name);
        if path.as_text().is_empty() {
            errors.required(path, "");
        } else if is_simple_path(&path, errors) && !path.as_text().starts_with(prefix) {
            errors.invalid(path, path.as_text(), detail);
        }
    }
    let path = scale.child("labelSelectorPath");
    if !path.as_text().is_empty() && is_simple_path(&path, errors) {
        let prefixes = [".spec.", ".status."];
        if !prefixes.iter().any(|prefix| path.as_text().starts_with(prefix)) {
            let detail = "should be a json path under either .spec or .status";
            errors.invalid(path, named(path.as_text()), detail);
        }
    }
}

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceColumnDefinition
pub(super) fn validate_column(column: &Node<'_, '_>, errors: &mut Errors) {
    let (name, of, format) = (column.child("name"), column.child("type"), column.child("format"));
    if name.as_text().is_empty() {
        errors.required(name, "");
    }
    let detail = format!("must be one of {}", COLUMN_TYPES.join(","));
    if of.as_text().is_empty() {
        errors.required(of, &detail);
    } else if !COLUMN_TYPES.contains(&of.as_text()) {
        errors.invalid(of, of.as_text(), &detail);
    }
    if !format.as_text().is_empty() && !COLUMN_FORMATS.contains(&format.as_text()) {
        let detail = format!("must be one of {}", COLUMN_FORMATS.join(","));
        errors.invalid(format, format.as_text(), &detail);
    }
    let path = column.child_as("jsonPath", "JSONPath");
    if path.as_text().is_empty() {
        errors.required(path, "");
    } else {
        is_simple_path(&path, errors);
    }
}

/// Whether a text begins as a path does, or an error.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validateSimpleJSONPath
fn is_simple_path(path: &Node<'_, '_>, errors: &mut Errors) -> bool {
    let is_simple = path.as_text().starts_with('.');
    if !is_simple {
        let detail = "must be a simple json path starting with .";
        errors.invalid(path, path.as_text(), detail);
    }
    is_simple
}
