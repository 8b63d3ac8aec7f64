//! Suites of tests: what is wrong with them, and the last outcome of each test.

use serde_json::{Value, json};

use crate::session::{Client, edited, position};
use crate::{BINDING, POLICY};

const SUITE: &str = r"apiVersion: pratique/v1alpha1
kind: Suite
metadata:
  name: replicas
policies:
- policy.yaml
tests:
- name: few replicas
  object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 2}}
  expect: denied
";

#[test]
fn suites_have_problems_and_fixes_too() {
    let broken = POLICY.replacen("object.spec.replicas <=", "objct.spec.replicas <=", 1);
    let files = [
        ("binding.yaml", BINDING),
        ("policy.yaml", POLICY),
        ("broken.yaml", &broken),
    ];
    let mut client = Client::new("suites", &files);
    let mistaken = SUITE.replace("  object:", "  objct:");
    client.open("suite.yaml", &mistaken);
    let found = client.diagnostics("suite.yaml");
    assert_eq!(found[0].0, "unknown-field", "{found:?}");
    assert_eq!(found[0].2, position(&mistaken, "objct", 0));
    let everywhere = json!({"start": {"line": 0, "character": 0}, "end": {"line": 100, "character": 0}});
    let uri = client.uri("suite.yaml");
    let params = json!({"textDocument": {"uri": uri}, "range": everywhere, "context": {"diagnostics": []}});
    let actions = client.ask("textDocument/codeAction", params);
    assert_eq!(edited(&mistaken, &actions[0]["edit"]["changes"][&uri]), SUITE);
    client.replace("suite.yaml", &mistaken, "objct", "object");
    assert_eq!(client.diagnostics("suite.yaml"), []);
    // Problems of files that the suite names are reported, as the suite does not run.
    client.replace("suite.yaml", SUITE, "- policy.yaml", "- broken.yaml");
    let found = client.diagnostics("suite.yaml");
    assert_eq!(found[0].0, "invalid-expression", "{found:?}");
    assert!(found[0].1.contains("broken.yaml:13:"), "{found:?}");
    assert_eq!(found[0].2, json!({"line": 0, "character": 0}));
    client.end();
}

/// The labels of the hints of a file, each with its line, and their tooltips.
fn hints(client: &mut Client, file: &str) -> (Vec<(u64, String)>, Vec<String>) {
    let everywhere = json!({"start": {"line": 0, "character": 0}, "end": {"line": 100, "character": 0}});
    let params = json!({"textDocument": {"uri": client.uri(file)}, "range": everywhere});
    let found = client.ask("textDocument/inlayHint", params);
    let found = found.as_array().unwrap();
    let text = |of: &Value| of.as_str().unwrap().to_owned();
    let labels = found
        .iter()
        .map(|hint| (hint["position"]["line"].as_u64().unwrap(), text(&hint["label"])));
    (
        labels.collect(),
        found.iter().map(|hint| text(&hint["tooltip"])).collect(),
    )
}

fn line(text: &str, needle: &str) -> u64 {
    position(text, needle, 0)["line"].as_u64().unwrap()
}

#[test]
fn hints_tell_the_last_outcome_of_each_test() {
    let suite = SUITE.replace("- policy.yaml", "- policy.yaml\n- binding.yaml");
    let suite = suite.replace("expect: denied", "expect: allowed").replace(
        "tests:\n",
        "validation: false\ntests:\n- name: rows\n  object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 9}}\n  \
         each:\n  - {name: as it is, expect: denied}\n  - {name: fewer, set: {object.spec.replicas: 1}, expect: denied}\n",
    );
    // The images of both are of no registry.
    let policy = POLICY.split("  - expression: |").next().unwrap();
    let files = [
        ("binding.yaml", BINDING),
        ("policy.yaml", policy),
        ("suite.yaml", &suite),
    ];
    let mut client = Client::new("hints", &files);
    client.open("suite.yaml", &suite);
    assert_eq!(client.server_request(), "workspace/inlayHint/refresh");
    let places = ["as it is", "fewer", "few replicas"].map(|name| line(&suite, name));
    let shown = |labels: [&str; 3]| -> Vec<(u64, String)> {
        places.into_iter().zip(labels.map(str::to_owned)).collect()
    };
    let (labels, tooltips) = hints(&mut client, "suite.yaml");
    assert_eq!(labels, shown(["✓ denied", "✗ allowed", "✓ allowed"]));
    assert!(
        tooltips[1].contains("expected denied, actual allowed"),
        "{tooltips:?}"
    );
    // What is typed in the policy counts once a file is saved, and not before.
    client.open("policy.yaml", policy);
    client.replace("policy.yaml", policy, "\"5\"", "\"0\"");
    assert_eq!(
        hints(&mut client, "suite.yaml").0,
        shown(["✓ denied", "✗ allowed", "✓ allowed"])
    );
    client.save("suite.yaml");
    assert_eq!(client.server_request(), "workspace/inlayHint/refresh");
    assert_eq!(
        hints(&mut client, "suite.yaml").0,
        shown(["✓ denied", "✓ denied", "✗ denied"])
    );
    client.end();
}

#[test]
fn suites_see_what_is_typed_elsewhere() {
    let suite = SUITE.replace("- policy.yaml", "- ../policies/policy.yaml");
    let files = [("policies/policy.yaml", POLICY), ("tests/suite.yaml", &suite)];
    let mut client = Client::new("open-buffers", &files);
    client.open("policies/policy.yaml", POLICY);
    client.open("tests/suite.yaml", &suite);
    let _ = client.diagnostics("policies/policy.yaml");
    client.replace(
        "policies/policy.yaml",
        POLICY,
        "variables.most",
        "variables.least",
    );
    let found = client.diagnostics("tests/suite.yaml");
    assert_eq!(found[0].0, "invalid-expression", "{found:?}");
    assert!(found[0].1.contains("policies/policy.yaml:13:"), "{found:?}");
    let broken = POLICY.replacen("variables.most", "variables.least", 1);
    client.replace(
        "policies/policy.yaml",
        &broken,
        "variables.least",
        "variables.most",
    );
    assert_eq!(client.diagnostics("tests/suite.yaml"), []);
    client.end();
}

#[test]
fn tests_of_others_that_are_not_evaluated_are_reported() {
    let foreign = "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: few}\npolicies: [policy.yaml, others.yaml]\nresources: [object.yaml]\n\
        results:\n- {policy: others, rule: a, resources: [web], kind: Deployment, result: fail}\n";
    let object = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 9}}";
    let files = [
        ("policy.yaml", POLICY),
        ("object.yaml", object),
        (
            "others.yaml",
            "{apiVersion: kyverno.io/v1, kind: ClusterPolicy, metadata: {name: others}}",
        ),
        ("kyverno-test.yaml", foreign),
    ];
    let mut client = Client::new("foreign", &files);
    client.open("kyverno-test.yaml", foreign);
    let (labels, tooltips) = hints(&mut client, "kyverno-test.yaml");
    assert_eq!(
        labels,
        [(line(foreign, "- {policy"), "? not evaluated".to_owned())]
    );
    assert!(tooltips[0].contains("Kyverno's own kinds"), "{tooltips:?}");
    client.end();
}
