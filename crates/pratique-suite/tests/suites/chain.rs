//! Suites whose requests go through the server's chain, with webhooks that a script answers for.

use std::fs;

use pratique_manifest::ManifestFile;
use pratique_suite::{Suite, read_suites, updated};

use super::{Directory, failures};

const STATE: &str = r#"
  namespaces:
    shop: {pod-security.kubernetes.io/enforce: baseline}
  objects:
  - {apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: shop}}
  - apiVersion: v1
    kind: LimitRange
    metadata: {name: sizes, namespace: shop}
    spec: {limits: [{type: Container, default: {cpu: 500m}, defaultRequest: {cpu: 400m}}]}
  - apiVersion: v1
    kind: ResourceQuota
    metadata: {name: team, namespace: shop}
    spec: {hard: {requests.cpu: "1", pods: "9"}}
    status: {hard: {requests.cpu: "1", pods: "9"}, used: {requests.cpu: 100m, pods: "1"}}
"#;

const WEBHOOKS: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: sidecars}
webhooks:
- &webhook
  name: sidecars.example.com
  clientConfig: {url: "https://hooks.example/sidecars"}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 7
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: reviewers}
webhooks:
- name: reviewers.example.com
  clientConfig: {service: {name: reviewer, namespace: ops, path: /ask}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
"#;

fn read(directory: &Directory, text: &str) -> Result<Suite, Vec<String>> {
    fs::write(directory.0.join("webhooks.yaml"), WEBHOOKS).unwrap();
    let file = ManifestFile {
        path: directory.0.join("suite.yaml").to_string_lossy().into_owned(),
        content: format!("apiVersion: pratique/v1alpha1\nkind: Suite\n{text}").into_bytes(),
    };
    let messages = |problem: &pratique_manifest::Problem| problem.message.clone();
    match read_suites(&file) {
        Ok(mut suites) => Ok(suites.remove(0)),
        Err(problems) => Err(problems.iter().map(messages).collect()),
    }
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let directory = Directory::new();
    let suite = read(&directory, text).unwrap();
    assert_eq!(failures(&suite), expected);
}

/// The problems of a suite, read or loaded.
#[track_caller]
fn refused(text: &str, expected: &[&str]) {
    let directory = Directory::new();
    let problems = match read(&directory, text) {
        Err(problems) => problems,
        Ok(suite) => {
            let problems = suite.policies().unwrap_err();
            problems.iter().map(|problem| problem.message.clone()).collect()
        }
    };
    assert_eq!(problems, expected);
}

fn pod(name: &str, more: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: shop}}, \
         spec: {{containers: [{{name: app, image: 'a:1'}}]{more}}}}}"
    )
}

#[test]
fn plugins_change_and_refuse() {
    let (web, host) = (pod("web", ""), pod("host", ", hostNetwork: true"));
    check(
        &format!(
            "chain: true
cluster:{STATE}  complete: true
tests:
- name: a Pod
  object: {web}
  expect:
    verdict: allowed
    plugins: {{LimitRanger: changed, PodSecurity: passed, AlwaysPullImages: skipped, defaulting: changed, preparation: changed}}
    changes:
      LimitRanger: ['object.spec.containers[0].resources.requests', 'object.metadata.annotations[\"kubernetes.io/limit-ranger\"]']
      DefaultTolerationSeconds: [object.spec.tolerations]
      defaulting: [object.spec.restartPolicy]
    auditAnnotations: {{pod-security.kubernetes.io/enforce-policy: 'baseline:latest'}}
    objectContains: {{spec: {{serviceAccountName: default, priority: 0}}}}
    quotas: {{team: {{requests.cpu: 0.5, pods: 2}}}}
- name: of the host
  object: {host}
  expect:
    verdict: denied
    plugin: PodSecurity
    code: 403
    message: 'pods \"host\" is forbidden: violates PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true)'
    plugins: {{PodSecurity: refused, ResourceQuota: skipped}}
"
        ),
        &[],
    );
}

