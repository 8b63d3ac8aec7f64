//! `review --chain`: all that an API server does to an object.

use serde_json::Value;

use crate::support::{Directory, Run};

const STATE: &str = "apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: baseline}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: shop}
---
apiVersion: v1
kind: LimitRange
metadata: {name: limits, namespace: shop}
spec: {limits: [{type: Container, default: {cpu: 500m}}]}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: pods, namespace: shop}
spec: {hard: {pods: '4'}}
status: {hard: {pods: '4'}, used: {pods: '1'}}
";

const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: team}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: ['*'], operations: ['*'], resources: [pods]}]
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: \"Object{metadata: Object.metadata{labels: {'team': 'till'}}}\"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: team}
spec: {policyName: team}
";

fn pods(count: usize, more: &str) -> String {
    let pod = |number: usize| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: web-{number}, namespace: shop}}\n\
             spec: {{containers: [{{name: web, image: nginx{more}}}]}}\n"
        )
    };
    (1..=count).map(pod).collect::<Vec<_>>().join("---\n")
}

fn directory(count: usize, more: &str) -> Directory {
    Directory::new()
        .with("state.yaml", STATE)
        .with("pods.yaml", pods(count, more))
        .with("policy.yaml", POLICY)
}

#[track_caller]
fn review(directory: &Directory, more: &[&str], code: i32, texts: &[&str]) -> Run {
    let arguments = [&["review", "--chain", "pods.yaml"], more].concat();
    let run = directory.run(&arguments);
    run.exits(code).shows(texts);
    run
}

const WHOLE: [&str; 3] = ["--objects", "state.yaml", "--objects-complete"];

#[test]
fn each_step_is_shown() {
    let directory = directory(1, "");
    let with_policy = [&WHOLE[..], &["--policies", "policy.yaml"]].concat();
    let texts = [
        "pods.yaml:1:1: CREATE pods shop/web-1: allowed, changed\n",
        "  step LimitRanger: changed metadata.annotations, spec.containers[0].resources.limits, ",
        "  step ServiceAccount: changed spec.containers[0].volumeMounts",
        "  step MutatingAdmissionPolicy team: changed metadata.labels\n",
    ];
    let run = review(&directory, &with_policy, 0, &texts);
    assert!(!run.stdout.contains("passed"));
    let explained = [&with_policy[..], &["--explain"]].concat();
    review(
        &directory,
        &explained,
        0,
        &[
            "  step defaulting: changed spec.",
            "  step PodSecurity (validate): passed\n",
            "  step preparation: changed metadata.creationTimestamp",
        ],
    );
}

#[test]
fn a_quota_that_no_controller_has_seen_is_undecided() {
    let unfilled = STATE.replace("status: {hard: {pods: '4'}, used: {pods: '1'}}\n", "");
    assert_ne!(unfilled, STATE);
    let directory = directory(1, "").with("state.yaml", unfilled);
    let texts = [
        "ResourceQuota is undecided: status.hard of ResourceQuota \"pods\" in namespace \"shop\", which its controller writes, \
         is not known",
        "give the object with its status",
    ];
    review(&directory, &WHOLE, 3, &texts);
}

#[test]
fn diffs_are_by_step() {
    let directory = directory(1, "");
    let arguments = [&WHOLE[..], &["--policies", "policy.yaml", "--output", "diff"]].concat();
    let texts = [
        "+++ pods.yaml:1:1 (as LimitRanger leaves it)\n",
        "+++ pods.yaml:1:1 (as MutatingAdmissionPolicy team leaves it)\n",
        "+    team: till\n",
    ];
    let run = review(&directory, &arguments, 0, &texts);
    // What one diff leaves out, the next does not show as what was there.
    assert!(!run.stdout.contains("securityContext: {}"), "{run}");
}

