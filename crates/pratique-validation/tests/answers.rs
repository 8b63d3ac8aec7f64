//! Objects of `testdata/validation`, decoded, defaulted and prepared, with what kube-apiserver says of them: flow control, API
//! services and reviews.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

use std::path::Path;

use pratique_json::Value;
use pratique_schema::{FeatureGates, Release};
use pratique_types::GroupVersionKind;
use pratique_validation::{Candidate, Rejection, Validator};

/// The errors in the server's order, each with its field; the message alone where it has none.
fn errors(result: Result<(), Rejection>) -> Vec<String> {
    let status = match result {
        Ok(()) => return Vec::new(),
        Err(Rejection::Invalid(status)) => status,
        Err(rejection) => return vec![rejection.to_string()],
    };
    let causes = status.details.unwrap_or_default().causes;
    if causes.is_empty() {
        return vec![status.message];
    }
    let causes = causes.into_iter();
    causes
        .map(|cause| format!("{}: {}", cause.field, cause.message))
        .collect()
}

fn validate(case: &Value<'_>) -> Vec<String> {
    let text = |name: &str| case.get(name).and_then(Value::as_str).unwrap_or_default();
    let kind = GroupVersionKind::new(text("group"), text("version"), text("kind"));
    let candidate = Candidate::new(&kind, case.get("object").unwrap()).of_subresource(text("subresource"));
    let validator = Validator::new();
    errors(match case.get("old") {
        Some(old) => validator.update(&candidate, old),
        None => validator.create(&candidate),
    })
}

#[track_caller]
fn check_file(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/validation");
    let file = std::fs::read_to_string(path.join(name)).unwrap();
    let mut differences = Vec::new();
    for line in file.lines() {
        let case = pratique_json::parse(line.as_bytes()).unwrap();
        let expected = case.get("errors").and_then(Value::as_array).unwrap().iter();
        let expected: Vec<&str> = expected.filter_map(Value::as_str).collect();
        let actual = validate(&case);
        if actual != expected {
            let name = case.get("name").unwrap();
            differences.push(format!("{name}\n  expected {expected:#?}\n  actual {actual:#?}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn flow_control() {
    check_file("flow-control.jsonl");
}

#[test]
fn api_services() {
    check_file("api-services.jsonl");
}

#[test]
fn what_is_there_twice_of_metadata_is_told_once_since_1_37() {
    let kind = GroupVersionKind::new("apiregistration.k8s.io", "v1", "APIService");
    let service = br#"{"metadata": {"name": "v1.x.io", "labels": {"a": "x/y", "b": "x/y"}},
        "spec": {"group": "x.io", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1}}"#;
    let service = pratique_json::parse(service).unwrap();
    let told_by = |version: &str| {
        let gates = FeatureGates::new(Release::by_version(version).unwrap());
        let validator = Validator::new().with_gates(gates);
        let errors = errors(validator.create(&Candidate::new(&kind, &service)));
        assert!(
            errors.iter().all(|error| error.starts_with("metadata.labels: ")),
            "{errors:?}"
        );
        errors.len()
    };
    assert_eq!([told_by("1.36"), told_by("1.37")], [2, 1]);
}

#[test]
fn reviews() {
    check_file("reviews.jsonl");
}

/// A review is no object with metadata that somebody validates, and its answer names neither its kind nor itself.
#[test]
fn reviews_have_an_answer_without_a_kind() {
    let kind = GroupVersionKind::new("authorization.k8s.io", "v1", "SelfSubjectAccessReview");
    let object = pratique_json::parse(br#"{"metadata": {"name": "A B"}, "spec": {}}"#).unwrap();
    let refused = Validator::new().create(&Candidate::new(&kind, &object));
    let Err(Rejection::Invalid(status)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(
        status.message,
        ".authorization.k8s.io \"\" is invalid: [spec: Invalid value: null: exactly one of nonResourceAttributes or \
         resourceAttributes must be specified, metadata: Invalid value: {\"name\":\"A B\"}: must be empty]"
    );
    let details = status.details.unwrap_or_default();
    assert_eq!((details.kind.as_str(), details.name.as_str()), ("", ""));
}

#[test]
fn a_changed_namespace_is_shown_as_a_text() {
    let kind = GroupVersionKind::new("apiregistration.k8s.io", "v1", "APIService");
    let object =
        pratique_json::parse(br#"{"metadata": {"name": "v1.a", "resourceVersion": "1"}, "spec": {}}"#)
            .unwrap();
    let old =
        pratique_json::parse(br#"{"metadata": {"name": "v1.a", "namespace": "b"}, "spec": {}}"#).unwrap();
    let candidate = Candidate::new(&kind, &object).of_subresource("status");
    let texts = errors(Validator::new().update(&candidate, &old));
    // Both the server and the kind say so.
    assert_eq!(
        texts,
        ["metadata.namespace: Invalid value: \"\": field is immutable"; 2]
    );
}
