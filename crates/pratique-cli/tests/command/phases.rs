//! Objects as an API server sees them, in `review` and `test`: defaulted, prepared, custom resources validated.

use crate::support::{Directory, Run};

const DEFINITION: &str = include_str!("../../../../docs/samples/phases/definition.yaml");
const POD: &str = include_str!("../../../../docs/samples/phases/pod.yaml");
const SIDECAR: &str = include_str!("../../../../docs/samples/phases/policies/sidecar.yaml");

/// What validating admission sees: defaults, also those of the container that a policy adds, and metadata of storage.
const SEES: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: sees}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations:
  - expression: object.spec.containers.all(c, has(c.imagePullPolicy))
    message: a container is not defaulted
  - expression: has(object.metadata.uid) && object.status.phase == 'Pending'
    message: it is not prepared
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: sees}
spec: {policyName: sees, validationActions: [Deny]}
";

fn directory() -> Directory {
    Directory::new()
        .with("policies/sees.yaml", SEES)
        .with("policies/sidecar.yaml", SIDECAR)
        .with("pod.yaml", POD)
        .with("definition.yaml", DEFINITION)
}

#[track_caller]
fn check(run: &Run, code: i32, texts: &[&str]) {
    run.exits(code).shows(texts);
}

#[test]
fn policies_see_objects_as_a_server_has_them() {
    let directory = directory();
    let review = |more: &[&str]| {
        let arguments = [&["review", "--policies", "policies", "pod.yaml"], more].concat();
        directory.run(&arguments)
    };
    check(&review(&[]), 0, &["1 allowed"]);
    check(
        &review(&["--defaults", "off"]),
        1,
        &["a container is not defaulted"],
    );
    let texts = [
        "set by the server before admission: spec.containers[0].imagePullPolicy",
        "defaulted after policy sidecar.static.k8s.io: spec.containers[1].imagePullPolicy",
        "set by the server before validation: metadata.creationTimestamp",
    ];
    check(&review(&["--explain"]), 0, &texts);
    let json = review(&["--explain", "--output", "json"]);
    check(
        &json,
        0,
        &[r#""by":"policy","name":"sidecar.static.k8s.io","fields":["#],
    );
}

#[test]
fn unknown_fields_are_validated_as_asked() {
    let directory = directory().with("odd.yaml", POD.replace("spec:", "spec:\n  replicas: 1"));
    let review = |mode: &str| {
        let arguments = [
            "review",
            "--policies",
            "policies",
            "--field-validation",
            mode,
            "odd.yaml",
        ];
        directory.run(&arguments)
    };
    let unknown = "unknown field \"spec.replicas\"";
    let strict =
        format!("Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: {unknown}");
    check(&review("strict"), 1, &[&strict, "denied (400 BadRequest)"]);
    check(&review("Warn"), 0, &[unknown]);
    let ignored = review("Ignore");
    check(&ignored, 0, &[]);
    assert!(!ignored.to_string().contains(unknown), "{ignored}");
}

#[test]
fn custom_resources_are_validated_by_their_definitions() {
    let widget = |spec: &str| {
        format!(
            "apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: w, namespace: shop}}\nspec: {spec}\n"
        )
    };
    let directory = directory()
        .with("good.yaml", widget("{parts: 1, colour: red}"))
        .with("bad.yaml", widget("{parts: 2}"))
        .with(
            "broken.yaml",
            DEFINITION.replace(
                "            type: object\n            properties:\n              size",
                "            properties:\n              size",
            ),
        );
    let review = |inputs: &[&str]| {
        let arguments = [&["review", "--policies", "policies"], inputs].concat();
        directory.run(&arguments)
    };
    let refused = [
        "CREATE widgets.example.com shop/w: denied (422 Invalid)",
        "Widget.example.com \"w\" is invalid: spec: Invalid value: too many parts",
    ];
    check(
        &review(&["--objects", "definition.yaml", "bad.yaml"]),
        1,
        &refused,
    );
    // A definition among the inputs counts as well.
    check(&review(&["definition.yaml", "bad.yaml"]), 1, &refused);
    let good = review(&["--objects", "definition.yaml", "good.yaml"]);
    check(&good, 0, &["warning: unknown field \"spec.colour\""]);
    let strict = review(&[
        "--objects",
        "definition.yaml",
        "--field-validation",
        "Strict",
        "good.yaml",
    ]);
    let error = "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown field \"spec.colour\"";
    check(&strict, 1, &[error]);
    let broken = review(&["--objects", "broken.yaml", "bad.yaml"]);
    check(&broken, 0, &["the definition defines nothing"]);
    check(
        &review(&["--objects", "definition.yaml", "--defaults", "off", "bad.yaml"]),
        0,
        &[],
    );
}

#[test]
fn limitations_are_reported_once() {
    let widgets = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}}\n---\n\
                   {apiVersion: example.com/v1, kind: Widget, metadata: {name: b}}\n";
    let directory = directory()
        .with("widgets.yaml", widgets)
        .with("other.yaml", widgets.replace("Widget", "Other"));
    let review = |more: &[&str]| {
        let arguments = [&["review", "--policies", "policies"], more].concat();
        let run = directory.run(&arguments);
        run.exits(0);
        run.to_string()
    };
    let undefined = |count: &str, kind: &str, their: &str| {
        format!(
            "{count} of kind example.com/v1 {kind} {their} CustomResourceDefinition is not known: give it with --objects"
        )
    };
    let two = |kind: &str| {
        undefined(
            "2 objects",
            kind,
            "were neither defaulted nor validated, as their",
        )
    };
    let one = undefined(
        "1 object",
        "Widget",
        "was neither defaulted nor validated, as its",
    );

    let both = review(&["pod.yaml", "widgets.yaml", "pod.yaml", "other.yaml"]);
    let grouped = "warning: 4 objects of 2 kinds were neither defaulted nor validated, as their CustomResourceDefinitions are not \
                   known: give them with --objects: example.com/v1 Other (2), example.com/v1 Widget (2)\n";
    assert_eq!(both.matches(grouped).count(), 1, "{both}");
    // Limitations that more input would remove are reported with --quiet as well.
    let quiet = review(&["--quiet", "pod.yaml", "widgets.yaml"]);
    assert!(quiet.contains(&two("Widget")), "{quiet}");
    let known = review(&["--objects", "definition.yaml", "pod.yaml"]);
    assert!(!known.contains("neither defaulted"), "{known}");
    let off = directory
        .run(&["review", "--defaults", "off", "pod.yaml", "widgets.yaml"])
        .to_string();
    assert!(!off.contains("neither"), "{off}");
    // The whole chain completes objects by itself.
    let chain = [
        &["review", "--policies", "policies", "--chain"],
        &["pod.yaml", "widgets.yaml"][..],
    ]
    .concat();
    let chain = directory.run(&chain).to_string();
    assert!(chain.contains(&two("Widget")), "{chain}");

    for format in ["json", "ndjson"] {
        let run = directory.run(&[
            "review",
            "--policies",
            "policies",
            "-o",
            format,
            "widgets.yaml",
            "pod.yaml",
        ]);
        let lines: Vec<serde_json::Value> = run
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let [_, _, _, widgets, unknown] = &lines[..] else {
            panic!("{run}")
        };
        let expected = serde_json::json!({
            "note": {"message": two("Widget"), "kind": "example.com/v1 Widget", "objects": 2}
        });
        assert_eq!(widgets, &expected);
        let message = "not known: 1 kind (Widget of example.com/v1); no decision depends on its resource";
        assert_eq!(unknown, &serde_json::json!({"note": {"message": message}}));
        assert!(!run.stderr.contains("neither"), "{run}");
    }
    // A definition that follows on standard input counts for what comes after it.
    let one_by_one = format!(
        "{}---\n{DEFINITION}---\n{}",
        widgets.replace(
            "---\n{apiVersion: example.com/v1, kind: Widget, metadata: {name: b}}\n",
            ""
        ),
        "{apiVersion: example.com/v1, kind: Widget, metadata: {name: c}, spec: {parts: 1}}\n"
    );
    let run = directory.run_with(&["review", "--policies", "policies", "-"], &one_by_one, &[]);
    assert!(run.to_string().contains(&one), "{run}");
}

