//! `x-kubernetes-map-type`, `x-kubernetes-list-type` and `x-kubernetes-list-map-keys`.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceDefinitionOpenAPISchema

use std::collections::HashSet;

use pratique_types::field::BadValue;
use pratique_validation::rules::{Errors, Node, internal_json, named};

/// An extension that only values of a type may have.
fn validate_type(schema: &Node<'_, '_>, expected: &str, extension: &str, errors: &mut Errors) {
    let of = schema.child("type");
    let detail = format!("must be {expected} if {extension} is specified");
    if of.as_text().is_empty() {
        errors.required(of, &detail);
    } else {
        errors.invalid(of, of.as_text(), &detail);
    }
}

pub(super) fn validate_map_type(schema: &Node<'_, '_>, errors: &mut Errors) {
    const EXTENSION: &str = "x-kubernetes-map-type";
    let map_type = schema.child(EXTENSION);
    if !map_type.is_set() {
        return;
    }
    if schema.child("type").as_text() != "object" {
        validate_type(schema, "object", EXTENSION, errors);
    }
    if !matches!(map_type.as_text(), "atomic" | "granular") {
        errors.unsupported_text(&map_type, &["atomic", "granular"]);
    }
}

pub(super) fn validate_list_type(schema: &Node<'_, '_>, requires_atomic_sets: bool, errors: &mut Errors) {
    const EXTENSION: &str = "x-kubernetes-list-type";
    let list_type = schema.child(EXTENSION);
    if !list_type.is_set() {
        return;
    }
    if schema.child("type").as_text() != "array" {
        validate_type(schema, "array", EXTENSION, errors);
    } else if requires_atomic_sets && list_type.as_text() == "set" {
        validate_set(schema, errors);
    }
    if !matches!(list_type.as_text(), "atomic" | "set" | "map") {
        errors.unsupported_text(&list_type, &["atomic", "set", "map"]);
    }
}

/// Sets have values that are compared as a whole.
fn validate_set(schema: &Node<'_, '_>, errors: &mut Errors) {
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let items = schema.child("items");
    let (of_list, of_map) = (
        items.child("x-kubernetes-list-type"),
        items.child("x-kubernetes-map-type"),
    );
    // Both errors print the type of the list.
    let bad_value = if of_list.is_set() {
        named(of_list.as_text())
    } else {
        BadValue::Json(of_list.value())
    };
    match items.child("type").as_text() {
        "array" if of_list.is_set() && of_list.as_text() != "atomic" => {
            errors.invalid(of_list, named(of_list.as_text()), detail);
        }
        "object" if of_map.as_text() != "atomic" => errors.invalid(of_map, bad_value, detail),
        _ => {}
    }
}

pub(super) fn validate_list_map(schema: &Node<'_, '_>, errors: &mut Errors) {
    let (keys, list_type) = (
        schema.child("x-kubernetes-list-map-keys"),
        schema.child("x-kubernetes-list-type"),
    );
    if !keys.is_empty() && list_type.as_text() != "map" {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        if list_type.is_set() {
            errors.invalid(list_type, list_type.as_text(), detail);
        } else {
            errors.required(list_type, detail);
        }
    }
    if list_type.as_text() != "map" {
        return;
    }
    if keys.is_empty() {
        errors.required(keys, "must not be empty if x-kubernetes-list-type is map");
    }
    let items = schema.child("items");
    // It is there as `null` where it is neither a schema nor a list of them.
    if schema.value().get("items").is_none() {
        errors.required(items, "must have a schema if x-kubernetes-list-type is map");
        return;
    }
    if items.value().as_object().is_none() {
        let bad_value = internal_json(
            errors.release(),
            "apiextensions.JSONSchemaPropsOrArray",
            &super::internal_form::items(items.value()),
        );
        let detail = "must only have a single schema if x-kubernetes-list-type is map";
        errors.invalid(items, bad_value, detail);
        return;
    }
    let of = items.child("type");
    if of.as_text() == "object" {
        validate_keys(&keys, &items, errors);
    } else {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.invalid(of, of.as_text(), detail);
    }
}

/// The keys are scalar properties of the items.
fn validate_keys(keys: &Node<'_, '_>, items: &Node<'_, '_>, errors: &mut Errors) {
    let properties = items.child("properties");
    let mut seen = HashSet::new();
    for key in keys.items() {
        let property = properties.key(key.as_text());
        let of = property.child("type");
        if !property.is_set() {
            let detail = "entries must all be names of item properties";
            errors.invalid(keys, BadValue::Json(keys.value()), detail);
        } else if matches!(of.as_text(), "array" | "object") {
            let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
            // It prints the type of the items.
            errors.invalid(of, items.child("type").as_text(), detail);
        }
        if !seen.insert(key.as_text()) {
            let detail = "must not contain duplicate entries";
            errors.invalid(keys, BadValue::Json(keys.value()), detail);
        }
    }
}
