//! `dependencies: {}` in the schemas of CustomResourceDefinitions.
//!
//! The form in which an object is written leaves it out, but a server validates the object that it decoded, and refuses schemas with
//! dependencies, also with none. No other empty value of a definition makes a difference.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, specStandardValidatorV3.validate

use pratique_json::{Object, Value};
use pratique_types::GroupVersionKind;

use crate::request::{Request, Verb};

const NAME: &str = "dependencies";

/// Sets what the request's body has, in an object that goes on to validation.
pub(crate) fn restore_empty_dependencies(
    kind: &GroupVersionKind,
    request: &Request<'_>,
    object: &mut Value<'static>,
) {
    let is_whole =
        matches!(request.verb, Verb::Create | Verb::Update) && request.target.subresource.is_empty();
    if !is_whole || !kind.is_custom_resource_definition() || !mentions_name(request.body) {
        return;
    }
    // What is no JSON has other ways to say it, which no tool uses.
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

fn mentions_name(body: &[u8]) -> bool {
    body.windows(NAME.len()).any(|window| window == NAME.as_bytes())
}

/// Recursion follows the nesting of the body, which its parser bounds.
fn restore(written: &Value<'_>, schema: &mut Value<'static>) {
    let (Value::Object(written), Value::Object(schema)) = (written, schema) else {
        return;
    };
    let is_empty = |value: &Value<'_>| value.as_object().is_some_and(Object::is_empty);
    if written.get(NAME).is_some_and(is_empty) && !schema.contains_key(NAME) {
        schema.insert(NAME, Object::new());
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
            (Some(written), Some(schema)) => restore(written, schema),
            _ => {}
        }
    }
    for name in ["properties", "patternProperties", "definitions", NAME] {
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
