//! Whether defaults are values of their schemas.

use pratique_json::Value;
use pratique_types::field::{Error, ErrorList, Path};

use crate::metadata::{Malformed, coerce};
use crate::prune::prune_value;
use crate::schema::Schema;
use crate::validate::{embedded, value};

/// Checks the defaults of a schema: that nothing would be pruned of them, and that they are valid. Their rules are not evaluated, and
/// defaults of the fields of metadata are not looked at.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go, ValidateDefaults
pub(crate) fn check_defaults(schema: &Schema, is_resource: bool, path: &Path<'_>, errors: &mut ErrorList) {
    if let Some(default) = &schema.default {
        check(default, schema, &path.child("default").to_string(), errors);
    }
    if let Some(items) = &schema.items {
        check_defaults(items, items.is_embedded, &path.child("items"), errors);
    }
    let properties = path.child("properties");
    for (name, property) in &schema.properties {
        if is_resource && matches!(&**name, "apiVersion" | "kind" | "metadata") {
            continue;
        }
        check_defaults(property, property.is_embedded, &properties.key(name), errors);
    }
}

fn check(default: &Value<'static>, schema: &Schema, field: &str, errors: &mut ErrorList) {
    let mut pruned = default.clone();
    prune_value(&mut pruned, schema);
    if pruned != *default {
        let detail = "must not have unknown fields";
        errors.push(Error::invalid(field.to_owned(), default, detail));
    }
    let below = |error: Error| Error {
        field: match error.field.as_str() {
            "<nil>" => field.to_owned(),
            other => format!("{field}.{other}"),
        },
        ..error
    };
    let mut coerced = default.clone();
    if let Err(error) = coerce(&mut coerced, schema, schema.is_embedded, Malformed::Refuse) {
        errors.push(below(error));
        return;
    }
    let mut found = ErrorList::default();
    embedded::validate(default, schema, schema.is_embedded, &Path::ROOT, &mut found);
    if found.is_empty() {
        value::validate(default, schema, None, &Path::ROOT, &mut found);
    }
    errors.extend(found.into_vec().into_iter().map(below));
}
