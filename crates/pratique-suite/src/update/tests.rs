//! Updates of files.

use super::*;
use crate::suite::Suite;
use pratique_review::Decision;

const POLICIES: &str = "apiVersion: pratique/v1alpha1\nkind: Suite # ours\ntests:\n";

fn denied() -> ActualResult {
    ActualResult {
        decision: Decision::Denied,
        code: 422,
        reason: "Invalid".to_owned(),
        message: "no: never".to_owned(),
        ..ActualResult::default()
    }
}

fn allowed() -> ActualResult {
    ActualResult {
        decision: Decision::Allowed,
        ..ActualResult::default()
    }
}

#[track_caller]
fn check(tests: &str, actual: &ActualResult, expected: Option<&str>) {
    let file = ManifestFile {
        path: "s.yaml".to_owned(),
        content: format!("{POLICIES}{tests}").into_bytes(),
    };
    let suites: Vec<Suite> = read_suites(&file).unwrap();
    let results: Vec<_> = suites
        .iter()
        .flat_map(|suite| suite.cases.iter().map(move |case| (suite, case, actual)))
        .collect();
    let found = updated(&file, &results).unwrap();
    let expected = expected.map(|expected| format!("{POLICIES}{expected}"));
    assert_eq!(found, expected);
}

#[test]
fn what_is_right_stays() {
    check("- name: a\n  object: {}\n  expect: denied\n", &denied(), None);
}

#[test]
fn expectations_are_added() {
    check(
        "- name: a # first\n  object: {} # empty\n# between\n- {name: b, object: {}}\n",
        &denied(),
        Some(
            "- name: a # first\n  object: {} # empty\n  expect:\n    verdict: denied\n    code: 422\n    \
             reason: Invalid\n    message: \"no: never\"\n# between\n\
             - {name: b, object: {}, expect: {verdict: denied, code: 422, reason: Invalid, message: \"no: never\"}}\n",
        ),
    );
}

#[test]
fn decisions_change() {
    check(
        "- name: a\n  object: {}\n  expect: allowed # so far\n- name: b\n  object: {}\n  expect:\n    verdict: allowed\n    warnings: []\n",
        &denied(),
        Some(
            "- name: a\n  object: {}\n  expect: denied # so far\n- name: b\n  object: {}\n  expect:\n    verdict: denied\n    code: 422\n    \
             reason: Invalid\n    message: \"no: never\"\n",
        ),
    );
    check(
        "- name: a\n  object: {}\n  expect:\n    verdict: denied\n    code: 403\n",
        &allowed(),
        Some("- name: a\n  object: {}\n  expect:\n    allowed\n"),
    );
}

#[test]
fn single_fields_change() {
    check(
        "- name: a\n  object: {}\n  expect:\n    # the code\n    code: 403 # forbidden\n    verdict: denied\n    message: |\n      old\n      text\n    reason: Invalid\n",
        &denied(),
        Some(
            "- name: a\n  object: {}\n  expect:\n    # the code\n    code: 422 # forbidden\n    verdict: denied\n    message: \"no: never\"\n    reason: Invalid\n",
        ),
    );
    let annotated = ActualResult {
        audit_annotations: [
            ("p/a".to_owned(), "1".to_owned()),
            ("p/c".to_owned(), "3".to_owned()),
        ]
        .into(),
        ..allowed()
    };
    check(
        "- name: a\n  object: {}\n  expect:\n    verdict: allowed\n    auditAnnotations:\n      p/a: x\n      p/b: z\n",
        &annotated,
        Some(
            "- name: a\n  object: {}\n  expect:\n    verdict: allowed\n    auditAnnotations:\n      p/a: \"1\"\n",
        ),
    );
}

#[test]
fn rows_get_their_own() {
    check(
        "- name: a\n  object: {}\n  expect: allowed\n  each:\n  - name: r\n    set: {object.x: 1}\n  - name: s\n    expect: denied\n",
        &denied(),
        Some(
            "- name: a\n  object: {}\n  expect: allowed\n  each:\n  - name: r\n    set: {object.x: 1}\n    expect:\n      verdict: denied\n      code: 422\n      reason: Invalid\n      message: \"no: never\"\n  - name: s\n    expect: denied\n",
        ),
    );
}

#[test]
fn objects_change_in_part() {
    let object = pratique_json::parse(br#"{"a":{"b":2,"c":3},"d":4}"#)
        .unwrap()
        .into_owned();
    let changed = ActualResult {
        object,
        changed: true,
        ..allowed()
    };
    check(
        "- name: a\n  object: {}\n  expect:\n    verdict: allowed\n    objectContains:\n      a: {b: 1}\n",
        &changed,
        Some(
            "- name: a\n  object: {}\n  expect:\n    verdict: allowed\n    objectContains:\n      a:\n        b: 2\n",
        ),
    );
}
