//! No false success: what is not evaluated is reported or rejected, and errors are not denials.

use std::fs;

use crate::support::Directory;

/// Denies too many replicas; it has no binding.
const UNBOUND: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas.static.k8s.io}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations:
  - expression: object.spec.replicas <= 3
    message: too many
"#;

const BINDING: &str = r#"---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: replicas.static.k8s.io}
spec: {policyName: replicas.static.k8s.io, validationActions: [Deny]}
"#;

const MUTATING: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: label.example.com}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'seen': 'yes'}}}"}
"#;

const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 5, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}\n";

const SUITE: &str = r#"apiVersion: pratique/v1alpha1
kind: Suite
metadata: {name: replicas}
policies: [policy.yaml]
tests:
- name: many replicas
  object: deployment.yaml
  expect: denied
- name: what no policy is about
  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
  expect: allowed
"#;

fn files(policy: &str, suite: &str) -> Directory {
    Directory::new()
        .with("policy.yaml", policy)
        .with("deployment.yaml", DEPLOYMENT)
        .with("suite.yaml", suite)
}

#[test]
fn a_test_of_an_unbound_policy_fails() {
    let unbound = files(UNBOUND, SUITE);
    unbound.run(&["test", "."]).is("test-unbound.txt");
    let run = unbound.run(&["test", ".", "--output", "json", "--allow", "warnings"]);
    run.stdout_has("\"notEvaluated\": 1");
    run.exits(1);
    unbound
        .run(&["test", ".", "--output", "github", "--allow", "warnings"])
        .is("test-unbound-github.txt");
    // The expectation makes no difference.
    let allowed = files(UNBOUND, &SUITE.replace("expect: denied", "expect: allowed"));
    assert_eq!(allowed.run(&["test", "."]).code, Some(1));
}

#[test]
fn unbound_policies_are_evaluated_as_if_bound() {
    let bound = files(UNBOUND, SUITE).run(&["test", ".", "--bind", "--verbose"]);
    bound.is("test-bind.txt");
    let suite = SUITE.replace("policies:", "bind: true\npolicies:");
    let run = files(UNBOUND, &suite).run(&["test", "."]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run}");
    // Policies of the API and mutating policies as well.
    let suite = SUITE
        .replace("policy.yaml", "policy.yaml, mutating.yaml")
        .replace(
            "expect: denied",
            "expect: {verdict: allowed, objectContains: {metadata: {labels: {seen: 'yes'}}}}",
        );
    let of_api = files(
        &UNBOUND.replace(".static.k8s.io", "").replace("<= 3", "<= 7"),
        &suite,
    )
    .with("mutating.yaml", MUTATING);
    let run = of_api.run(&["test", ".", "--bind"]);
    run.exits(0);
    let run = of_api.run(&["test", "."]);
    run.exits(1).stdout_has("2 policies not evaluated: no binding");
}

#[test]
fn reviews_report_what_is_not_evaluated() {
    let directory = Directory::new()
        .with("policies/policy.yaml", UNBOUND)
        .with("deployment.yaml", DEPLOYMENT);
    let review = ["review", "--manifests", "policies", "deployment.yaml"];
    directory.run(&review).is("review-unbound.txt");
    directory
        .run(&[&review[..], &["--bind"]].concat())
        .is("review-bind.txt");
    // If another policy is evaluated, its decision counts, and the rest is reported.
    let other = UNBOUND
        .replace("replicas.static", "other.static")
        .replace("<= 3", "<= 7")
        + &BINDING.replace("replicas.static", "other.static");
    let run = directory.with("policies/other.yaml", other).run(&review);
    run.exits(0);
    assert_eq!(run.counts(), Some("1 policy not evaluated: no binding"), "{run}");
    run.stdout_has("evaluated: 1 policy of policies; ");
    run.stdout_has("not evaluated: 1 policy without a binding, built-in plugins, webhooks");
}

#[test]
fn kinds_without_rules_are_counted_as_not_validated() {
    let policy = UNBOUND.to_owned() + BINDING;
    let event = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","auditID":"a","stage":"ResponseComplete",
        "requestURI":"/api/v1/componentstatuses","verb":"create","user":{"username":"ann"},
        "objectRef":{"resource":"componentstatuses","name":"a","apiVersion":"v1"},"responseStatus":{"code":201},
        "requestObject":{"apiVersion":"v1","kind":"ComponentStatus","metadata":{"name":"a"}}}"#;
    let directory = Directory::new()
        .with("policies/policy.yaml", policy)
        .with("deployment.yaml", DEPLOYMENT)
        .with("audit.log", event.replace('\n', "") + "\n")
        .with(
            "component.yaml",
            "{apiVersion: v1, kind: ComponentStatus, metadata: {name: a}}\n",
        );
    for arguments in [
        ["review", "component.yaml", "--policies", "policies"].as_slice(),
        ["scan", "component.yaml", "--policies", "policies"].as_slice(),
        [
            "impact",
            "component.yaml",
            "--old",
            "policies",
            "--new",
            "policies",
        ]
        .as_slice(),
        ["replay", "audit.log", "--policies", "policies"].as_slice(),
    ] {
        let run = directory.run(arguments);
        run.stdout_has("; not validated: 1 kind\n");
    }
    for arguments in [
        ["scan", "deployment.yaml", "--policies", "policies"].as_slice(),
        [
            "impact",
            "deployment.yaml",
            "--old",
            "policies",
            "--new",
            "policies",
        ]
        .as_slice(),
    ] {
        let run = directory.run(arguments);
        assert!(!run.stdout.contains("not validated"), "{run}");
    }
}

