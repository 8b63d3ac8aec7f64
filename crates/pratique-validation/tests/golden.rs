//! Objects of `testdata/validation`, decoded, defaulted and prepared, with what kube-apiserver says of them.
#![allow(clippy::unwrap_used, reason = "a test that fails may stop")]

use std::fs;
use std::path::Path;

use pratique_gotext::net::Cidr;
use pratique_json::Value;
use pratique_types::GroupVersionKind;
use pratique_validation::{Candidate, Rejection, Validator};

fn text<'v>(case: &'v Value<'_>, name: &str) -> &'v str {
    case.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The errors in the server's order, each with its field; the message alone where it has none.
fn errors(result: Result<(), Rejection>) -> Vec<String> {
    let status = match result {
        Ok(()) => return Vec::new(),
        Err(Rejection::Invalid(status)) => status,
        Err(rejection) => return vec![rejection.to_string()],
    };
    let Some(details) = status.details else {
        return vec![status.message];
    };
    let causes = details.causes.into_iter();
    causes
        .map(|cause| format!("{}: {}", cause.field, cause.message))
        .collect()
}

fn validate(case: &Value<'_>) -> Vec<String> {
    let networks = Cidr::parse("10.0.0.0/24").into_iter().collect();
    let validator = Validator::new().with_service_networks(networks);
    let kind = GroupVersionKind::new(text(case, "group"), text(case, "version"), text(case, "kind"));
    let candidate = Candidate::new(&kind, case.get("object").unwrap())
        .of_subresource(text(case, "subresource"))
        .in_dry_run();
    errors(match case.get("old") {
        Some(old) => validator.update(&candidate, old),
        None => validator.create(&candidate),
    })
}

#[track_caller]
fn check_file(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/validation");
    let file = fs::read_to_string(path.join(name)).unwrap();
    let mut differences = Vec::new();
    for line in file.lines() {
        let case = pratique_json::parse(line.as_bytes()).unwrap();
        let expected = case.get("errors").and_then(Value::as_array).unwrap().iter();
        let expected: Vec<&str> = expected.filter_map(Value::as_str).collect();
        let actual = validate(&case);
        if actual != expected {
            let name = text(&case, "name");
            differences.push(format!("{name}\n  expected {expected:#?}\n  actual {actual:#?}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn pods() {
    check_file("pods.jsonl");
}

#[test]
fn workloads() {
    check_file("workloads.jsonl");
}

#[test]
fn autoscalers_and_scales() {
    check_file("autoscaling.jsonl");
}

#[test]
fn other_kinds_of_the_core() {
    check_file("core.jsonl");
}