#[test]
fn differences_tell_what_the_chain_did() {
    let web = pod("web", "");
    check(
        &format!(
            "chain: true
cluster:{STATE}  complete: [ServiceAccount, LimitRange, ResourceQuota]
tests:
- name: wrong
  object: {web}
  expect:
    verdict: allowed
    plugins: {{Priority: refused, LimitRanger: passed}}
- name: undecided
  object: {web}
  expect: {{verdict: undecided, messageContains: PriorityClass, plugins: {{Priority: undecided, LimitRanger: passed}}}}
"
        ),
        &[
            "wrong: verdict allowed/undecided: Priority is undecided: PriorityClass.scheduling.k8s.io objects are not known: \
             give those that there are under cluster.objects, and say with cluster.complete that there are no others",
            "wrong: plugins[LimitRanger] passed/changed",
            "wrong: plugins[Priority] refused/undecided: PriorityClass.scheduling.k8s.io objects are not known",
            "undecided: plugins[LimitRanger] passed/changed",
        ],
    );
    check(
        &format!(
            "chain: {{disableAdmissionPlugins: [PodSecurity], enableAdmissionPlugins: [AlwaysPullImages]}}
cluster:{STATE}  complete: true
tests:
- name: others
  object: {}
  expect:
    verdict: allowed
    plugins: {{PodSecurity: skipped, AlwaysPullImages: changed}}
    changes: {{AlwaysPullImages: [object.spec.volumes], nobody: [object.spec]}}
    quotas: {{team: {{pods: 3, secrets: 1}}, shop/other: {{}}}}
",
            pod("host", ", hostNetwork: true")
        ),
        &[
            "others: changes[AlwaysPullImages] object.spec.volumes/object.spec.containers[0].imagePullPolicy",
            "others: changes[nobody] object.spec/nothing",
            "others: quotas[shop/other] a quota/no such quota among shop/team",
            "others: quotas[team][pods] 3/2",
            "others: quotas[team][secrets] 1/nothing",
        ],
    );
}

#[test]
fn objects_of_one_test_are_charged_one_after_another() {
    let (a, b, c) = (pod("a", ""), pod("b", ""), pod("c", ""));
    let text = format!(
        "chain: true
cluster:{STATE}  complete: true
tests:
- name: three
  objects: [{a}, {b}, {c}]
  expect: allowed
  expectObjects:
    a: {{verdict: allowed, quotas: {{team: {{requests.cpu: 500m}}}}}}
    b: {{verdict: allowed, quotas: {{team: {{requests.cpu: 900m}}}}}}
    c: {{verdict: denied, plugin: ResourceQuota, messageContains: 'exceeded quota: team', quotas: {{team: {{pods: 3}}}}}}
- name: alone
  object: {c}
  expect: allowed
"
    );
    check(&text, &[]);
    // One case alone has those before it behind it.
    let directory = Directory::new();
    let suite = read(&directory, &text).unwrap();
    let policies = suite.policies().unwrap();
    assert!(suite.test(&suite.cases[2], &policies, None).passed());
    let mut runner = suite.runner(&policies);
    runner.skip(&suite.cases[0]);
    runner.skip(&suite.cases[1]);
    assert!(runner.test(&suite.cases[2], None).passed());
    assert!(runner.test(&suite.cases[3], None).passed());
}

const MAP: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: kept}, data: {a: '1'}}";

