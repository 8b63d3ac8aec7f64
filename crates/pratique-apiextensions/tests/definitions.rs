//! CustomResourceDefinitions as objects: what a server answers, for new ones, changes and their status.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

use std::path::Path;

use pratique_apiextensions::{CustomResource, DEFINITION_KINDS, definition_warnings};
use pratique_json::{Value, text_at};
use pratique_schema::Release;
use pratique_types::GroupVersionKind;
use pratique_validation::{Candidate, Rejection, Validator};

/// The message of a refusal and how many causes it has.
fn answer(case: &Value<'_>) -> (String, i64) {
    let kind = GroupVersionKind::new("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let validator = Validator::new().with_kinds(DEFINITION_KINDS);
    let object = case.get("object").unwrap();
    let candidate = Candidate::new(&kind, object).of_subresource(text_at(case, &["subresource"]));
    let result = match case.get("old") {
        Some(old) => validator.update(&candidate, old),
        None => validator.create(&candidate),
    };
    match result {
        Ok(()) => (String::new(), 0),
        Err(Rejection::Invalid(status)) => {
            let causes = status.details.map_or(0, |details| details.causes.len());
            (status.message, causes as i64)
        }
        Err(rejection @ (Rejection::NotValidated(_) | Rejection::Open(_))) => (rejection.to_string(), 0),
    }
}

#[test]
fn answers_are_the_servers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/definitions/validation.json");
    let text = std::fs::read(path).unwrap();
    let cases = pratique_json::parse(&text).unwrap();
    let cases = cases.as_array().unwrap();
    let mut differences = Vec::new();
    for case in cases {
        let causes = case.get("causes").and_then(Value::as_int).unwrap_or_default();
        let expected = (text_at(case, &["message"]).to_owned(), causes);
        let actual = answer(case);
        if actual != expected {
            differences.push(format!("{case}\n  actual   {actual:?}\n  expected {expected:?}"));
        }
    }
    assert!(
        differences.is_empty(),
        "{} of {} cases differ:\n{}",
        differences.len(),
        cases.len(),
        differences.join("\n")
    );
    assert!(cases.len() >= 200, "{} cases", cases.len());
}

/// A definition with these members of its spec and of the schema of its version.
fn definition(name: &str, spec: &str, schema: &str) -> Value<'static> {
    let text = format!(
        r#"{{"metadata": {{"name": "{name}"}}, "spec": {{{spec}, "scope": "Namespaced", "versions": [
            {{"name": "v1", "served": true, "storage": true, "schema": {{"openAPIV3Schema": {{"type": "object"{schema}}}}}}}
        ]}}}}"#
    );
    pratique_json::parse(text.as_bytes()).unwrap().into_owned()
}

#[track_caller]
fn check_compile(name: &str, spec: &str, expected: &[&str]) {
    let errors = match CustomResource::compile(&definition(name, spec, "")) {
        Ok(_) => Vec::new(),
        Err(error) => error.errors,
    };
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(texts, expected);
}

#[test]
fn defaults_may_be_left_out_of_definitions_that_are_compiled() {
    let spec = r#""group": "example.com", "names": {"plural": "widgets", "kind": "Widget"}"#;
    check_compile("widgets.example.com", spec, &[]);
    check_compile(
        "widget.example.com",
        spec,
        &["metadata.name: Invalid value: \"widget.example.com\": must be spec.names.plural+\".\"+spec.group"],
    );
    let spec = r#""group": "example.com", "names": {"plural": "widgets"}"#;
    check_compile(
        "widgets.example.com",
        spec,
        &[
            "spec.names.singular: Required value",
            "spec.names.kind: Required value",
            "spec.names.listKind: Required value",
        ],
    );
}

#[test]
fn resources_of_kubernetes_itself_are_not_compiled() {
    let spec = |plural: &str, kind: &str| {
        format!(r#""group": "networking.k8s.io", "names": {{"plural": "{plural}", "kind": "{kind}"}}"#)
    };
    let missing = "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval \
                   annotation \"api-approved.kubernetes.io\", see https://github.com/kubernetes/enhancements/pull/1111";
    check_compile(
        "widgets.networking.k8s.io",
        &spec("widgets", "Widget"),
        &[missing],
    );
    for (plural, kind) in [("foos", "Ingress"), ("ingresses", "Foo")] {
        check_compile(
            &format!("{plural}.networking.k8s.io"),
            &spec(plural, kind),
            &[
                missing,
                "spec.names: Forbidden: Kubernetes itself serves ingresses.networking.k8s.io of kind Ingress, and not this \
                 resource",
            ],
        );
    }
}

#[test]
fn warnings_are_about_what_is_new() {
    let spec = r#""group": "example.com", "names": {"plural": "widgets", "kind": "Widget"}"#;
    let with = |schema: &str| definition("widgets.example.com", spec, schema);
    let odd = with(
        r#", "format": "date", "properties": {"a": {"type": "string", "format": "foo"}, "b": {"type": "array",
            "x-kubernetes-list-type": "set", "items": {"type": "object", "x-kubernetes-map-type": "atomic"}}}"#,
    );
    let [date, foo, set] = [
        "unrecognized format \"date\"",
        "unrecognized format \"foo\"",
        "x-kubernetes-list-type: set for items of type \"object\" is not supported by server-side apply or CEL validation rules",
    ];
    let warnings = |old| definition_warnings(&odd, old, Release::latest());
    assert_eq!(warnings(None), [date, foo, set]);
    let old = with(r#", "properties": {"a": {"type": "string", "format": "foo"}}"#);
    assert_eq!(warnings(Some(&old)), [date, set]);
    assert!(warnings(Some(&odd)).is_empty());
    // Sets are warned of since 1.37.
    let older = Release::by_version("1.36").unwrap();
    assert_eq!(definition_warnings(&odd, None, older), [date, foo]);
}

#[test]
fn rules_name_fields_that_are_keywords_either_way() {
    let spec = r#""group": "example.com", "names": {"plural": "widgets", "kind": "Widget"}"#;
    let definition = definition(
        "widgets.example.com",
        spec,
        r#", "properties": {"if": {"type": "integer"}}, "x-kubernetes-validations": [
            {"rule": "self.if > 0", "message": "as it is"}, {"rule": "self.__if__ > 0", "message": "escaped"}]"#,
    );
    let widgets = CustomResource::compile(&definition).unwrap();
    let v1 = widgets.version("v1").unwrap();
    let texts = |value: i64| {
        let object = format!(
            r#"{{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {{"name": "w", "namespace": "n"}}, "if": {value}}}"#
        );
        let object = pratique_json::parse(object.as_bytes()).unwrap();
        let errors = v1.validate_create(&object).errors;
        errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert!(texts(1).is_empty());
    assert_eq!(
        texts(0),
        ["<nil>: Invalid value: as it is", "<nil>: Invalid value: escaped"]
    );
}
