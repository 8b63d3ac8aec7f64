//! Pods of controllers, which try again, and what every cluster has by itself.

use crate::support::{Directory, Run};

fn workload(namespace: &str, spec: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: {namespace}}}\nspec:\n  \
         selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    \
         spec: {{{spec}containers: [{{name: c, image: 'i:1'}}]}}\n"
    )
}

fn pod(spec: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: p, namespace: shop}}\nspec: {{{spec}containers: [{{name: c, image: 'i:1'}}]}}\n"
    )
}

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
const ACCOUNT: &str = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web, namespace: shop}\n";
const CLASS: &str =
    "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 10\n";
const USES_ACCOUNT: &str = "serviceAccountName: web, ";
const USES_CLASS: &str = "priorityClassName: high, ";

/// A cluster with one namespace, of which all is known.
fn cluster() -> Directory {
    Directory::new().with(
        "state.yaml",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n",
    )
}

const REVIEW: [&str; 6] = [
    "review",
    "--chain",
    "--expand",
    "--objects",
    "state.yaml",
    "--objects-complete",
];

#[track_caller]
fn ends(run: &Run, code: i32, counts: &str) {
    run.exits(code);
    assert_eq!(run.counts(), Some(counts), "{run}");
}

/// The decisions on inputs, from a file and from standard input.
#[track_caller]
fn check(inputs: &[&str], code: i32, counts: &str) {
    let input = inputs.join("---\n");
    let directory = cluster().with("all.yaml", &input);
    ends(
        &directory.run(&[&REVIEW[..], &["all.yaml"]].concat()),
        code,
        counts,
    );
    let run = directory.run_with(&[&REVIEW[..], &["-"]].concat(), &input, &[]);
    ends(&run, code, counts);
}

#[test]
fn the_last_try_of_a_controller_decides() {
    let quota = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few, namespace: shop}\nspec: {hard: {pods: 5}}\n";
    let uses_account = workload("shop", USES_ACCOUNT);
    // The account is there then, but what the controller of quotas makes of the other is not known.
    check(
        &[NAMESPACE, &uses_account, ACCOUNT, quota],
        3,
        "4 allowed, 0 denied, 1 undecided",
    );
}

#[test]
fn pods_of_controllers_find_what_comes_later() {
    let uses_account = workload("shop", USES_ACCOUNT);
    check(&[NAMESPACE, &uses_account, ACCOUNT], 0, "4 allowed, 0 denied");
    check(&[NAMESPACE, ACCOUNT, &uses_account], 0, "4 allowed, 0 denied");
    let uses_class = workload("shop", USES_CLASS);
    check(&[NAMESPACE, &uses_class, CLASS], 0, "4 allowed, 0 denied");
    let both = workload("shop", &format!("{USES_ACCOUNT}{USES_CLASS}"));
    check(&[NAMESPACE, &both, CLASS, ACCOUNT], 0, "5 allowed, 0 denied");
    // Across files too.
    let directory = cluster()
        .with("all/a.yaml", NAMESPACE)
        .with("all/b.yaml", &uses_account)
        .with("all/c.yaml", ACCOUNT.replace(", namespace: shop", ""));
    let run = directory.run(&[&REVIEW[..], &["--namespace", "shop", "all"]].concat());
    ends(&run, 0, "4 allowed, 0 denied");
}

#[test]
fn what_nobody_tries_again_is_refused() {
    // Nobody creates a Pod again that a person applied.
    check(
        &[NAMESPACE, &pod(USES_ACCOUNT), ACCOUNT],
        1,
        "2 allowed, 1 denied",
    );
    // The account is in another namespace, or in no input.
    let elsewhere = ACCOUNT.replace("namespace: shop", "namespace: other");
    let uses_account = workload("shop", USES_ACCOUNT);
    check(&[NAMESPACE, &uses_account, &elsewhere], 1, "3 allowed, 1 denied");
    check(&[NAMESPACE, &uses_account], 1, "2 allowed, 1 denied");
    // A workload in a namespace that comes after it is refused, and so is what it would make.
    check(&[&workload("shop", ""), NAMESPACE], 1, "1 allowed, 2 denied");
}