#[test]
fn steps_are_in_json() {
    let arguments = [&WHOLE[..], &["--policies", "policy.yaml", "--output", "json"]].concat();
    let run = review(&directory(1, ""), &arguments, 0, &[]);
    let review: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
    let steps = review["steps"].as_array().unwrap();
    let changed: Vec<_> = steps
        .iter()
        .filter(|step| step["result"] == "changed")
        .map(|step| step["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        changed,
        [
            "defaulting",
            "LimitRanger",
            "ServiceAccount",
            "Priority",
            "DefaultTolerationSeconds",
            "MutatingAdmissionPolicy",
            "preparation"
        ]
    );
    let policy = steps.iter().find(|step| step["by"] == "team").unwrap();
    assert_eq!(policy["patch"][0]["path"], "/metadata/labels");
}

/// A field that is dropped without a word is all that there is to say.
#[test]
fn steps_of_a_request_with_a_dropped_field_are_told() {
    let pod = "apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: web, image: nginx}], volumes: [{name: data, emptyDir: {mode: 448}}]}
";
    let quiet = [&WHOLE[..], &["--quiet"]].concat();
    let texts = [
        "emptyDir.mode is dropped without a word",
        "  step LimitRanger: changed ",
    ];
    review(&directory(1, "").with("pods.yaml", pod), &quiet, 0, &texts);
}

#[test]
fn quotas_are_charged_by_one_object_after_another() {
    let run = review(
        &directory(5, ""),
        &WHOLE,
        1,
        &[
            "pods.yaml:11:1: CREATE pods shop/web-3: allowed",
            "pods.yaml:16:1: CREATE pods shop/web-4: denied by ResourceQuota (403 Forbidden)\n  pods \"web-4\" is forbidden: \
             exceeded quota: pods, requested: pods=1, used: pods=4, limited: pods=4\n",
        ],
    );
    assert_eq!(run.counts(), Some("3 allowed, 2 denied"), "{run}");
}

#[test]
fn what_refuses_is_named() {
    let directory = directory(1, ", securityContext: {privileged: true}");
    review(
        &directory,
        &WHOLE,
        1,
        &[
            "denied by PodSecurity (403 Forbidden)",
            "violates PodSecurity \"baseline:latest\"",
        ],
    );
    let json = [&WHOLE[..], &["--output", "ndjson"]].concat();
    review(&directory, &json, 1, &["\"refusedBy\":\"PodSecurity\""]);
}

/// PodSecurity would refuse it as well.
#[test]
fn that_a_server_stops_at_the_first_refusal_is_told() {
    let directory = Directory::new()
        .with(
            "state.yaml",
            format!(
                "{STATE}---\n{{apiVersion: v1, kind: Namespace, metadata: {{name: bay, labels: {{pod-security.kubernetes.io/enforce: baseline}}}}}}\n\
                 ---\n{{apiVersion: v1, kind: LimitRange, metadata: {{name: small, namespace: bay}}, spec: {{limits: [{{type: Container, max: {{cpu: '1'}}}}]}}}}\n"
            ),
        )
        .with(
            "pods.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: large, namespace: bay}\n\
             spec: {hostNetwork: true, containers: [{name: a, image: a, resources: {limits: {cpu: '2'}}}]}\n",
        );
    let more = [&WHOLE[..], &["--disable-admission-plugins", "ServiceAccount"]].concat();
    let stops = "as on a server, no step was run after the one that refused (1 object): `pratique scan --chain` asks each plugin\n";
    let run = review(&directory, &more, 1, &["denied by LimitRanger", stops]);
    assert!(!run.stdout.contains("violates PodSecurity"), "{run}");
    let scan = [&["scan", "--chain", "pods.yaml"], &WHOLE[..]].concat();
    let scan = directory.run(&scan);
    scan.exits(1).shows(&["PodSecurity  ", "LimitRanger  "]);
    // Policies alone stop nowhere.
    let plain = directory.run(&["review", "pods.yaml"]);
    plain.exits(1);
    assert!(!plain.stdout.contains("as on a server"), "{plain}");
}

#[test]
fn state_that_is_not_given_leaves_plugins_undecided() {
    let directory = directory(1, "");
    let texts = [
        "undecided",
        "LimitRanger is undecided: LimitRange objects in namespace \"shop\" are not known",
        "--objects-complete",
    ];
    review(&directory, &[], 3, &texts);
    let without = ["--disable-admission-plugins", "LimitRanger"];
    review(
        &directory,
        &without,
        3,
        &["ServiceAccount is undecided: ServiceAccount objects"],
    );
}

#[test]
fn what_a_run_stores_is_seen_by_what_follows() {
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: till, namespace: shop}\n---\n";
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: till, namespace: shop}\nspec: {serviceAccountName: till, containers: [{name: a, image: b}]}\n";
    let directory = Directory::new()
        .with("state.yaml", STATE)
        .with("pods.yaml", pod)
        .with("all.yaml", format!("{account}{pod}"));
    let texts = [
        "denied by ServiceAccount (403 Forbidden)",
        "serviceaccount \"till\" not found",
    ];
    review(&directory, &WHOLE, 1, &texts);
    let whole = [&["review", "--chain", "all.yaml"], &WHOLE[..]].concat();
    let run = directory.run(&whole);
    run.exits(0);
}

