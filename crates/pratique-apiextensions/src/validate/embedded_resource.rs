//! Embedded resources: their type and metadata.

use pratique_gotext::validation;
use pratique_json::{Object, Value};
use pratique_schema::Release;
use pratique_types::field::{Error, ErrorList, Path};
use pratique_validation::rules::path_segment_name;

use super::object_meta;
use crate::metadata::{self, MalformedMetadata};
use crate::schema::SchemaNode;

/// Validates the embedded resources of an object, and the object itself if it is to be one.
// Upstream: apiextensions-apiserver/pkg/apiserver/schema/objectmeta/validation.go, Validate
pub(crate) fn validate(
    value: &Value<'_>,
    (schema, is_resource): (&SchemaNode, bool),
    release: &'static Release,
    path: &Path<'_>,
    errors: &mut ErrorList,
) {
    match value {
        Value::Object(object) => {
            if is_resource || schema.is_embedded {
                validate_resource(object, release, path, errors);
            }
            if schema.properties.is_empty() && schema.additional_schema().is_none() {
                return;
            }
            for (name, value) in object.iter() {
                if let Some((schema, path)) = schema.member_at(name, path) {
                    validate(value, (schema, false), release, &path, errors);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = &schema.items {
                for (at, item) in items.iter().enumerate() {
                    validate(item, (schema, false), release, &path.index(at), errors);
                }
            }
        }
        _ => {}
    }
}

fn validate_resource(
    object: &Object<'_>,
    release: &'static Release,
    path: &Path<'_>,
    errors: &mut ErrorList,
) {
    for (name, fault) in [
        ("apiVersion", api_version_fault as fn(&str) -> Option<String>),
        ("kind", kind_fault),
    ] {
        let field = path.child(name);
        match object.get(name) {
            None => errors.push(Error::required(field, "")),
            Some(value) => {
                let fault = match value.as_str() {
                    None => Some("must be a string".to_owned()),
                    Some("") => Some("must not be empty".to_owned()),
                    Some(text) => fault(text),
                };
                errors.extend(fault.map(|fault| Error::invalid(field, value, &fault)));
            }
        }
    }
    let Some(given) = object.get("metadata") else {
        return;
    };
    let path = path.child("metadata");
    match metadata::read(given, MalformedMetadata::Refuse) {
        Err(message) => errors.push(Error::invalid(path, given, &message)),
        Ok(read) => {
            let mut metadata = read.metadata;
            let has = |name: &str| {
                let text = metadata.get(name).and_then(Value::as_str);
                text.is_some_and(|text| !text.is_empty())
            };
            let (is_named, is_namespaced) = (has("name"), has("namespace"));
            if let Value::Object(metadata) = &mut metadata
                && !is_named
            {
                // Embedded resources need no name.
                metadata.insert("name", "fakename");
            }
            let faults = object_meta::validate(&metadata, is_namespaced, path_segment_name, release, &path);
            errors.append(faults);
        }
    }
}

// Upstream: apimachinery/pkg/runtime/schema/group_version.go, ParseGroupVersion
fn api_version_fault(text: &str) -> Option<String> {
    let slashes = text.matches('/').count();
    (slashes > 1).then(|| format!("unexpected GroupVersion string: {text}"))
}

fn kind_fault(text: &str) -> Option<String> {
    let faults = validation::dns1035_label(&text.to_lowercase());
    (!faults.is_empty()).then(|| {
        format!(
            "may have mixed case, but should otherwise match: {}",
            faults.join(",")
        )
    })
}