#[test]
fn every_cluster_has_some_objects() {
    for class in ["system-node-critical", "system-cluster-critical"] {
        let spec = format!("priorityClassName: {class}, ");
        check(&[&workload("kube-system", &spec)], 0, "2 allowed, 0 denied");
    }
    for namespace in [
        "default",
        "kube-system",
        "kube-public",
        "kube-node-lease",
        "other",
    ] {
        check(&[&workload(namespace, "")], 0, "2 allowed, 0 denied");
    }
    // The service account of a namespace of the input, and Pods of persons.
    check(&[NAMESPACE, &workload("shop", "")], 0, "3 allowed, 0 denied");
    check(&[NAMESPACE, &pod("")], 0, "2 allowed, 0 denied");
    // Other objects and namespaces do not exist.
    let spec = "serviceAccountName: builder, ";
    check(&[&workload("default", spec)], 1, "1 allowed, 1 denied");
    check(&[&workload("kube-other", "")], 1, "0 allowed, 2 denied");
    check(&[&workload("default", USES_CLASS)], 1, "1 allowed, 1 denied");
}

#[test]
fn who_says_that_there_are_none_does_not_count_what_every_cluster_has() {
    let none = "resourcequotas,limitranges,priorityclasses,runtimeclasses,serviceaccounts";
    let check = |inputs: &[&str], code: i32, counts: &str| {
        let input = inputs.join("---\n");
        let arguments = ["review", "--chain", "--expand", "--none", none, "-"];
        ends(&Directory::new().run_with(&arguments, &input, &[]), code, counts);
    };
    let critical = "priorityClassName: system-cluster-critical, ";
    check(
        &[NAMESPACE, &workload("shop", critical)],
        0,
        "3 allowed, 0 denied",
    );
    // In the order in which charts have them.
    let uses_account = workload("shop", &format!("{USES_ACCOUNT}{critical}"));
    check(&[NAMESPACE, &uses_account, ACCOUNT], 0, "4 allowed, 0 denied");
    check(
        &[NAMESPACE, &workload("shop", USES_CLASS)],
        1,
        "2 allowed, 1 denied",
    );
}

/// The classes that each server makes are known without any state, and the others by the flag that the help names.
#[test]
fn priority_classes_of_every_cluster_are_known_without_others() {
    let review = |spec: &str, more: &str| {
        let none = format!("resourcequotas,limitranges,runtimeclasses,serviceaccounts{more}");
        let input = [NAMESPACE, &workload("shop", spec)].join("---\n");
        let arguments = ["review", "--chain", "--expand", "--none", &none, "-"];
        Directory::new().run_with(&arguments, &input, &[])
    };
    for class in ["system-node-critical", "system-cluster-critical"] {
        let run = review(&format!("priorityClassName: {class}, "), "");
        ends(&run, 0, "3 allowed, 0 denied");
    }
    let run = review(USES_CLASS, "");
    ends(&run, 3, "2 allowed, 0 denied, 1 undecided");
    run.stdout_has("or say with --none priorityclasses.scheduling.k8s.io that there are no others");
    let none = ",priorityclasses.scheduling.k8s.io";
    ends(&review(USES_CLASS, none), 1, "2 allowed, 1 denied");
}

#[test]
fn what_is_undecided_at_the_last_try_says_what_is_unknown_then() {
    let uses_both = workload("shop", &format!("{USES_ACCOUNT}{USES_CLASS}"));
    let input = [NAMESPACE, &uses_both, ACCOUNT].join("---\n");
    let none = "resourcequotas,limitranges,runtimeclasses";
    let arguments = ["review", "--chain", "--expand", "--none", none, "-"];
    let run = Directory::new().run_with(&arguments, &input, &[]);
    ends(&run, 3, "3 allowed, 0 denied, 1 undecided");
    assert!(
        run.stdout.contains("PriorityClass.scheduling.k8s.io objects"),
        "{run}"
    );
    assert!(!run.stdout.contains("ServiceAccount objects"), "{run}");
}

/// A policy whose param is the ConfigMap that controllers create in each namespace.
const CERTIFICATES: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: certificates}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations:
  - {expression: \"has(params.data) && params.data[?'ca.crt'].orValue('').startsWith('-----BEGIN CERTIFICATE-----')\"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: certificates}
spec:
  policyName: certificates
  paramRef: {name: kube-root-ca.crt, parameterNotFoundAction: Deny}
  validationActions: [Deny]
";

/// A state without a namespace.
const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}\n";

