//! Suites of other programs, read as they are.

use crate::support::Directory;

const TEMPLATE: &str = "apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata: {name: k8smax}
spec:
  crd: {spec: {names: {kind: K8sMax}}}
  targets:
  - target: admission.k8s.gatekeeper.sh
    code:
    - engine: K8sNativeValidation
      source:
        validations: [{expression: object.spec.replicas <= variables.params.max, message: too many}]
";

const CONSTRAINT: &str = "apiVersion: constraints.gatekeeper.sh/v1beta1
kind: K8sMax
metadata: {name: max}
spec: {parameters: {max: 3}}
";

const SUITE: &str = "apiVersion: test.gatekeeper.sh/v1alpha1
kind: Suite
tests:
- name: max
  template: template.yaml
  constraint: constraint.yaml
  cases:
  - {name: seven, object: seven.yaml, assertions: [{violations: no}]}
";

#[test]
fn what_is_made_of_a_template_is_named_by_it() {
    let directory = Directory::new()
        .with("template.yaml", TEMPLATE)
        .with("constraint.yaml", CONSTRAINT)
        .with(
            "seven.yaml",
            "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 7}}",
        )
        .with("suite.yaml", SUITE);
    let run = directory.run(&["test", "suite.yaml"]);
    run.exits(1);
    let message = "policy gatekeeper-k8smax <policy of template.yaml>:";
    run.stdout_has(message);
    // Gatekeeper makes it match everything, which is no fault of the template.
    assert_eq!(run.stderr, "", "{run}");
}
