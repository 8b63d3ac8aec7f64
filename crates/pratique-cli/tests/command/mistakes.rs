//! Policies with warnings, and one that does not load.

use crate::support::Directory;

/// Reads `object` on DELETE, has CEL in its message, misspells a field, and matches nothing with its second rule.
pub(crate) const MISTAKEN: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: protect.static.k8s.io
spec:
  failurePolicy: Ignore
  matchConstraints:
    resourceRules:
    - apiGroups: ["apps"]
      apiVersions: ["v1"]
      operations: ["UPDATE", "DELETE"]
      resources: ["deployments"]
    - apiGroups: [""]
      apiVersions: ["v1"]
      operations: ["CREATE"]
      resources: ["pod"]
  validations:
  - expression: "object.metadata.labels['protected'] != 'true'"
    message: "'protected: ' + object.metadata.name"
  - expression: >-
      object == null ||
      object.spec.replica <= 5
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: protect-binding.static.k8s.io
spec:
  policyName: protect.static.k8s.io
  validationActions: [Deny]
"#;

/// Has faults in a folded expression, in quotes and in its fields.
pub(crate) const FAULTY: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: faulty
spec:
  failurePolicy: fail
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"]}
  validations:
  - expression: >
      object.spec.containers.all(c,
        c.image.startWith('x') &&
        objekt.x == 1)
  - expression: 'object.metadata.name = ''a'''
  - expression: !has(object.spec)
"#;

/// A directory with both of them, apart.
pub(crate) fn mistakes() -> Directory {
    Directory::new()
        .with("mistaken/policy.yaml", MISTAKEN)
        .with("faulty/policy.yaml", FAULTY)
}

#[test]
fn the_usage_beside_a_wrong_release_is_the_command_s() {
    for (flag, value) in [
        ("--kubernetes-version", "1.2"),
        ("--feature-gates", "Nonsense=true"),
    ] {
        for command in ["check", "review", "test", "scan"] {
            let run = Directory::new().run(&[command, flag, value, "policy.yaml"]);
            run.exits(2);
            run.stderr_has(&format!("Usage: pratique {command} [OPTIONS]"));
        }
    }
}