#[test]
fn scripts_answer_for_webhooks() {
    check(
        &format!(
            "policies: [webhooks.yaml]
webhooks:
- name: reviewers.example.com
  objects: [ConfigMap/refused]
  allowed: false
  message: not this one
  code: 409
  reason: Conflict
- {{name: reviewers.example.com, warnings: [careful], auditAnnotations: {{asked: 'yes'}}}}
- {{name: sidecars.example.com, operations: [UPDATE], error: connection refused}}
- {{name: sidecars.example.com, merge: {{data: {{b: '2'}}}}}}
tests:
- name: asked
  object: {MAP}
  each:
  - name: allowed
    expect:
      verdict: allowed
      warnings: [careful]
      auditAnnotations: {{reviewers.example.com/asked: 'yes'}}
      changes: {{sidecars.example.com: [object.data.b], MutatingAdmissionWebhook: [object.data]}}
      objectContains: {{data: {{a: '1', b: '2'}}}}
  - name: refused
    set: {{object.metadata.name: refused}}
    expect:
      verdict: denied
      code: 409
      reason: Conflict
      plugin: ValidatingAdmissionWebhook
      message: 'admission webhook \"reviewers.example.com\" denied the request: not this one'
  - name: patched otherwise
    webhooks:
    - {{name: sidecars.example.com, patch: [{{op: remove, path: /data/a}}]}}
    expect: {{verdict: allowed, object: {{apiVersion: v1, kind: ConfigMap, metadata: {{name: kept, namespace: default}}}}}}
  - name: a bad patch
    webhooks:
    - {{name: sidecars.example.com, patch: [{{op: remove, path: /data/c}}]}}
    expect: {{verdict: error, plugin: MutatingAdmissionWebhook}}
  - name: fails
    operation: UPDATE
    merge: {{oldObject: {{apiVersion: v1, kind: ConfigMap, metadata: {{name: kept}}}}}}
    expect:
      verdict: error
      code: 500
      message: 'Internal error occurred: failed calling webhook \"sidecars.example.com\": failed to call webhook: Post \"https://hooks.example/sidecars?timeout=7s\": connection refused'
  - name: too late, and ignored
    webhooks: [{{name: reviewers.example.com, timeout: true}}]
    expect: {{verdict: allowed, warnings: []}}
"
        ),
        &[],
    );
}

#[test]
fn webhooks_without_a_script_are_undecided() {
    check(
        &format!(
            "policies: [webhooks.yaml]
webhooks: [{{name: reviewers.example.com, objects: [other]}}]
tests:
- {{name: first, object: {MAP}, expect: {{verdict: undecided, plugins: {{MutatingAdmissionWebhook: undecided}}}}}}
- {{name: second, object: {MAP}, webhooks: [{{name: sidecars.example.com}}], expect: allowed}}
"
        ),
        &[
            "second: verdict allowed/undecided: ValidatingAdmissionWebhook 'reviewers.example.com' is undecided: it is not known \
             what the webhook answers: say what it answers under webhooks, by its name",
        ],
    );
}

#[test]
fn webhooks_and_plugins_are_called_again() {
    // The sidecar comes after LimitRanger, which sees it in the second round.
    let hooks = WEBHOOKS.replace("configmaps", "pods");
    let directory = Directory::new();
    let text = format!(
        "policies: [webhooks.yaml]
chain: true
webhooks:
- {{name: reviewers.example.com}}
- name: sidecars.example.com
  patch: [{{op: add, path: /spec/containers/-, value: {{name: proxy, image: p}}}}]
cluster:{STATE}  complete: true
tests:
- name: with a sidecar
  object: {}
  expect:
    verdict: allowed
    changes: {{sidecars.example.com: ['object.spec.containers[1]'], LimitRanger: ['object.spec.containers[1].resources']}}
    quotas: {{team: {{requests.cpu: 900m}}}}
",
        pod("web", "")
    );
    let suite = read(&directory, &text).unwrap();
    fs::write(directory.0.join("webhooks.yaml"), hooks).unwrap();
    let policies = suite.policies().unwrap();
    let result = suite.test(&suite.cases[0], &policies, None);
    assert_eq!(result.differences, []);
    assert!(result.passed());
}

