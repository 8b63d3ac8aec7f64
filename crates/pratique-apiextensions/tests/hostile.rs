//! Objects and definitions that mean harm: nothing panics, and time and memory are bounded.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

use pratique_apiextensions::CustomResource;
use pratique_json::Value;

fn definition(schema: &str) -> Value<'static> {
    let text = format!(
        r#"{{"metadata": {{"name": "widgets.example.com"}}, "spec": {{
            "group": "example.com", "scope": "Cluster", "names": {{"plural": "widgets", "kind": "Widget"}},
            "versions": [{{"name": "v1", "served": true, "storage": true, "schema": {{"openAPIV3Schema": {schema}}}}}]
        }}}}"#
    );
    pratique_json::parse(text.as_bytes()).unwrap().into_owned()
}

fn widget(spec: &str) -> Value<'static> {
    let text = format!(
        r#"{{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {{"name": "w", "resourceVersion": "1"}}, "spec": {spec}}}"#
    );
    pratique_json::parse(text.as_bytes()).unwrap().into_owned()
}

/// Goes through everything that is done with an object.
fn errors(schema: &str, spec: &str) -> usize {
    let (resource, _) = CustomResource::stored(&definition(schema)).unwrap();
    let version = resource.version("v1").unwrap();
    let (mut new, old) = (widget(spec), widget(spec));
    version.prune(&mut new).unwrap();
    version.default(&mut new);
    version.prepare_update(&mut new, &old);
    let update = version.validate_update(&new, &old);
    let create = version.validate_create(&new);
    assert!(version.message(&new, &create.errors).len() < 32 << 20);
    update.errors.len() + create.errors.len()
}

#[test]
fn deep_objects_are_walked() {
    let deep = format!("{}1{}", "{\"a\":".repeat(300), "}".repeat(300));
    let any = r#"{"type": "object", "properties": {"spec": {"x-kubernetes-preserve-unknown-fields": true}}}"#;
    assert_eq!(errors(any, &deep), 0);
    let none = r#"{"type": "object", "properties": {"spec": {"type": "object"}}}"#;
    assert_eq!(errors(none, &deep), 0);
}

#[test]
fn deep_schemas_are_read() {
    let mut schema = r#"{"type": "string"}"#.to_owned();
    for _ in 0..120 {
        schema = format!(r#"{{"type": "object", "default": {{}}, "properties": {{"a": {schema}}}}}"#);
    }
    let schema = format!(r#"{{"type": "object", "properties": {{"spec": {schema}}}}}"#);
    assert_eq!(errors(&schema, "{}"), 0);
}

#[test]
fn many_errors_are_counted() {
    let schema = r#"{"type": "object", "properties": {"spec": {"type": "array", "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "required": ["k"], "properties": {
            "k": {"type": "string", "maxLength": 1}}}}}}"#;
    let items: Vec<String> = (0..4_000).map(|at| format!(r#"{{"k": "key-{at}"}}"#)).collect();
    let found = errors(schema, &format!("[{}]", items.join(",")));
    assert!((1..10_000).contains(&found), "{found}");
}

#[test]
fn what_is_no_definition_is_refused() {
    for text in [
        "{}",
        "[]",
        "null",
        r#"{"spec": {"versions": [1, null, {"schema": {"openAPIV3Schema": []}}]}}"#,
    ] {
        let value = pratique_json::parse(text.as_bytes()).unwrap();
        assert!(CustomResource::compile(&value).is_err(), "{text}");
    }
    for schema in [
        r#"{"type": 3, "properties": []}"#,
        r#"{"type": "object", "properties": {"spec": {"type": "string", "maxLength": "x", "enum": {}, "required": [1]}}}"#,
        r#"{"type": "object", "$ref": "x"}"#,
        r#"{"type": "object", "properties": {"spec": {"type": "object", "patternProperties": {"a": {}}}}}"#,
    ] {
        assert!(CustomResource::stored(&definition(schema)).is_err(), "{schema}");
    }
}
