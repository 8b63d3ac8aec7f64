//! The items of lists that are maps or sets.

use std::collections::HashSet;

use pratique_validation::rules::{Errors, Node};

/// Their items are not null, and the keys of maps are always there.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validateMapListKeysMapSet
pub(super) fn validate_map_list_keys(schema: &Node<'_, '_>, errors: &mut Errors) {
    let (items, of) = (schema.child("items"), schema.child("x-kubernetes-list-type"));
    if items.value().as_object().is_none() || !matches!(of.as_text(), "set" | "map") {
        return;
    }
    let nullable = items.child("nullable");
    if nullable.is_true() {
        let detail = format!(
            "cannot be nullable when x-kubernetes-list-type is {}",
            of.as_text()
        );
        errors.forbidden(nullable, &detail);
    }
    if of.as_text() != "map" {
        return;
    }
    let (required, properties) = (items.child("required"), items.child("properties"));
    let required: HashSet<&str> = required.items().map(|name| name.as_text()).collect();
    for key in schema.child("x-kubernetes-list-map-keys").items() {
        let property = properties.key(key.as_text());
        if !property.is_set() {
            continue;
        }
        let (default, nullable) = (property.child("default"), property.child("nullable"));
        if !default.is_set() && !required.contains(key.as_text()) {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            errors.required(default, detail);
        }
        if nullable.is_true() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.forbidden(nullable, detail);
        }
    }
}
