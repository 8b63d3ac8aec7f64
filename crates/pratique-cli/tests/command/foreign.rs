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
fn what_its_author_skips_is_no_fault() {
    let case = "  - {name: seven, object: seven.yaml, assertions: [{violations: no}]}\n";
    let skipped = "  - {name: later, skip: true, object: nowhere.yaml, assertions: [{violations: 3}]}\n";
    let passing = case.replace("violations: no", "violations: yes");
    let directory = Directory::new()
        .with("template.yaml", TEMPLATE)
        .with("constraint.yaml", CONSTRAINT)
        .with(
            "seven.yaml",
            "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 7}}",
        )
        .with("case.yaml", SUITE.replace(case, &format!("{passing}{skipped}")))
        .with(
            "all.yaml",
            SUITE.replace("- name: max", "- name: max\n  skip: true"),
        );
    let run = directory.run(&["test", "case.yaml", "--allow", "warnings"]);
    run.exits(0);
    run.stdout_has("skipped: later")
        .stdout_has("1 passed, 0 failed, 1 test skipped");
    let run = directory.run(&["test", "all.yaml"]);
    run.exits(0);
    run.stdout_has("0 passed, 0 failed, 1 test skipped");
    let junit = directory.run(&["test", "case.yaml", "--output", "junit"]);
    junit.stdout_has(r#"tests="2" failures="0" errors="0" skipped="1""#);
    junit.stdout_has(r#"<skipped message="the case is skipped"/>"#);
    let json = directory.run(&["test", "case.yaml", "--output", "json"]).json();
    assert_eq!(
        (&json["testsSkipped"], &json["testsNotEvaluated"]),
        (&1.into(), &0.into())
    );
}

/// Other programs find their suites in directories that begin with a dot.
#[test]
fn hidden_directories_have_suites() {
    let policy = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: few}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
  validations: [{expression: object.spec.replicas <= 3, message: too many}]
";
    let theirs = "apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: theirs}
policies: [../policy.yaml]
resources: [../seven.yaml]
results:
- {policy: few, isValidatingAdmissionPolicy: true, kind: Deployment, resources: [a], result: pass}
";
    let directory = Directory::new()
        .with("all/policy.yaml", policy)
        .with(
            "all/seven.yaml",
            "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 7}}",
        )
        .with(
            "all/tests/kyverno-test.yaml",
            theirs.replace("result: pass", "result: fail"),
        )
        .with("all/.kyverno-test/kyverno-test.yaml", theirs)
        .with("all/.gator/suite.yaml", SUITE)
        .with("all/.git/kyverno-test.yaml", theirs);
    let run = directory.run(&["test", "all", "--allow", "warnings"]);
    run.exits(1);
    for text in [
        "all/tests/kyverno-test.yaml: 1 passed",
        "all/.kyverno-test/kyverno-test.yaml: 0 passed, 1 failed",
        "all/.gator/suite.yaml",
    ] {
        run.stdout_has(text);
    }
    assert!(!run.stdout.contains("all/.git/"), "{run}");
}

#[test]
fn a_policy_that_is_not_there_is_said() {
    let test = "apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: t}
policies: [theirs.yaml]
resources: [a.yaml]
results:
- {policy: shop/theirs, kind: ConfigMap, resources: [a], result: pass}
- {policy: no-such-policy, isValidatingAdmissionPolicy: true, kind: ConfigMap, resources: [a], result: pass}
";
    let directory = Directory::new()
        .with(
            "theirs.yaml",
            "{apiVersion: kyverno.io/v1, kind: Policy, metadata: {name: theirs, namespace: shop}}",
        )
        .with("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
        .with("kyverno-test.yaml", test);
    let run = directory.run(&["test", "kyverno-test.yaml"]);
    run.exits(1);
    run.stdout_has("there is no policy no-such-policy in the files of `policies`");
    assert!(!run.stdout.contains("no policy shop/theirs"), "{run}");
}

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
