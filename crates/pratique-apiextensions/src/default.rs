//! Defaults.

use pratique_json::{Object, Value};
use pratique_types::field::Path;

use crate::schema::SchemaNode;

/// Fills in the defaults of a schema, and gives the paths of the fields that it set.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/defaulting/algorithm.go, Default
pub(crate) fn default(value: &mut Value<'_>, schema: &SchemaNode, set: &mut Vec<String>, path: &Path<'_>) {
    match value {
        Value::Object(object) => {
            missing(object, schema, set, path);
            members(object, schema, set, path);
        }
        Value::Array(items) => {
            let Some(schema) = &schema.items else {
                return;
            };
            for (at, item) in items.iter_mut().enumerate() {
                let path = path.index(at);
                replace_null(item, schema, set, &path);
                default(item, schema, set, &path);
            }
        }
        _ => {}
    }
}

/// Sets the properties that are absent, or null though they may not be.
fn missing(object: &mut Object<'_>, schema: &SchemaNode, set: &mut Vec<String>, path: &Path<'_>) {
    for (name, property) in &schema.properties {
        let Some(default) = &property.default else {
            continue;
        };
        let is_set = object
            .get(name)
            .is_some_and(|value| !value.is_null() || property.nullable);
        if !is_set {
            object.insert(name.to_string(), default.clone());
            set.push(path.child(name).to_dotted());
        }
    }
}

fn members(object: &mut Object<'_>, schema: &SchemaNode, set: &mut Vec<String>, path: &Path<'_>) {
    if schema.properties.is_empty() && schema.additional_schema().is_none() {
        return;
    }
    for (name, value) in object.iter_mut() {
        let path = path.child(name);
        if let Some(property) = schema.properties.get(name) {
            default(value, property, set, &path);
        } else if let Some(schema) = schema.additional_schema() {
            replace_null(value, schema, set, &path);
            default(value, schema, set, &path);
        }
    }
}

fn replace_null(value: &mut Value<'_>, schema: &SchemaNode, set: &mut Vec<String>, path: &Path<'_>) {
    if value.is_null()
        && !schema.nullable
        && let Some(default) = &schema.default
    {
        *value = default.clone();
        set.push(path.to_dotted());
    }
}