#[test]
fn errors_are_no_denials() {
    let policy = UNBOUND.replace("object.spec.replicas", "object.spec.replcas") + BINDING;
    let suite = SUITE.to_owned()
        + r#"- name: an error that is named
  object: deployment.yaml
  expect: error
- name: an error with its text
  object: deployment.yaml
  expect: {verdict: error, messageContains: "no such key: replcas"}
- name: an error with another text
  object: deployment.yaml
  expect: {verdict: error, messageContains: "no such overload"}
"#;
    let directory = files(&policy, &suite);
    directory
        .run(&["test", ".", "--allow", "warnings"])
        .is("test-errors.txt");
    directory.run(&["test", ".", "--allow", "warnings", "--update"]);
    let updated = fs::read_to_string(directory.path().join("suite.yaml")).unwrap();
    let expected = suite.replacen("expect: denied", "expect: error", 1);
    assert!(
        updated.starts_with(expected.split("no such overload").next().unwrap()),
        "{updated}"
    );
}

#[test]
fn every_failure_is_an_error() {
    let condition = UNBOUND.replace(
        "  validations:",
        "  matchConditions: [{name: c, expression: object.spec.nothing == 1}]\n  validations:",
    ) + BINDING;
    let annotation = UNBOUND.replace("<= 3", "<= 7").replace(
        "  validations:",
        "  auditAnnotations: [{key: k, valueExpression: string(object.spec.nothing)}]\n  validations:",
    ) + BINDING;
    let mutation = MUTATING.replace("'yes'", "object.spec.nothing")
        + "---\napiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicyBinding\n\
           metadata: {name: b.example.com}\nspec: {policyName: label.example.com}\n";
    let suite = SUITE.replace("expect: denied", "expect: error");
    for policy in [condition, annotation, mutation] {
        let run = files(&policy, &suite).run(&["test", "."]);
        assert_eq!(run.code, Some(0), "{policy}\n{run}");
        let run = files(&policy, SUITE).run(&["test", "."]);
        assert_eq!(run.code, Some(1), "{policy}\n{run}");
    }
}

#[test]
fn undecided_is_a_word() {
    let suite = SUITE.replace("expect: denied", "expect: undecided");
    let run = files(&(UNBOUND.to_owned() + BINDING), &suite).run(&["test", "."]);
    run.exits(1).stdout_has("expected undecided");
}

#[test]
fn warnings_of_policies_under_test() {
    let policy =
        UNBOUND.replace("too many", "\"'at most 3, not ' + string(object.spec.replicas)\"") + BINDING;
    let directory = files(&policy, SUITE);
    directory.run(&["test", "."]).is("test-warned.txt");
    let denied = directory.run(&["test", ".", "--deny", "warnings"]);
    denied.exits(1).stdout_has("2 passed, 0 failed");
    let run = directory.run(&["test", ".", "--deny", "warnings", "--allow", "cel-in-message"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run}");
    assert_eq!(directory.run(&["test", ".", "--deny", "nothing"]).code, Some(2));
}

#[test]
fn webhooks_are_refused() {
    let webhooks = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n\
        metadata: {name: NAME}\nwebhooks:\n- name: a.example.com\n  clientConfig: {url: 'https://a.example.com'}\n  \
        sideEffects: None\n  admissionReviewVersions: [v1]\n";
    let suite = SUITE.replace("policy.yaml", "policies");
    for (name, golden) in [
        ("of-the-api", "test-webhooks.txt"),
        ("static.static.k8s.io", "test-static-webhooks.txt"),
    ] {
        files("", &suite)
            .with("policies/policy.yaml", UNBOUND.to_owned() + BINDING)
            .with("policies/webhooks.yaml", webhooks.replace("NAME", name))
            .run(&["test", "suite.yaml", "--coverage"])
            .is(golden);
    }
}

#[test]
fn nothing_is_not_all() {
    let suite = SUITE
        .replace("policies: [policy.yaml]\n", "")
        .replace("denied", "allowed");
    let directory = files("", &suite);
    directory
        .run(&["test", "suite.yaml", "--coverage"])
        .is("test-coverage-nothing.txt");
    directory
        .run(&["test", "suite.yaml", "--coverage-threshold", "1"])
        .is("test-coverage-nothing-required.txt");
    let run = directory.run(&["test", "suite.yaml", "--coverage", "--output", "json"]);
    run.stdout_has("\"percent\": null");
}

#[test]
fn pods_without_containers_are_evaluated_by_the_rest() {
    let template = "selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n";
    let directory = Directory::new()
        .with("pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: empty}\n")
        .with(
            "web.yaml",
            format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec:\n  {template}"),
        )
        .with(
            "host.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: host}\nspec: {hostNetwork: true, containers: null}\n",
        );
    // Their lists of containers are null to policies, and no error.
    let denied = directory.run(&[
        "review",
        "--validation",
        "off",
        "pod.yaml",
        "web.yaml",
        "host.yaml",
    ]);
    denied.exits(1).shows(&[
        "2 allowed, 1 denied\n",
        "denied request: hostNetwork may not be true\n",
    ]);
    let restricted = directory.run(&[
        "review",
        "--validation",
        "off",
        "--level",
        "restricted",
        "pod.yaml",
        "web.yaml",
    ]);
    assert!(!restricted.stdout.contains("resulted in error"), "{restricted}");
}
