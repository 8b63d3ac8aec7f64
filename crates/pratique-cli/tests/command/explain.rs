//! `pratique review`: explanations of decisions, and diffs.

use crate::support::Directory;

const POLICIES: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: images.static.k8s.io}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  matchConditions:
  - name: not-exempt
    expression: "!has(object.metadata.annotations) || !('exempt' in object.metadata.annotations)"
  variables:
  - name: images
    expression: object.spec.containers.map(c, c.image)
  validations:
  - expression: >-
      variables.images.all(i, i.startsWith('registry.example.com/')) &&
      size(variables.images) > 0
    message: images come from our registry
  - expression: object.metadata.labels.team != ''
    message: pods belong to a team
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: images.static.k8s.io}
spec: {policyName: images.static.k8s.io, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: images-of-shop.static.k8s.io}
spec:
  policyName: images.static.k8s.io
  validationActions: [Warn]
  matchResources:
    namespaceSelector: {matchLabels: {team: shop}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: services.static.k8s.io}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [services]}
    - {apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [pods]}
  validations:
  - expression: "true"
"#;

const MUTATING: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: team.static.k8s.io}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >-
        Object{metadata: Object.metadata{labels: {'team': request.namespace}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: team.static.k8s.io}
spec: {policyName: team.static.k8s.io}
"#;

const POD: &str = r#"apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
spec:
  containers:
  - {name: web, image: registry.example.com/web:1.0}
  - {name: log, image: docker.io/log:1.0}
"#;

fn files() -> Directory {
    Directory::new()
        .with("validating/images.yaml", POLICIES)
        .with("mutating/team.yaml", MUTATING)
        .with("pod.yaml", POD)
}

fn review(policies: &str, more: &[&str], golden: &str) {
    let arguments = [&["review", "--manifests", policies, "pod.yaml"], more].concat();
    files().run(&arguments).is(golden);
}

#[test]
fn decisions_are_explained() {
    review("validating", &["--explain"], "explain-denied.txt");
    review(
        "validating",
        &["--explain", "--output", "json"],
        "explain-json.txt",
    );
}

#[test]
fn changes_are_shown() {
    review("mutating", &[], "mutated.txt");
    review("mutating", &["--explain"], "mutated-explained.txt");
    review("mutating", &["--output", "json"], "mutated-json.txt");
}

#[test]
fn changes_are_compared() {
    review("mutating", &["--output", "diff"], "mutated-diff.txt");
    review("validating", &["--output", "diff"], "denied-diff.txt");
}

/// Two mutations of a list: the first empties it, and the second appends to it.
const EMPTYING: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: tolerations.static.k8s.io}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  reinvocationPolicy: Never
  mutations:
  - patchType: JSONPatch
    jsonPatch: {expression: "[JSONPatch{op: 'replace', path: '/spec/tolerations', value: []}]"}
  - patchType: JSONPatch
    jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/spec/tolerations/-', value: {'operator': 'Exists'}}]"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: tolerations.static.k8s.io}
spec: {policyName: tolerations.static.k8s.io}
"#;

#[test]
fn lists_that_are_emptied_are_left_out() {
    let pod = POD.replace("spec:\n", "spec:\n  tolerations: [{key: a, operator: Exists}]\n");
    let directory = Directory::new()
        .with("policies.yaml", EMPTYING)
        .with("pod.yaml", &pod);
    let run = directory.run(&["review", "--policies", "policies.yaml", "--explain", "pod.yaml"]);
    run.exits(1);
    run.stdout_has(
        "spec.tolerations is empty now, and the server leaves it out: the next mutation does not find it",
    );
    run.stdout_has("= help: the parent is not there: add it first where it is missing");
    let run = directory.run(&[
        "review",
        "--policies",
        "policies.yaml",
        "--output",
        "json",
        "pod.yaml",
    ]);
    run.stdout_has("\"help\":\"the parent is not there");
}