#[test]
fn what_cannot_be_is_refused() {
    let tests = format!("tests: [{{name: a, object: {MAP}, expect: allowed}}]\n");
    let check = |head: &str, expected: &[&str]| refused(&format!("{head}{tests}"), expected);
    check(
        "policies: [webhooks.yaml]\n",
        &[
            "MutatingWebhookConfiguration \"sidecars\" is not evaluated: the suite does not say what webhooks answer",
            "ValidatingWebhookConfiguration \"reviewers\" is not evaluated: the suite does not say what webhooks answer",
        ],
    );
    check(
        "policies: [webhooks.yaml]\nwebhooks: [{name: reviewer.example.com}]\n",
        &["no webhook is named \"reviewer.example.com\": did you mean \"reviewers.example.com\"?"],
    );
    check(
        "chain: {enableAdmissionPlugins: [PodSecurityPolicy], disableAdmissionPlugins: [LimitRange]}\n",
        &[
            "admission plugin PodSecurityPolicy is gone since Kubernetes 1.25; instead there is PodSecurity, or policies of \
             your own",
            "kube-apiserver has no admission plugin \"LimitRange\": did you mean \"LimitRanger\"?",
        ],
    );
    check(
        "chain: {disableAdmissionPlugins: [ValidatingAdmissionPolicy]}\n",
        &["ValidatingAdmissionPolicy cannot be disabled: do not name the manifests that it is for"],
    );
    check(
        "chain: true\ndefaults: false\n",
        &["the chain sets defaults: a suite with `chain` has no `defaults: false`"],
    );
    check(
        "cluster: {complete: true}\n",
        &["`complete` is about the admission plugins of a server: give the suite `chain: true`"],
    );
    check(
        "chain: true\ncluster: {complete: [LimitRanges]}\n",
        &["no admission plugin looks up objects of the kind \"LimitRanges\": did you mean \"LimitRange\"?"],
    );
    check(
        "webhooks: [{name: a, error: refused, allowed: false}, {name: b, error: refused, timeout: true}]\n",
        &[
            "a call that fails with `error` has no `allowed`",
            "a call either fails with `error` or has a `timeout`",
        ],
    );
    let expects = |expect: &str| format!("tests: [{{name: a, object: {MAP}, expect: {expect}}}]\n");
    refused(
        &expects("{verdict: allowed, plugins: {PodSecurity: passed}}"),
        &["`plugins` is about the admission plugins of a server: give the suite `chain: true`"],
    );
    refused(
        &format!(
            "chain: true\n{}",
            expects("{verdict: denied, plugin: PodSecurty}")
        ),
        &["kube-apiserver has no admission plugin \"PodSecurty\": did you mean \"PodSecurity\"?"],
    );
    refused(
        &format!(
            "chain: true\n{}",
            expects("{verdict: allowed, changes: {LimitRanger: [spec.containers, 'object.a[']}}")
        ),
        &[
            "spec.containers: a path of a change starts with object",
            "object.a[: a bracket is not closed",
        ],
    );
}

#[test]
fn configurations_follow_the_release() {
    let directory = Directory::new();
    let configuration = "apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ValidatingAdmissionPolicy
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: ValidatingAdmissionPolicyConfiguration
    staticManifestsDir: ";
    let manifests = directory.0.join("manifests");
    fs::create_dir(&manifests).unwrap();
    fs::copy(directory.0.join("policy.yaml"), manifests.join("policy.yaml")).unwrap();
    let text = format!("{configuration}{}\n", manifests.display());
    fs::write(directory.0.join("admission.yaml"), text).unwrap();
    let problems = |head: &str| {
        let case = format!("tests: [{{name: a, object: {MAP}, expect: denied}}]\n");
        let suite = read(&directory, &format!("{head}{case}")).unwrap();
        let problems = suite.policies().err();
        let messages = problems.iter().flat_map(|problems| problems.iter());
        messages
            .map(|problem| problem.message.clone())
            .collect::<Vec<_>>()
    };
    let gated = |problems: &[String]| matches!(problems, [problem] if problem.ends_with("feature gate to be enabled"));
    for named in [
        "configuration: admission.yaml\n",
        "chain: true\nconfiguration: admission.yaml\n",
    ] {
        assert_eq!(problems(named), [""; 0], "{named}");
        let older = problems(&format!("kubernetesVersion: '1.36'\n{named}"));
        assert!(gated(&older), "{named}: {older:?}");
    }
}

#[tokio::test]
async fn suites_run_within_a_runtime() {
    let directory = Directory::new();
    let text = format!("chain: true\ntests: [{{name: a, object: {MAP}, expect: undecided}}]\n");
    let suite = read(&directory, &text).unwrap();
    let policies = suite.policies().unwrap();
    let result = suite.test(&suite.cases[0], &policies, None);
    assert!(result.actual.is_ok(), "{:?}", result.actual);
}

