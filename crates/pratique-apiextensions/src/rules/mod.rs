//! Validation rules.

use crate::field_error::{FieldError, FieldErrors};
use crate::path::Path;
use crate::schema::Schema;

/// Refuses a definition with rules, which are not evaluated yet.
pub(crate) fn refuse(schema: &Schema, path: &Path<'_>, errors: &mut FieldErrors) {
    if !schema.rules.is_empty() {
        let field = path.child("x-kubernetes-validations").field();
        errors.push(FieldError::forbidden(field, "rules are not evaluated yet"));
    }
    let properties = path.child("properties");
    for (name, property) in &schema.properties {
        refuse(property, &properties.key(name), errors);
    }
    if let Some(items) = &schema.items {
        refuse(items, &path.child("items"), errors);
    }
    if let Some(additional) = schema.additional_schema() {
        refuse(additional, &path.child("additionalProperties"), errors);
    }
}
