//! Suites over the state of a cluster, which an API server or a snapshot of it gives.

use serde_json::json;

use crate::api_server::{ApiServer, CONFIG_MAPS, NAMESPACES, Script};
use crate::cluster_state::{authorizing, files, limits, run, server};
use crate::support::Directory;

const TEST: [&str; 5] = ["test", "--kubeconfig", "kubeconfig", "suite.yaml", "--verbose"];
const POLICIES: &str = "policies: [policies]\n";

/// A suite that expects something of the Deployment; `more` are fields of the suite.
fn suite(more: &str, expected: &str) -> String {
    format!(
        "apiVersion: pratique/v1alpha1\nkind: Suite\nmetadata: {{name: replicas}}\n{more}tests:\n\
         - name: five\n  object: object.yaml\n  expect: {expected}\n"
    )
}

fn with_suite(server: &ApiServer, more: &str, expected: &str) -> Directory {
    files(server).with("suite.yaml", suite(more, expected))
}

#[test]
fn params_of_the_cluster() {
    let server_3 = server(3).start();
    let directory = with_suite(
        &server_3,
        POLICIES,
        "{verdict: denied, messageContains: too many}",
    );
    run(&directory, &TEST, 0, &["1 passed, 0 failed"]);
    let asked = server_3.asked();
    let lists = |path: &str| asked.iter().filter(|line| line.contains(path)).count();
    assert_eq!(lists("GET /api/v1/configmaps?limit=500"), 2, "{asked:?}");
    assert_eq!(lists("admissionregistration.k8s.io/v1/"), 0, "{asked:?}");
    assert_eq!(lists("secrets"), 0, "{asked:?}");
    // Without the cluster, there is no param.
    run(&directory, &["test", "suite.yaml"], 1, &["no params found"]);
    // What the suite gives counts instead.
    let given = "policies: [policies]\ncluster:\n  objects: [given.yaml]\n";
    let map =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: limits, namespace: shop}\ndata: {max: '9'}\n";
    let directory = with_suite(&server_3, given, "allowed").with("given.yaml", map);
    run(&directory, &TEST, 0, &["1 passed, 0 failed"]);
    let absent = server(3).list(CONFIG_MAPS, vec![limits(1, "a")]).start();
    let missing = "{verdict: denied, messageContains: no params found}";
    run(
        &with_suite(&absent, POLICIES, missing),
        &TEST,
        0,
        &["1 passed, 0 failed"],
    );
}

#[test]
fn policies_of_the_cluster() {
    let server = server(3).start();
    let denied = "{verdict: denied, messageContains: too many}";
    let other = suite("", denied).replace("object.yaml", "../object.yaml");
    let directory = with_suite(&server, "", denied).with("more/suite.yaml", other);
    let both = [&TEST[..], &["more/suite.yaml", "--allow-path", "."]].concat();
    run(&directory, &both, 0, &["2 passed, 0 failed"]);
    // Several suites read the cluster once.
    let asked = server.asked();
    let lists = |path: &str| asked.iter().filter(|line| line.contains(path)).count();
    assert_eq!(lists("/validatingadmissionpolicies?"), 1, "{asked:?}");
    let path = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
    let refused = Script::new().refuse(path, 403, "no").start();
    let unknown = run(
        &with_suite(&refused, "", "allowed"),
        &TEST,
        2,
        &["are not known: no"],
    );
    assert_eq!(unknown.stdout, "", "{unknown}");
}

#[test]
fn what_cannot_be_read_is_undecided() {
    let refused = server(3)
        .refuse(CONFIG_MAPS, 403, "configmaps is forbidden")
        .start();
    let message = "objects of v1 ConfigMap are not known: configmaps is forbidden";
    let undecided = with_suite(&refused, POLICIES, "undecided");
    let twice = [&TEST[..], &["suite.yaml"]].concat();
    let run_twice = run(&undecided, &twice, 0, &["2 passed, 0 failed", message]);
    assert_eq!(run_twice.stderr.matches(message).count(), 1, "{run_twice}");
    let denied = with_suite(&refused, POLICIES, "denied");
    run(&denied, &TEST, 1, &["expected denied", "actual   undecided"]);
    let unreachable = server(3).refuse("/version", 401, "Unauthorized").start();
    let directory = with_suite(&unreachable, POLICIES, "denied");
    run(&directory, &TEST, 2, &["cannot read the cluster", "Unauthorized"]);
}

const OPEN: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: open}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations: [{expression: 'namespaceObject.metadata.labels.open == ''yes''', message: closed}]
";

#[test]
fn namespaces_of_the_cluster() {
    let namespace = |name: &str| json!({"metadata": {"name": name, "labels": {"open": "yes"}}});
    let check = |server: Script, more: &str, expected: &str, messages: &[&str]| {
        let more = format!("policies: [open.yaml]\nbind: true\n{more}");
        let directory = with_suite(&server.start(), &more, expected).with("open.yaml", OPEN);
        run(&directory, &TEST, 0, messages);
    };
    let known = || server(3).list(NAMESPACES, vec![namespace("shop")]);
    check(known(), "", "allowed", &[]);
    // The suite's own counts instead.
    check(
        known(),
        "cluster: {namespaces: {shop: {open: 'no'}}}\n",
        "denied",
        &[],
    );
    // One that the cluster does not have does not exist.
    let absent = server(3).list(NAMESPACES, vec![namespace("other")]);
    check(absent, "", "{verdict: error, messageContains: not found}", &[]);
    let refused = server(3).refuse(NAMESPACES, 403, "no");
    check(refused, "", "undecided", &["Namespace are not known: no"]);
}

