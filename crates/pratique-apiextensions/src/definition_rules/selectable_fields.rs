//! Fields by which objects of a custom resource can be selected.

use std::collections::HashSet;

use pratique_types::field::Error;
use pratique_validation::rules::{Errors, Node};

use crate::rules::{FieldPathError, resolve};
use crate::schema::{SchemaNode, SchemaType};

const MAX_FIELDS: usize = 8;

/// Validates the selectable fields of a schema; `allows_many` where the existing definition has as many.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceSelectableFields
pub(super) fn validate_selectable_fields(
    fields: &Node<'_, '_>,
    schema: &SchemaNode,
    allows_many: bool,
    errors: &mut Errors,
) {
    let mut seen = HashSet::new();
    for field in fields.items() {
        let path = field.child("jsonPath");
        let text = path.as_text();
        if text.is_empty() {
            errors.required(path, "");
            continue;
        }
        let resolved = match resolve(text, schema, false) {
            Ok(resolved) => resolved,
            Err(error) => {
                errors.invalid(path, text, &format!("is an invalid path: {error}"));
                continue;
            }
        };
        if resolved.is_metadata {
            errors.invalid(path, text, "must not point to fields in metadata");
        }
        if !matches!(
            resolved.schema.of,
            Some(SchemaType::String | SchemaType::Boolean | SchemaType::Integer)
        ) {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings with \
                          formats are allowed.";
            errors.invalid(path, text, detail);
        }
        if !seen.insert(resolved.text) {
            errors.duplicate(path, text);
        }
    }
    if seen.len() > MAX_FIELDS && !allows_many {
        let (count, max) = (seen.len() as i64, MAX_FIELDS as i64);
        errors.push(Error::too_many(fields, count, max));
    }
}

/// Validates the selectable fields of a schema that cannot be followed: a server stops at the first path that begins well.
pub(super) fn validate_selectable_without(fields: &Node<'_, '_>, errors: &mut Errors) {
    for field in fields.items() {
        let path = field.child("jsonPath");
        if path.as_text().is_empty() {
            errors.required(path, "");
            continue;
        }
        match resolve(path.as_text(), &SchemaNode::default(), false).map(|_| ()) {
            Ok(()) | Err(FieldPathError::NotAField) => return,
            Err(error) => {
                let detail = format!("is an invalid path: {error}");
                errors.invalid(path, path.as_text(), &detail);
            }
        }
    }
}

/// Whether there are more fields than a definition may have.
pub(super) fn has_too_many(fields: &Node<'_, '_>) -> bool {
    fields.len() > MAX_FIELDS
}