const SNAPSHOT: &str = "apiVersion: pratique/v1alpha1
kind: Snapshot
taken: '2026-11-23T06:00:00Z'
kinds:
- {apiVersion: v1, kind: LimitRange, objects: 0, extent: all}
- {apiVersion: v1, kind: Namespace, objects: 1, extent: all}
- {apiVersion: v1, kind: ServiceAccount, objects: 1, extent: all}
- {apiVersion: v1, kind: Secret, objects: 0, extent: unknown, reason: forbidden}
served:
- {apiVersion: example.com/v1, kind: Widget, resource: widgets, namespaced: true}
";

#[test]
fn snapshots_say_what_is_known() {
    let directory = Directory::new();
    let snapshot = directory.0.join("snapshot/default");
    fs::create_dir_all(&snapshot).unwrap();
    fs::write(directory.0.join("snapshot/snapshot.yaml"), SNAPSHOT).unwrap();
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
    fs::write(directory.0.join("snapshot/namespaces.yaml"), namespace).unwrap();
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: shop}\n";
    fs::write(snapshot.join("serviceaccounts.yaml"), account).unwrap();
    let text = format!(
        "chain: true
cluster: {{objects: [snapshot]}}
tests:
- name: a Pod
  object: {}
  expect: {{verdict: undecided, plugins: {{LimitRanger: passed, ServiceAccount: changed, Priority: undecided}}}}
- name: a kind that is served
  object: {{apiVersion: example.com/v1, kind: Widget, metadata: {{name: a, namespace: shop}}}}
  expect: {{verdict: undecided, plugins: {{NamespaceLifecycle: passed, ResourceQuota: undecided}}}}
",
        pod("web", "")
    );
    let suite = read(&directory, &text).unwrap();
    let policies = suite.policies().unwrap();
    for case in &suite.cases {
        let result = suite.test(case, &policies, None);
        assert_eq!(result.actual.map(drop), Ok(()), "{}", case.name);
        assert_eq!(result.differences, [], "{}", case.name);
    }
    fs::remove_file(snapshot.join("serviceaccounts.yaml")).unwrap();
    assert_eq!(
        read(&directory, &text).unwrap_err(),
        ["snapshot: the snapshot is not whole: it has 0 of 1 objects of ServiceAccount of v1"]
    );
}

#[test]
fn expectations_of_the_chain_are_updated() {
    let directory = Directory::new();
    let text = |expect: &str| {
        format!(
            "chain: true\ncluster:{STATE}  complete: true\ntests:\n- name: a\n  object: {}\n  expect: {{{expect}}}\n",
            pod("web", "")
        )
    };
    let update = |expect: &str| {
        let text = text(expect);
        let suite = read(&directory, &text).unwrap();
        let policies = suite.policies().unwrap();
        let actual = suite.test(&suite.cases[0], &policies, None).actual.unwrap();
        let file = ManifestFile {
            path: directory.0.join("suite.yaml").to_string_lossy().into_owned(),
            content: format!("apiVersion: pratique/v1alpha1\nkind: Suite\n{text}").into_bytes(),
        };
        updated(&file, &[(&suite, &suite.cases[0], &actual)])
    };
    let written = update(
        "verdict: allowed, plugins: {LimitRanger: passed, NodeRestriction: passed}, quotas: {team: {pods: 7}}, \
         changes: {LimitRanger: [object.spec.containers]}",
    );
    let written = written.unwrap().unwrap();
    assert!(
        written.contains("plugins: {LimitRanger: changed, NodeRestriction: skipped}"),
        "{written}"
    );
    assert!(written.contains("quotas: {team: {pods: \"2\"}}"), "{written}");
    assert!(
        update("verdict: allowed, plugins: {LimitRanger: changed}")
            .unwrap()
            .is_none()
    );
    assert_eq!(
        update("verdict: allowed, changes: {LimitRanger: [object.status]}")
            .unwrap_err()
            .to_string(),
        "what is expected of `changes` is left as it is"
    );
}