#[test]
fn plugins_are_chosen_by_the_flags_of_a_server() {
    let directory = directory(1, "");
    let pulled = [
        &WHOLE[..],
        &["--enable-admission-plugins", "AlwaysPullImages,AlwaysDeny"],
    ]
    .concat();
    review(&directory, &pulled, 1, &["denied by AlwaysDeny"]);
    for (more, text) in [
        (
            ["--enable-admission-plugins", "Foo"],
            "kube-apiserver has no admission plugin \"Foo\"",
        ),
        (
            ["--disable-admission-plugins", "PodSecurityPolicy"],
            "admission plugin PodSecurityPolicy is gone since Kubernetes 1.25; instead there is PodSecurity",
        ),
        (
            ["--disable-admission-plugins", "ValidatingAdmissionPolicy"],
            "ValidatingAdmissionPolicy cannot be disabled",
        ),
    ] {
        review(&directory, &more, 2, &[text]);
    }
}

#[test]
fn plugins_are_configured() {
    let configuration = "apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  configuration:
    apiVersion: pod-security.admission.config.k8s.io/v1
    kind: PodSecurityConfiguration
    exemptions: {namespaces: [shop]}
";
    let directory = directory(1, ", securityContext: {privileged: true}")
        .with("config.yaml", configuration)
        .with(
            "bad.yaml",
            configuration.replace("namespaces: [shop]", "namespaces: ['-']"),
        );
    let with = |file| [&WHOLE[..], &["--admission-control-config-file", file]].concat();
    review(&directory, &with("config.yaml"), 0, &["allowed"]);
    review(
        &directory,
        &with("bad.yaml"),
        1,
        &["failed to initialize admission plugin \"PodSecurity\""],
    );
}

/// Two hundred Pods of 2 kB, so that several parts of them are worked on at once.
fn stream() -> Directory {
    let pod = |number: usize| {
        let filling = "x".repeat(2000);
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"web-{number}","namespace":"shop","annotations":{{"x":"{filling}"}}}},"spec":{{"containers":[{{"name":"web","image":"nginx"}}]}}}}"#
        )
    };
    let pods: Vec<String> = (1..=200).map(pod).collect();
    Directory::new()
        .with("state.yaml", STATE.replace("'4'", "'100'"))
        .with("pods.ndjson", pods.join("\n"))
        .with("policy.yaml", POLICY)
}

#[test]
fn a_stream_is_decided_about_in_its_order() {
    let directory = stream();
    let whole = [
        &["review", "--chain", "pods.ndjson", "--policies", "policy.yaml"][..],
        &WHOLE,
    ]
    .concat();
    let all = directory.run(&whole);
    all.exits(1);
    // One was there before.
    assert_eq!(all.counts(), Some("99 allowed, 101 denied"), "{all}");
    let last = all
        .stdout
        .find("CREATE pods shop/web-99: allowed, changed")
        .unwrap();
    let first = all.stdout.find("CREATE pods shop/web-100: denied").unwrap();
    assert!(last < first);
    assert!(!all.stdout.contains("used: pods=99,"));
}

/// What nobody sees is not computed, and what is seen is the same.
#[test]
fn what_is_told_does_not_depend_on_what_is_left_out() {
    let directory = stream();
    let whole = [
        &["review", "--chain", "pods.ndjson", "--policies", "policy.yaml"][..],
        &WHOLE,
    ]
    .concat();
    let all = directory.run(&whole).stdout;
    let run = |more: &str| {
        let run = directory.run(&[&whole[..], &[more]].concat());
        run.exits(1);
        assert_eq!(run.counts(), Some("99 allowed, 101 denied"), "{run}");
        run.stdout
    };
    let quiet = run("--quiet");
    let denied = quiet
        .find("pods.ndjson:100:1: CREATE pods shop/web-100: denied")
        .unwrap();
    assert_eq!(denied, 0, "{quiet}");
    let told = quiet.split("\n99 allowed").next().unwrap();
    assert!(all.contains(told), "{quiet}");
    assert!(quiet.contains("  step ResourceQuota: refused: "), "{quiet}");
    assert!(!run("--summary").contains("web-100"));
}
