//! Restrictions on definitions besides that their schemas are structural.

use pratique_json::Value;
use pratique_types::field::{Error, ErrorList, Path};

use super::{Additional, Schema, Type};

/// Checks a schema as a server does in a new definition.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceDefinitionOpenAPISchema
pub(crate) fn check(schema: &Schema, path: &Path<'_>, errors: &mut ErrorList) {
    if schema.values.unique_items {
        let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        errors.push(Error::forbidden(path.child("uniqueItems"), detail));
    }
    if !schema.properties.is_empty()
        && matches!(
            schema.additional,
            Some(Additional::Schema(_) | Additional::Allowed(false))
        )
    {
        let detail = "additionalProperties and properties are mutual exclusive";
        errors.push(Error::forbidden(path.child("additionalProperties"), detail));
    }
    map_type(schema, path, errors);
    list_type(schema, path, errors);
    list_map_keys(schema, path, errors);
    items(schema, path, errors);
    below(schema, path, errors);
}

fn below(schema: &Schema, path: &Path<'_>, errors: &mut ErrorList) {
    let properties = path.child("properties");
    for (name, property) in &schema.properties {
        check(property, &properties.key(name), errors);
    }
    if let Some(additional) = schema.additional_schema() {
        check(additional, &path.child("additionalProperties"), errors);
    }
    if let Some(items) = &schema.items {
        check(items, &path.child("items"), errors);
    }
    if let Some(not) = &schema.not {
        check(not, &path.child("not"), errors);
    }
    for (name, schemas) in schema.combinations() {
        let list = path.child(name);
        for (at, schema) in schemas.iter().enumerate() {
            check(schema, &list.index(at), errors);
        }
    }
}

/// An extension that only values of a type may have.
fn needs_type(schema: &Schema, of: Type, extension: &str, path: &Path<'_>, errors: &mut ErrorList) {
    let detail = format!("must be {} if {extension} is specified", of.name());
    match schema.of {
        None => errors.push(Error::required(path.child("type"), &detail)),
        Some(other) if other != of => errors.push(Error::invalid(path.child("type"), other.name(), &detail)),
        Some(_) => {}
    }
}

fn map_type(schema: &Schema, path: &Path<'_>, errors: &mut ErrorList) {
    let Some(map_type) = schema.map_type.as_deref() else {
        return;
    };
    let extension = "x-kubernetes-map-type";
    needs_type(schema, Type::Object, extension, path, errors);
    if !matches!(map_type, "atomic" | "granular") {
        errors.push(Error::not_supported(
            path.child(extension),
            map_type,
            ["atomic", "granular"],
        ));
    }
}

fn list_type(schema: &Schema, path: &Path<'_>, errors: &mut ErrorList) {
    let Some(list_type) = schema.list_type.as_deref() else {
        return;
    };
    let extension = "x-kubernetes-list-type";
    needs_type(schema, Type::Array, extension, path, errors);
    if let Some(item) = schema
        .items
        .as_deref()
        .filter(|_| schema.of == Some(Type::Array) && list_type == "set")
    {
        let items = path.child("items");
        let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
        let shown = item.list_type.as_deref().map_or(Value::Null, Value::from);
        match item.of {
            Some(Type::Array) if !matches!(item.list_type.as_deref(), None | Some("atomic")) => {
                errors.push(Error::invalid(items.child(extension), &shown, detail));
            }
            Some(Type::Object) if item.map_type.as_deref() != Some("atomic") => {
                errors.push(Error::invalid(
                    items.child("x-kubernetes-map-type"),
                    &shown,
                    detail,
                ));
            }
            _ => {}
        }
    }
    if !matches!(list_type, "atomic" | "set" | "map") {
        errors.push(Error::not_supported(
            path.child(extension),
            list_type,
            ["atomic", "set", "map"],
        ));
    }
}

fn list_map_keys(schema: &Schema, path: &Path<'_>, errors: &mut ErrorList) {
    let keys = path.child("x-kubernetes-list-map-keys");
    let is_map = schema.list_type.as_deref() == Some("map");
    if !schema.list_map_keys.is_empty() && !is_map {
        let field = path.child("x-kubernetes-list-type").to_string();
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        errors.push(match schema.list_type.as_deref() {
            None => Error::required(field, detail),
            Some(list_type) => Error::invalid(field, list_type, detail),
        });
    }
    if !is_map {
        return;
    }
    if schema.list_map_keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        errors.push(Error::required(keys, detail));
    }
    let items = path.child("items");
    let Some(item) = schema.items.as_deref() else {
        let detail = "must have a schema if x-kubernetes-list-type is map";
        errors.push(Error::required(items, detail));
        return;
    };
    if item.of != Some(Type::Object) {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(Error::invalid(items.child("type"), item.type_name(), detail));
        return;
    }
    let shown = Value::Array(
        schema
            .list_map_keys
            .iter()
            .map(|key| Value::from(&**key))
            .collect(),
    );
    let properties = items.child("properties");
    for (at, key) in schema.list_map_keys.iter().enumerate() {
        match item.properties.get(key).map(|property| property.of) {
            None => {
                let detail = "entries must all be names of item properties";
                errors.push(Error::invalid(keys, &shown, detail));
            }
            Some(Some(Type::Array | Type::Object)) => {
                let property = properties.key(key);
                let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                errors.push(Error::invalid(property.child("type"), item.type_name(), detail));
            }
            Some(_) => {}
        }
        if schema.list_map_keys.iter().take(at).any(|before| before == key) {
            let detail = "must not contain duplicate entries";
            errors.push(Error::invalid(keys, &shown, detail));
        }
    }
}

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validateMapListKeysMapSet
fn items(schema: &Schema, path: &Path<'_>, errors: &mut ErrorList) {
    let (Some(item), Some(list_type @ ("set" | "map"))) =
        (schema.items.as_deref(), schema.list_type.as_deref())
    else {
        return;
    };
    let items = path.child("items");
    if item.nullable {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(Error::forbidden(items.child("nullable"), &detail));
    }
    let properties = items.child("properties");
    for key in schema.list_map_keys.iter().filter(|_| list_type == "map") {
        let Some(property) = item.properties.get(key) else {
            continue;
        };
        let path = properties.key(key);
        if !item.values.required.contains(key) && property.default.is_none() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            errors.push(Error::required(path.child("default"), detail));
        }
        if property.nullable {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(Error::forbidden(path.child("nullable"), detail));
        }
    }
}