const ROLES: &str = "cluster:
  objects:
  - apiVersion: rbac.authorization.k8s.io/v1
    kind: ClusterRole
    metadata: {name: user}
    rules: [{apiGroups: [''], resources: [pods], verbs: [use]}]
  - apiVersion: rbac.authorization.k8s.io/v1
    kind: ClusterRoleBinding
    metadata: {name: user}
    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: user}
    subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: kubernetes-admin}]
";

#[test]
fn permissions_of_the_cluster() {
    let allows = authorizing().allow("use").start();
    run(&with_suite(&allows, "", "allowed"), &TEST, 0, &[]);
    let refuses = authorizing().start();
    run(&with_suite(&refuses, "", "denied"), &TEST, 0, &[]);
    // Rules of the suite decide alone; its roles allow more.
    let rules = "cluster: {authorizer: []}\n";
    run(&with_suite(&allows, rules, "denied"), &TEST, 0, &[]);
    run(&with_suite(&refuses, ROLES, "allowed"), &TEST, 0, &[]);
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let unknown = authorizing().refuse(path, 403, "forbidden").start();
    let message = "permissions are not known: forbidden";
    run(&with_suite(&unknown, "", "undecided"), &TEST, 0, &[message]);
}

#[test]
fn the_whole_chain_over_a_cluster() {
    let counted = json!({"count/deployments.apps": "1"});
    let full = json!({
        "metadata": {"name": "full", "namespace": "shop"},
        "spec": {"hard": counted},
        "status": {"hard": counted, "used": counted},
    });
    let path = "/api/v1/resourcequotas";
    let check = |server: Script, expected: &str| {
        let directory = with_suite(&server.start(), "chain: true\n", expected);
        run(&directory, &TEST, 0, &["1 passed"]);
    };
    check(
        Script::new().list(path, vec![full]),
        "{verdict: denied, plugin: ResourceQuota}",
    );
    check(Script::new(), "allowed");
    check(Script::new().refuse(path, 403, "no"), "undecided");
}

#[test]
fn webhooks_of_the_cluster_are_reported() {
    let webhook = "metadata: {name: hook}\nwebhooks:\n- name: h.example.com\n  \
                   clientConfig: {url: 'https://a.b/c'}\n  admissionReviewVersions: [v1]\n  sideEffects: None\n  \
                   rules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]\n";
    let server = Script::new().admission("validatingwebhookconfigurations", webhook);
    let server = server.start();
    let message = "1 webhook configuration of the cluster is not evaluated; `webhooks` of a suite says what they answer";
    run(&with_suite(&server, "", "allowed"), &TEST, 0, &[message]);
    let answers = "webhooks: [{name: h.example.com, allowed: false, message: closed}]\n";
    let denied = "{verdict: denied, messageContains: closed}";
    run(&with_suite(&server, answers, denied), &TEST, 0, &[]);
}

#[test]
fn snapshots_stand_for_the_cluster() {
    let server = server(3).start();
    let directory = with_suite(&server, "", "{verdict: denied, messageContains: too many}");
    let taken = ["snapshot", "--kubeconfig", "kubeconfig", "saved"];
    run(&directory, &taken, 0, &[]);
    let offline = ["test", "--snapshot", "saved", "suite.yaml"];
    run(&directory, &offline, 0, &["1 passed, 0 failed"]);
    // What was removed is not known, rather than absent.
    std::fs::remove_file(directory.path().join("saved/configmaps/shop.yaml")).unwrap();
    run(&directory, &offline, 1, &["actual   undecided"]);
    let refused = "cannot be used with";
    let both = [&offline[..], &["--kubeconfig", "kubeconfig"]].concat();
    run(&directory, &both, 2, &[refused]);
    let init = ["test", "--init", "--snapshot", "saved", "."];
    run(&directory, &init, 2, &[refused]);
}

#[test]
fn tests_of_other_programs_see_only_what_they_give() {
    let server = server(9).start();
    let kyverno = "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: t}\n\
                   policies: [policies/policy.yaml, policies/binding.yaml]\nresources: [object.yaml]\nresults:\n\
                   - {policy: limit, resources: [web], kind: Deployment, isValidatingAdmissionPolicy: true, result: fail}\n";
    let directory = files(&server).with("kyverno-test.yaml", kyverno);
    let offline = directory.run(&["test", "kyverno-test.yaml"]);
    let online = directory.run(&["test", "--kubeconfig", "kubeconfig", "kyverno-test.yaml"]);
    assert_eq!(
        (offline.code, &offline.stdout),
        (online.code, &online.stdout),
        "{online}"
    );
    assert!(!server.asked().iter().any(|line| line.contains("configmaps")));
}
