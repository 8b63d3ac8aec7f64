//! Sets and lists by keys, whose items are unique.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use pratique_json::{Object, Value};
use pratique_types::field::{Error, ErrorList, Path};

use crate::schema::SchemaNode;

/// Validates the lists of a new object, unless those of the old one were wrong, too.
pub(crate) fn validate_unless(old: &Value<'_>, new: &Value<'_>, schema: &SchemaNode, errors: &mut ErrorList) {
    let mut old_errors = ErrorList::default();
    validate(old, schema, &Path::ROOT, &mut old_errors);
    if old_errors.is_empty() {
        validate(new, schema, &Path::ROOT, errors);
    }
}

/// Validates that the items of sets and the keys of keyed lists are unique.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/listtype/validation.go, ValidateListSetsAndMaps
pub(crate) fn validate(value: &Value<'_>, schema: &SchemaNode, path: &Path<'_>, errors: &mut ErrorList) {
    match value {
        Value::Object(object) => {
            if schema.properties.is_empty() && schema.additional_schema().is_none() {
                return;
            }
            for (name, value) in object.iter() {
                if let Some((schema, path)) = schema.member_at(name, path) {
                    validate(value, schema, &path, errors);
                }
            }
        }
        Value::Array(items) => {
            match schema.list_type.as_deref() {
                Some("set") => set(items, path, errors),
                Some("map") => map(items, &schema.list_map_keys, path, errors),
                _ => {}
            }
            if let Some(schema) = &schema.items {
                for (at, item) in items.iter().enumerate() {
                    validate(item, schema, &path.index(at), errors);
                }
            }
        }
        _ => {}
    }
}

fn set(items: &[Value<'_>], path: &Path<'_>, errors: &mut ErrorList) {
    for at in repeated(items.iter()) {
        if let Some(item) = items.get(at) {
            errors.push(Error::duplicate(path.index(at), item));
        }
    }
}

fn map(items: &[Value<'_>], keys: &[Box<str>], path: &Path<'_>, errors: &mut ErrorList) {
    let is_item = |item: &Value<'_>| item.is_null() || item.as_object().is_some();
    if let Some((at, item)) = items.iter().enumerate().find(|(_, item)| !is_item(item)) {
        let detail = "must be an object for an array of list-type map";
        errors.push(Error::invalid(path.index(at), item, detail));
        return;
    }
    let keys_of: Vec<Value<'_>> = items
        .iter()
        .map(|item| Value::Object(keys_of(item, keys)))
        .collect();
    for at in repeated(keys_of.iter()) {
        if let Some(keys) = keys_of.get(at) {
            errors.push(Error::duplicate(path.index(at), keys));
        }
    }
}

fn keys_of<'i>(item: &'i Value<'_>, keys: &'i [Box<str>]) -> Object<'i> {
    let mut key_values = Object::new();
    for name in keys {
        if let Some(value) = item.get(name) {
            key_values.insert(&**name, value.borrowed());
        }
    }
    key_values
}

/// The places where a value stands for the second time.
fn repeated<'v, 'a: 'v>(values: impl ExactSizeIterator<Item = &'v Value<'a>>) -> Vec<usize> {
    if values.len() < 2 {
        return Vec::new();
    }
    // Whether a value was reported, by its kind and text.
    let mut reported: HashMap<(u8, String), bool> = HashMap::new();
    let mut places = Vec::new();
    for (at, value) in values.enumerate() {
        match reported.entry((kind(value), value.to_string())) {
            Entry::Vacant(entry) => {
                entry.insert(false);
            }
            Entry::Occupied(mut entry) if !entry.get() => {
                entry.insert(true);
                places.push(at);
            }
            Entry::Occupied(_) => {}
        }
    }
    places
}

/// Integers are never the floats that are written alike.
fn kind(value: &Value<'_>) -> u8 {
    match value {
        Value::Float(_) => 1,
        _ => 0,
    }
}