#[test]
fn each_namespace_has_root_certificates() {
    let directory = cluster()
        .with("policy.yaml", CERTIFICATES)
        .with("config.yaml", CONFIG)
        .with("pod.yaml", pod("").replace("shop", "default"))
        .with("all.yaml", format!("{NAMESPACE}---\n{}", pod("")));
    for state in ["state.yaml", "config.yaml"] {
        for (input, counts) in [
            ("pod.yaml", "1 allowed, 0 denied"),
            ("all.yaml", "2 allowed, 0 denied"),
        ] {
            let arguments = [
                "--policies",
                "policy.yaml",
                "--objects-complete",
                "--objects",
                state,
                input,
            ];
            ends(&directory.run(&[&["review"], &arguments[..]].concat()), 0, counts);
            directory.run(&[&["scan"], &arguments[..]].concat()).exits(0);
        }
    }
}

/// A state without a namespace does not say which others there are.
#[test]
fn namespaces_of_every_cluster_are_known_without_others() {
    let policy = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: none}
spec:
  matchConstraints:
    namespaceSelector: {matchExpressions: [{key: exempt, operator: DoesNotExist}]}
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations: [{expression: 'false', message: refused}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: none}
spec: {policyName: none, validationActions: [Deny]}
";
    let in_default = pod("").replace("shop", "default");
    let exempt = "apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {exempt: 'yes'}}\n";
    let later = in_default.replace("name: p,", "name: q,");
    let directory = Directory::new()
        .with("config.yaml", CONFIG)
        .with("policy.yaml", policy)
        .with("default.yaml", &in_default)
        .with("shop.yaml", pod(""))
        .with(
            "changed.yaml",
            [in_default.as_str(), exempt, &later].join("---\n"),
        );
    let run = |command: &str, more: &[&str]| {
        let arguments = [command, "--policies", "policy.yaml", "--objects", "config.yaml"];
        directory.run(&[&arguments[..], more].concat())
    };
    for command in ["review", "scan"] {
        run(command, &["--objects-complete", "default.yaml"]).exits(1);
        run(command, &["--objects-complete", "shop.yaml"]).exits(3);
        run(command, &["default.yaml"]).exits(3);
    }
    // What an input says of such a namespace counts from its place on.
    run("review", &["--objects-complete", "changed.yaml"])
        .exits(1)
        .shows(&[
            "CREATE pods default/p: denied",
            "CREATE pods default/q: allowed",
            "it changes the labels of the namespace default, which the cluster has",
        ]);
}

/// What is given of a namespace that every cluster has counts.
#[test]
fn given_objects_come_first() {
    let directory = Directory::new()
        .with(
            "state.yaml",
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {pod-security.kubernetes.io/enforce: restricted}}\n",
        )
        .with("all.yaml", workload("default", ""));
    let run = directory.run(&[&REVIEW[..], &["all.yaml"]].concat());
    ends(&run, 1, "1 allowed, 1 denied, 1 warning");
    run.stdout_has("violates PodSecurity");
}

#[test]
fn suites_and_scans_know_every_cluster() {
    let suite = "apiVersion: pratique/v1alpha1\nkind: Suite\nchain: true\npolicies: [policy.yaml]\n\
                 cluster: {namespaces: {other: {}}, complete: true}\ntests:\n\
                 - {name: class, object: web.yaml, expect: {verdict: allowed, policies: {certificates: allowed}}}\n";
    let pod = pod("priorityClassName: system-node-critical, ").replace("shop", "kube-system");
    let directory = cluster()
        .with("web.yaml", &pod)
        .with("policy.yaml", CERTIFICATES)
        .with("a_test.yaml", suite);
    directory
        .run(&["test", "a_test.yaml"])
        .exits(0)
        .stdout_has("1 passed");
    let scan = [
        "scan",
        "--chain",
        "--objects",
        "state.yaml",
        "--objects-complete",
        "--output",
        "json",
    ];
    let run = directory.run(&[&scan[..], &["web.yaml"]].concat());
    run.exits(0);
}
