//! Objects of `resource.k8s.io` in `testdata/validation/devices.jsonl`, decoded, defaulted and prepared, with what kube-apiserver
//! says of them.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

use std::path::Path;

use pratique_json::Value;
use pratique_types::GroupVersionKind;
use pratique_validation::{Candidate, NamespaceView, Rejection, Validator};

/// The errors in the server's order, each with its field.
fn errors(result: Result<(), Rejection>) -> Vec<String> {
    match result {
        Ok(()) => Vec::new(),
        Err(Rejection::Invalid(status)) => {
            let causes = status.details.unwrap_or_default().causes.into_iter();
            causes
                .map(|cause| format!("{}: {}", cause.field, cause.message))
                .collect()
        }
        Err(rejection) => vec![rejection.to_string()],
    }
}

fn validate(validator: &Validator, case: &Value<'_>) -> Vec<String> {
    let text = |name: &str| case.get(name).and_then(Value::as_str).unwrap_or_default();
    let kind = GroupVersionKind::new(text("group"), text("version"), text("kind"));
    let candidate = Candidate::new(&kind, case.get("object").unwrap()).of_subresource(text("subresource"));
    errors(match case.get("old") {
        Some(old) => validator.update(&candidate, old),
        None => validator.create(&candidate),
    })
}

#[test]
fn answers_are_those_of_a_server() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/validation/devices.jsonl");
    let file = std::fs::read_to_string(path).unwrap();
    // The expressions of the cases are valid.
    let validator = Validator::new().with_device_expressions(|_, _, _| Ok(1));
    let mut differences = Vec::new();
    for line in file.lines() {
        let case = pratique_json::parse(line.as_bytes()).unwrap();
        let expected: Vec<&str> = {
            let errors = case.get("errors").and_then(Value::as_array).unwrap();
            errors.iter().filter_map(Value::as_str).collect()
        };
        let actual = validate(&validator, &case);
        if actual != expected {
            let name = case.get("name").unwrap();
            differences.push(format!("{name}\n  expected {expected:#?}\n  actual {actual:#?}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

const CLASS: &str = r#"{"metadata": {"name": "a"}, "spec": {"selectors": [{"cel": {"expression": "device.driver == 'a'"}}]}}"#;

#[track_caller]
fn check_class(validator: &Validator, expected: &[&str]) {
    let kind = GroupVersionKind::new("resource.k8s.io", "v1", "DeviceClass");
    let object = pratique_json::parse(CLASS.as_bytes()).unwrap();
    assert_eq!(
        errors(validator.create(&Candidate::new(&kind, &object))),
        expected
    );
}

#[test]
fn expressions_are_compiled_by_whom_the_caller_names() {
    let field = "spec.selectors[0].cel.expression";
    check_class(
        &Validator::new(),
        &["the expression of a device is not validated"],
    );
    check_class(
        &Validator::new().with_device_expressions(|_, _, _| Ok(1_000_000)),
        &[],
    );
    check_class(
        &Validator::new().with_device_expressions(|_, _, _| Ok(1_000_001)),
        &[&format!("{field}: Forbidden: too complex, exceeds cost limit")],
    );
    check_class(
        &Validator::new().with_device_expressions(|_, _, _| Err("no".to_owned())),
        &[&format!("{field}: Invalid value: \"device.driver == 'a'\": no")],
    );
}

#[test]
fn a_label_of_the_namespace_gives_administrators_access() {
    let kind = GroupVersionKind::new("resource.k8s.io", "v1", "ResourceClaim");
    let object = br#"{"metadata": {"name": "a", "namespace": "b"}, "spec": {"devices": {"requests": [{"name": "r",
        "exactly": {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1, "adminAccess": true}}]}}}"#;
    let object = pratique_json::parse(object).unwrap();
    let validate = |namespace| {
        let candidate = Candidate::new(&kind, &object).in_namespace(namespace);
        errors(Validator::new().create(&candidate))
    };
    assert_eq!(
        validate(NamespaceView::Unknown),
        ["the access of an administrator, which the namespace allows, is not validated"]
    );
    assert_eq!(
        validate(NamespaceView::Unreadable("no route")),
        [
            "spec.devices.requests[0].adminAccess: Internal error: could not retrieve namespace to verify admin access: no route"
        ]
    );
    let namespace = |labels: &str| {
        let text = format!(r#"{{"metadata": {{"name": "b", "labels": {labels}}}}}"#);
        pratique_json::parse(text.as_bytes()).unwrap().into_owned()
    };
    let (other, allowing) = (
        namespace("{}"),
        namespace(r#"{"resource.kubernetes.io/admin-access": "true"}"#),
    );
    assert_eq!(
        validate(NamespaceView::Stored(&other)),
        [
            "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the \
             `resource.kubernetes.io/admin-access: true` label on the containing namespace"
        ]
    );
    assert_eq!(validate(NamespaceView::Stored(&allowing)), [""; 0]);
}
