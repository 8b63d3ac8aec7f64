//! `--kubernetes-version`: the release that a server is of.

use crate::story::{BINDING, POLICY, files};
use crate::support::Directory;

const POLICIES: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: available}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: ['*'], operations: [CREATE], resources: [statefulsets]}]
  validations:
  - expression: \"!has(object.spec.updateStrategy.rollingUpdate.maxUnavailable)\"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: available}
spec: {policyName: available, validationActions: [Deny]}
";
const STATEFUL_SET: &str = "apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  selector: {matchLabels: {app: db}}
  updateStrategy: {rollingUpdate: {partition: 0}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: db}]}}
";
const BUNDLE: &str = "{apiVersion: certificates.k8s.io/v1, kind: ClusterTrustBundle, metadata: {name: b}}\n";

fn directory() -> Directory {
    Directory::new()
        .with("policies.yaml", POLICIES)
        .with("set.yaml", STATEFUL_SET)
        .with("bundle.yaml", BUNDLE)
}

#[test]
fn objects_are_completed_as_the_release_does() {
    let review = |more: &[&str]| {
        let arguments = [&["review", "--policies", "policies.yaml", "set.yaml"], more].concat();
        directory().run(&arguments)
    };
    // A default since 1.37, where the gate is on.
    review(&[]).exits(1);
    review(&["--kubernetes-version", "v1.37.2"]).exits(1);
    review(&["--feature-gates", "MaxUnavailableStatefulSet=false"]).exits(0);
    let run = review(&["--kubernetes-version", "1.36"]);
    run.exits(0);
    run.stdout_has("; Kubernetes 1.36; ");
    assert!(run.stderr.contains("are those of Kubernetes 1.36;"), "{run}");
}

#[test]
fn kinds_of_later_releases_are_not_served() {
    let review = |version| {
        let arguments = [
            "review",
            "--policies",
            "policies.yaml",
            "--kubernetes-version",
            version,
            "--validation",
            "off",
            "bundle.yaml",
        ];
        directory().run(&arguments)
    };
    review("1.37").exits(0);
    let run = review("1.36");
    run.exits(1);
    run.stdout_has("only releases since 1.37 serve certificates.k8s.io/v1 ClusterTrustBundle");
}

#[test]
fn static_manifests_need_their_gate_before_1_37() {
    let files = files(POLICY, BINDING);
    let check = |more: &[&str]| {
        let arguments = [&["check", "--kubernetes-version", "1.36", "admission.yaml"], more].concat();
        files.run(&arguments)
    };
    check(&[]).exits(1);
    check(&["--feature-gates", "ManifestBasedAdmissionControlConfig=true"]).exits(0);
}
