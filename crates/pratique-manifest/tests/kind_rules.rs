//! Policies, bindings and webhook configurations in `testdata/validation/policies.jsonl`, decoded, defaulted and prepared, with
//! what kube-apiserver says of them.

#![allow(clippy::unwrap_used, reason = "a test may stop where it fails")]

use std::path::Path;

use pratique_json::Value;
use pratique_manifest::KIND_RULES;
use pratique_types::GroupVersionKind;
use pratique_validation::{Candidate, Rejection, Validator};

/// The errors in the server's order, each with its field.
fn errors(judged: Result<(), Rejection>) -> Vec<String> {
    match judged {
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

fn judge(case: &Value<'_>) -> Vec<String> {
    let validator = Validator::new().with_kinds(KIND_RULES);
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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/validation/policies.jsonl");
    let file = std::fs::read_to_string(path).unwrap();
    let mut differences = Vec::new();
    for line in file.lines() {
        let case = pratique_json::parse(line.as_bytes()).unwrap();
        let expected = case.get("errors").and_then(Value::as_array).unwrap().iter();
        let expected: Vec<&str> = expected.filter_map(Value::as_str).collect();
        let actual = judge(&case);
        if actual != expected {
            let name = case.get("name").unwrap();
            differences.push(format!("{name}\n  expected {expected:#?}\n  actual {actual:#?}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
