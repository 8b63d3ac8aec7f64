//! `pratique review`: inputs, policies and exit codes.

use std::process::{Command, Stdio};

use crate::story::{BINDING, CLEAN, POLICY, PRIVILEGED, files};
use crate::support::Directory;

/// A policy that reports the attributes of a request.
const MIRROR: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: mirror.static.k8s.io}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"]}
  validations:
  - expression: "false"
    messageExpression: >-
      [request.operation, request.resource.resource, request.?subResource.orValue(''), request.?namespace.orValue(''),
      request.name, request.userInfo.username, string(request.dryRun), string(object == null), string(oldObject == null),
      namespaceObject == null ? '' : namespaceObject.metadata.labels.map(k, k + '=' + namespaceObject.metadata.labels[k]).join(' ')].join('|')
  auditAnnotations:
  - key: groups
    valueExpression: "request.userInfo.groups.join(',')"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: mirror.static.k8s.io}
spec:
  policyName: mirror.static.k8s.io
  validationActions: [Warn, Audit]
"#;

fn mirror() -> Directory {
    Directory::new()
        .with("mirror/mirror.yaml", MIRROR)
        .with("pod.yaml", CLEAN)
        .with(
            "shop.yaml",
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
        )
}

#[test]
fn embedded_standards_are_evaluated() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/pods");
    let directory = Directory::new();
    let run = |arguments: &[&str]| {
        let mut run = directory.run(arguments);
        run.line = run.line.replace(examples, "examples/pods");
        run.stdout = run.stdout.replace(examples, "examples/pods");
        run
    };
    run(&["review", examples]).is("examples-baseline.txt");
    run(&[
        "review",
        "--level",
        "restricted",
        &format!("{examples}/allowed.yaml"),
    ])
    .is("examples-restricted.txt");
}

#[test]
fn standard_input_and_several_documents() {
    let files = files(POLICY, BINDING);
    let input = format!("{CLEAN}---\n# nothing\n---\n{PRIVILEGED}");
    files
        .run_with(&["review", "--manifests", "policies", "-"], &input, &[])
        .is("stdin.txt");
    let list = r#"{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"},"spec":{"containers":[]}}]}"#;
    files
        .run_with(&["review", "--manifests", "policies", "-"], list, &[])
        .is("typed-list.txt");
}

#[test]
fn requests_are_made_as_asked() {
    let mirror = mirror();
    let review = |arguments: &[&str], golden: &str| {
        let arguments = [
            &["review", "--manifests", "mirror", "--objects", "shop.yaml"],
            arguments,
        ]
        .concat();
        mirror.run(&arguments).is(golden);
    };
    review(&["pod.yaml"], "mirror-plain.txt");
    review(
        &[
            "--operation",
            "delete",
            "--as",
            "system:serviceaccount:ci:deploy",
            "--dry-run",
            "pod.yaml",
        ],
        "mirror-delete.txt",
    );
    review(
        &[
            "--operation",
            "UPDATE",
            "--old",
            "pod.yaml",
            "--subresource",
            "status",
            "--as-group",
            "a",
            "--as-group",
            "b",
            "pod.yaml",
        ],
        "mirror-update.txt",
    );
    review(&["--operation", "UPDATE", "pod.yaml"], "no-old-object.txt");
}

#[test]
fn namespaces_come_with_their_labels() {
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {tier: gold}}\n";
    let mirror = mirror().with("ns.yaml", namespace);
    mirror
        .run(&[
            "review",
            "--manifests",
            "mirror",
            "--namespace-object",
            "ns.yaml",
            "pod.yaml",
        ])
        .is("namespace-object.txt");
    mirror
        .run(&["review", "--manifests", "mirror", "ns.yaml", "pod.yaml"])
        .is("namespace-input.txt");
}

#[test]
fn resources_of_kinds_that_are_not_built_in() {
    let mirror = mirror().with(
        "w.yaml",
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n",
    );
    mirror
        .run(&["review", "--manifests", "mirror", "w.yaml"])
        .is("unknown-kind.txt");
    mirror
        .run(&[
            "review",
            "--manifests",
            "mirror",
            "--resource",
            "widgets",
            "w.yaml",
        ])
        .is("named-resource.txt");
}

#[test]
fn reviews_are_taken_as_they_are() {
    let review = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"705ab4f5",
        "kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},
        "name":"p","namespace":"shop","operation":"CREATE","userInfo":{"username":"ann","groups":["dev"]},
        "object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"shop"}},"dryRun":false}}"#;
    let mirror = mirror().with("review.json", review);
    mirror
        .run(&[
            "review",
            "--manifests",
            "mirror",
            "--objects",
            "shop.yaml",
            "--output",
            "json",
            "--as",
            "nobody",
            "review.json",
        ])
        .is("admission-review.txt");
    let old = review.replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1");
    mirror
        .run_with(&["review", "--manifests", "mirror", "-"], &old, &[])
        .is("old-review.txt");
}

#[test]
fn the_environment_mirrors_flags() {
    let environment = [
        ("PRATIQUE_MANIFESTS", "mirror"),
        ("PRATIQUE_OPERATION", "delete"),
        ("PRATIQUE_AS", "bob"),
        ("PRATIQUE_AS_GROUP", "a,b"),
        ("PRATIQUE_DRY_RUN", "true"),
        ("PRATIQUE_OUTPUT", "json"),
        ("PRATIQUE_OBJECTS", "shop.yaml"),
    ];
    mirror()
        .run_with(&["review", "pod.yaml"], "", &environment)
        .is("environment.txt");
}

#[test]
fn inputs_that_are_not_objects() {
    let files = files(POLICY, BINDING)
        .with("a.yaml", "apiVersion: v1\nkind: Pod\n  metadata: {}\n")
        .with("b.yaml", "- 1\n")
        .with("c.yaml", "metadata: {name: x}\n")
        .with("d.yaml", "# nothing\n")
        .with(
            "e.yaml",
            "apiVersion: v1\nkind: Pod\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: c, image: i}]}\n",
        );
    let review =
        |name: &str, golden: &str| files.run(&["review", "--manifests", "policies", name]).is(golden);
    review("a.yaml", "input-syntax.txt");
    review("b.yaml", "input-list.txt");
    review("c.yaml", "input-no-kind.txt");
    review("d.yaml", "input-empty.txt");
    review("e.yaml", "input-duplicate.txt");
    review("nowhere.yaml", "input-nowhere.txt");
}

#[test]
fn output_may_be_closed_early() {
    let files = files(POLICY, BINDING);
    let mut child = Command::new(env!("CARGO_BIN_EXE_pratique"))
        .args(["review", "--manifests", "policies", "bad.yaml"])
        .current_dir(files.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    // As if `SIGPIPE` had ended it.
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