#[test]
fn updates_and_refusals_before_admission() {
    let directory = directory().with("old.yaml", POD);
    let update = [
        "review",
        "--policies",
        "policies",
        "--operation",
        "UPDATE",
        "--old",
        "old.yaml",
        "pod.yaml",
    ];
    check(&directory.run(&update), 0, &["UPDATE pods shop/web: allowed"]);
}

#[test]
fn suites_default_unless_they_say_otherwise() {
    let suite = |defaults: &str, expect: &str| {
        format!(
            "apiVersion: pratique/v1alpha1\nkind: Suite\npolicies: [policies]\n{defaults}cluster: {{objects: [definition.yaml]}}\n\
             tests:\n- name: a pod\n  object: pod.yaml\n  expect: {expect}\n"
        )
    };
    let widget = "- name: a widget\n  object: {apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {parts: 2}}\n  \
                  expect: {verdict: denied, messageContains: too many parts}\n";
    let directory = directory()
        .with("on.yaml", suite("", "allowed") + widget)
        .with("off.yaml", suite("defaults: false\n", "denied"));
    check(
        &directory.run(&["test", "on.yaml", "off.yaml"]),
        0,
        &["3 passed, 0 failed"],
    );
    // What a server defaults may be left out of a whole object.
    let whole = "{verdict: allowed, object: {apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, spec: {\
                 containers: [{name: web, image: 'registry.example.com/web:1.4'}, {name: log, image: 'log:2'}]}}}";
    let directory = directory.with("whole.yaml", suite("", whole));
    check(
        &directory.run(&["test", "whole.yaml"]),
        0,
        &["1 passed, 0 failed"],
    );
}
