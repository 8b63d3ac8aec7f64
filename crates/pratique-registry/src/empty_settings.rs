//! Empty lists and maps in the schemas of CustomResourceDefinitions.
//!
//! The form in which an object is written leaves them out, but a server validates the object that it decoded: it refuses schemas with
//! `dependencies`, also with none, and prints empty lists in errors.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, specStandardValidatorV3.validate

use pratique_apiextensions::SCHEMA_COLLECTIONS;
use pratique_json::{Object, Value};
use pratique_types::GroupVersionKind;

use crate::request::{Request, Verb};

/// Sets what the request's body has, in an object that goes on to validation.
pub(crate) fn restore_empty_settings(
    kind: &GroupVersionKind,
    request: &Request<'_>,
    object: &mut Value<'static>,
) {
    let is_whole =
        matches!(request.verb, Verb::Create | Verb::Update) && request.target.subresource.is_empty();
    if !is_whole || !kind.is_custom_resource_definition() || !has_empty(request.body) {
        return;
    }
    // Tools send JSON.
    let Ok(body) = pratique_json::parse(request.body) else {
        return;
    };
    let written = body.at(&["spec", "versions"]).and_then(Value::as_array);
    let versions = object.get_mut("spec").and_then(|spec| spec.get_mut("versions"));
    let (Some(written), Some(Value::Array(versions))) = (written, versions) else {
        return;
    };
    for (written, version) in written.iter().zip(versions) {
        let schema = version.get_mut("schema");
        let schema = schema.and_then(|schema| schema.get_mut("openAPIV3Schema"));
        if let (Some(written), Some(schema)) = (written.at(&["schema", "openAPIV3Schema"]), schema) {
            restore(written, schema);
        }
    }
}

/// Whether a text has an empty list or map.
fn has_empty(body: &[u8]) -> bool {
    let mut last_byte = b' ';
    body.iter()
        .filter(|byte| !byte.is_ascii_whitespace())
        .any(|byte| {
            let is_empty = matches!((last_byte, byte), (b'[', b']') | (b'{', b'}'));
            last_byte = *byte;
            is_empty
        })
}

/// Recursion follows the nesting of the body, which its parser bounds.
fn restore(written: &Value<'_>, schema: &mut Value<'static>) {
    let (Value::Object(written), Value::Object(schema)) = (written, schema) else {
        return;
    };
    for name in SCHEMA_COLLECTIONS {
        match written.get(name).filter(|_| !schema.contains_key(name)) {
            Some(Value::Array(items)) if items.is_empty() => {
                drop(schema.insert(name, Vec::<Value<'_>>::new()))
            }
            Some(Value::Object(members)) if members.is_empty() => drop(schema.insert(name, Object::new())),
            _ => {}
        }
    }
    for name in [
        "not",
        "items",
        "additionalProperties",
        "additionalItems",
        "allOf",
        "anyOf",
        "oneOf",
    ] {
        match (written.get(name), schema.get_mut(name)) {
            (Some(Value::Array(written)), Some(Value::Array(schemas))) => {
                for (written, schema) in written.iter().zip(schemas) {
                    restore(written, schema);
                }
            }
            // That of items is written as `null`.
            (Some(Value::Array(items)), Some(schema @ (Value::NilArray | Value::Null)))
                if items.is_empty() =>
            {
                *schema = Value::Array(Vec::new());
            }
            (Some(written), Some(schema)) => restore(written, schema),
            _ => {}
        }
    }
    for name in ["properties", "patternProperties", "definitions", "dependencies"] {
        let (Some(Value::Object(written)), Some(Value::Object(schemas))) =
            (written.get(name), schema.get_mut(name))
        else {
            continue;
        };
        for (name, written) in written.iter() {
            if let Some(schema) = schemas.get_mut(name) {
                restore(written, schema);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_empty_values_are_found() {
        assert!(has_empty(b"{\"a\": [ ]}") && has_empty(b"{\"a\": {\n}}"));
        assert!(!has_empty(b"{\"a\": [1]}"));
    }

    #[test]
    fn empty_settings_of_schemas_are_restored() {
        let value = |text: &str| pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        let written = value(
            r#"{"dependencies": {}, "default": {"a": []}, "items": [], "properties": {"a": {"oneOf": []}, "gone": {"enum": []}}}"#,
        );
        let mut schema = value(r#"{"default": {}, "items": null, "properties": {"a": {}}}"#);
        restore(&written, &mut schema);
        let expected =
            r#"{"default": {}, "dependencies": {}, "items": [], "properties": {"a": {"oneOf": []}}}"#;
        assert_eq!(schema, value(expected));
    }
}
