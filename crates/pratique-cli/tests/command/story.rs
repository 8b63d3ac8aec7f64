//! Static policies from load to review: one that denies privileged Pods, and mistakes of operators.

use crate::support::Directory;

pub(crate) const POLICY: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: deny-privileged.static.k8s.io
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
    - apiGroups: [""]
      apiVersions: ["v1"]
      operations: ["CREATE", "UPDATE"]
      resources: ["pods"]
  variables:
  - name: containers
    expression: >-
      object.spec.containers +
      object.spec.?initContainers.orValue([])
  validations:
  - expression: >-
      variables.containers.all(c,
      !c.?securityContext.?privileged.orValue(false))
    message: privileged containers are not allowed
"#;

pub(crate) const BINDING: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: deny-privileged-binding.static.k8s.io
spec:
  policyName: deny-privileged.static.k8s.io
  validationActions: [Deny]
"#;

pub(crate) const CONFIGURATION: &str = r#"apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ValidatingAdmissionPolicy
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: ValidatingAdmissionPolicyConfiguration
    staticManifestsDir: $DIR/policies
"#;

pub(crate) const PRIVILEGED: &str = r#"apiVersion: v1
kind: Pod
metadata: {name: bad, namespace: shop}
spec:
  containers:
  - name: app
    image: app
    securityContext: {privileged: true}
"#;

pub(crate) const CLEAN: &str = r#"apiVersion: v1
kind: Pod
metadata: {name: good, namespace: shop}
spec:
  containers:
  - name: app
    image: app
"#;

/// The files, with a policy and a binding that tests can change.
pub(crate) fn files(policy: &str, binding: &str) -> Directory {
    let directory = Directory::new();
    let configuration = CONFIGURATION.replace("$DIR", &directory.path().to_string_lossy());
    directory
        .with("admission.yaml", configuration)
        .with("policies/binding.yaml", binding)
        .with("policies/policy.yaml", policy)
        .with("bad.yaml", PRIVILEGED)
        .with("good.yaml", CLEAN)
}

#[test]
fn valid_manifests_are_listed() {
    let files = files(POLICY, BINDING);
    files.run(&["check", "policies"]).is("valid-directory.txt");
    files
        .run(&["check", "admission.yaml"])
        .is("valid-configuration.txt");
    files
        .run(&["check", "--output", "json", "admission.yaml"])
        .is("valid-json.txt");
}

#[test]
fn privileged_pods_are_denied() {
    let files = files(POLICY, BINDING);
    files
        .run(&[
            "review",
            "--admission-control-config-file",
            "admission.yaml",
            "bad.yaml",
        ])
        .is("denied.txt");
    files
        .run(&[
            "review",
            "--manifests",
            "policies",
            "--output",
            "json",
            "bad.yaml",
        ])
        .is("denied-json.txt");
}

#[test]
fn clean_pods_are_allowed() {
    let files = files(POLICY, BINDING);
    files
        .run(&[
            "review",
            "--admission-control-config-file",
            "admission.yaml",
            "good.yaml",
        ])
        .is("allowed.txt");
    files
        .run(&[
            "review",
            "--manifests",
            "policies",
            "--output",
            "json",
            "good.yaml",
        ])
        .is("allowed-json.txt");
}

#[test]
fn unknown_fields() {
    let policy = POLICY.replace(
        "  failurePolicy: Fail\n",
        "  failurePolicy: Fail\n  failurePolcy: Ignore\n",
    );
    files(&policy, BINDING)
        .run(&["check", "policies"])
        .is("unknown-field.txt");
}

#[test]
fn missing_suffix() {
    let policy = POLICY.replace("deny-privileged.static.k8s.io", "deny-privileged");
    files(&policy, BINDING)
        .run(&["check", "--origin", "static", "policies"])
        .is("missing-suffix.txt");
}

#[test]
fn bad_expression() {
    let policy = POLICY.replace("variables.containers.all", "variables.contaners.all");
    files(&policy, BINDING)
        .run(&["check", "policies"])
        .is("bad-expression.txt");
}

#[test]
fn binding_to_nowhere() {
    let binding = BINDING.replace("policyName: deny-privileged.", "policyName: deny-priviledged.");
    files(POLICY, &binding)
        .run(&["check", "policies"])
        .is("binding-to-nowhere.txt");
}

#[test]
fn everything_wrong_at_once() {
    let policy = POLICY
        .replace("  failurePolicy: Fail\n", "  failurePolicy: Fial\n")
        .replace("message: privileged", "mesage: privileged")
        .replace("object.spec.?initContainers", "object.spec.?initContainers(");
    let binding = BINDING.replace("validationActions: [Deny]", "validationActions: [Deny, Warn]");
    let files = files(&policy, &binding);
    files.run(&["check", "admission.yaml"]).is("everything.txt");
    files
        .run(&["check", "--output", "json", "policies"])
        .is("everything-json.txt");
    files
        .run(&[
            "review",
            "--admission-control-config-file",
            "admission.yaml",
            "good.yaml",
        ])
        .is("everything-review.txt");
}
