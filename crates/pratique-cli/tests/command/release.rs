//! `--kubernetes-version`: the release that a server is of.

use crate::story::{BINDING, POLICY, files};
use crate::support::{Directory, Run};

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
    assert!(
        run.stderr
            .contains("are those of Kubernetes 1.36, and so is validation"),
        "{run}"
    );
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

/// A field that Pods have since 1.37.
const RESPONDERS: &str = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {evictionResponders: [], containers: \
                          [{name: a, image: a}]}}\n";

#[test]
fn fields_of_later_releases_are_unknown() {
    let quoted = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "b", "namespace": "shop"}, "spec": {
        "evictionResponders": [], "containers": [{"name": "a", "image": "a"}]}}"#;
    let policies = &["--policies", "policies.yaml"];
    let directory = directory().with("pod.yaml", RESPONDERS).with("pod.json", quoted);
    for (version, is_unknown) in [("1.36", true), ("1.37", false)] {
        for command in ["review", "scan"] {
            for file in ["pod.yaml", "pod.json"] {
                let run = directory
                    .run(&[&[command, "--kubernetes-version", version, file], &policies[..]].concat());
                run.exits(0);
                let warned = run.stdout.contains(r#"unknown field "spec.evictionResponders""#);
                assert_eq!(warned, is_unknown, "{command} {version} {file}: {run}");
            }
        }
    }
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

#[test]
fn manifests_that_the_server_would_not_read_are_told_where_there_are_some() {
    let files = files(POLICY, BINDING)
        .with("set.yaml", STATEFUL_SET)
        .with("policies.yaml", POLICIES);
    let note = "static manifests are evaluated as if the server read them";
    let run = |arguments: &[&str], is_told: bool| {
        let run = files.run(&[arguments, &["--kubernetes-version", "1.35"]].concat());
        assert_eq!(run.stderr.matches(note).count(), usize::from(is_told), "{run}");
    };
    // Such a server ignores what an AdmissionConfiguration says of policies.
    run(&["check", "admission.yaml"], false);
    run(&["check", "policies.yaml"], false);
    run(&["check", "policies"], true);
    run(&["review", "--policies", "policies.yaml", "set.yaml"], false);
    run(&["review", "set.yaml"], false);
    run(&["review", "--manifests", "policies", "set.yaml"], true);
    run(&["review", "--policies", "policies", "set.yaml"], true);
    let upgrade = |policies: &str| {
        let arguments = [
            "upgrade",
            "--from",
            "1.35",
            "--to",
            "1.37",
            "--policies",
            policies,
            "set.yaml",
        ];
        files.run(&arguments).stdout.matches(note).count()
    };
    assert_eq!((upgrade("policies.yaml"), upgrade("policies")), (0, 1));
    let suite = |policies: &str| {
        let suite = format!(
            "apiVersion: pratique/v1alpha1\nkind: Suite\npolicies: [{policies}]\ntests: [{{name: a, object: set.yaml}}]\n"
        );
        let files = crate::story::files(POLICY, BINDING)
            .with("set.yaml", STATEFUL_SET)
            .with("policies.yaml", POLICIES)
            .with("suite.yaml", suite);
        let run = files.run(&["test", "suite.yaml", "--kubernetes-version", "1.35"]);
        run.stderr.matches(note).count()
    };
    assert_eq!((suite("policies.yaml"), suite("policies")), (0, 1));
}

/// A snapshot of a server of a version.
fn snapshot(version: &str) -> Directory {
    let index = format!(
        "apiVersion: pratique/v1alpha1\nkind: Snapshot\ntaken: \"2026-11-23T06:00:00Z\"\nserverVersion: {version}\nkinds: []\n"
    );
    directory().with("saved/snapshot.yaml", index)
}

fn review_of_snapshot(version: &str, more: &[&str]) -> Run {
    let arguments = [
        "review",
        "--policies",
        "policies.yaml",
        "--snapshot",
        "saved",
        "set.yaml",
    ];
    snapshot(version).run(&[&arguments[..], more].concat())
}

#[test]
fn a_snapshot_says_its_release() {
    let run = review_of_snapshot("v1.36.3", &[]);
    run.exits(0);
    run.stdout_has("; Kubernetes 1.36; ");
    review_of_snapshot("v1.37.2", &[]).exits(1);
    // A release that is named counts more, and that is told.
    let run = review_of_snapshot("v1.36.3", &["--kubernetes-version", "1.37"]);
    run.exits(1);
    run.stdout_has(
        "the server's version is v1.36.3: it is taken for one of Kubernetes 1.37, as is asked for",
    );
}

#[test]
fn objects_of_a_snapshot_are_decoded_as_by_its_server() {
    // Of another type than the field that 1.37 brought: a server of 1.36 ignores it.
    let pods = "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {containers: [{name: c, image: c}], \
        volumes: [{name: v, emptyDir: {mode: [octal]}}]}}\n";
    let review = |version: &str, more: &[&str]| {
        let arguments = [
            "review",
            "--policies",
            "policies.yaml",
            "--snapshot",
            "saved",
            "set.yaml",
        ];
        let directory = snapshot(version).with("saved/pods.yaml", pods);
        directory.run(&[&arguments[..], more].concat())
    };
    review("v1.36.3", &[]).exits(0);
    review("v1.36.3", &["--kubernetes-version", "1.37"]).exits(1);
    let run = review("v1.37.2", &["--kubernetes-version", "1.36"]);
    run.exits(2);
    run.stderr_has("emptyDir.mode of type int32");
}

#[test]
fn a_release_that_is_not_known_is_told_in_every_format() {
    for format in ["human", "json", "ndjson", "sarif", "junit", "github"] {
        let run = review_of_snapshot("v1.999.0", &["-o", format]);
        let told =
            "the server's version v1.999.0 is newer than what is known: it is taken for one of Kubernetes ";
        if format == "human" {
            run.stdout_has(told);
        } else {
            run.stderr_has(told);
            assert!(
                run.stdout.contains("v1.999.0 is newer than what is known"),
                "{run}"
            );
        }
    }
    let arguments = [
        "scan",
        "-o",
        "json",
        "--policies",
        "policies.yaml",
        "--snapshot",
        "saved",
        "set.yaml",
    ];
    let run = snapshot("v1.5.0").run(&arguments);
    assert!(run.stdout.contains("v1.5.0 is older than what is known"), "{run}");
}

#[test]
fn gates_are_those_of_the_server_s_release() {
    let gates = ["--feature-gates", "PodLevelResourcesFixDefaulting=false"];
    let run = review_of_snapshot("v1.36.3", &gates);
    run.exits(2);
    run.stderr_has(
        "--feature-gates: unrecognized feature gate: PodLevelResourcesFixDefaulting, in Kubernetes 1.36",
    );
    review_of_snapshot("v1.37.0", &gates).exits(1);
}

#[cfg(feature = "kube")]
#[test]
fn a_cluster_says_its_release() {
    let server = crate::api_server::Script::new().version("v1.36.3").start();
    let directory = server
        .directory()
        .with("policies.yaml", POLICIES)
        .with("set.yaml", STATEFUL_SET);
    let arguments = [
        "review",
        "--kubeconfig",
        "kubeconfig",
        "--policies",
        "policies.yaml",
        "set.yaml",
    ];
    let run = directory.run(&arguments);
    run.exits(0);
    run.stdout_has("; Kubernetes 1.36; ");
    let run = directory.run(&[&arguments[..], &["--kubernetes-version", "1.37"]].concat());
    run.exits(1);
    run.stdout_has("the server's version is v1.36.3");
}

/// A snapshot of a server of 1.37 with the policy, whose validation is another.
fn snapshot_of_policies(expression: &str, failure_policy: &str) -> Directory {
    let kinds = [
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
    ];
    let kinds = kinds.map(|kind| {
        let count = u8::from(kind.starts_with("ValidatingAdmission"));
        format!(
            "- {{apiVersion: admissionregistration.k8s.io/v1, kind: {kind}, objects: {count}, extent: all}}\n"
        )
    });
    let index = format!(
        "apiVersion: pratique/v1alpha1\nkind: Snapshot\ntaken: \"2026-11-23T06:00:00Z\"\nserverVersion: v1.37.2\nkinds:\n{}",
        kinds.concat()
    );
    let written = "!has(object.spec.updateStrategy.rollingUpdate.maxUnavailable)";
    let policies = POLICIES.replace(written, expression).replace(
        "spec:\n  matchConstraints",
        &format!("spec:\n  failurePolicy: {failure_policy}\n  matchConstraints"),
    );
    let (policy, binding) = policies.split_once("---\n").unwrap();
    directory()
        .with("saved/snapshot.yaml", index)
        .with(
            "saved/validatingadmissionpolicies.admissionregistration.k8s.io.yaml",
            policy,
        )
        .with(
            "saved/validatingadmissionpolicybindings.admissionregistration.k8s.io.yaml",
            binding,
        )
}

#[test]
fn stored_policies_are_compiled_as_stored() {
    let review = |expression, failure_policy: &str, more: &[&str]| {
        let arguments = [&["review", "--snapshot", "saved", "set.yaml"], more].concat();
        snapshot_of_policies(expression, failure_policy).run(&arguments)
    };
    // New in 1.37, so that only stored policies may use it.
    review("[1].includes(1)", "Fail", &[]).exits(0);
    review("[1].includes(2)", "Fail", &[]).exits(1);
    let run =
        snapshot_of_policies("[1].includes(1)", "Fail").run(&["review", "--policies", "saved", "set.yaml"]);
    run.exits(1);
    // What is too new for the server is an error of the policy, and does not end the command.
    let run = review("[1].includes(1)", "Fail", &["--kubernetes-version", "1.36"]);
    run.exits(1);
    run.stdout_has("denied request: compilation error: compilation failed: ERROR: <input>:1:13: undeclared reference to 'includes'");
    let told = "ValidatingAdmissionPolicy available has an expression that does not compile, and fails whenever it is evaluated: \
        spec.validations[0].expression: undeclared reference to 'includes'";
    run.stderr_has(told);
    let run = review(
        "[1].includes(1)",
        "Ignore",
        &["--kubernetes-version", "1.36", "-o", "json"],
    );
    run.exits(0);
    assert!(
        run.stdout.contains("\"rule\":\"invalid-expression\"") && run.stdout.contains(told),
        "{run}"
    );
}

#[test]
fn an_upgrade_tells_what_stored_policies_lose() {
    let upgrade = |from, to| {
        let arguments = [
            "upgrade",
            "--snapshot",
            "saved",
            "--from",
            from,
            "--to",
            to,
            "-o",
            "json",
            "set.yaml",
        ];
        snapshot_of_policies("[1].includes(1)", "Fail").run(&arguments)
    };
    upgrade("1.37", "1.38").exits(0);
    let run = upgrade("1.37", "1.36");
    run.exits(1);
    let report = run.json();
    let rules: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|finding| finding["rule"].as_str())
        .collect();
    assert_eq!(rules, ["invalid-policy", "newly-refused"], "{run}");
}

#[cfg(feature = "kube")]
#[test]
fn a_cluster_is_upgraded_from_its_release() {
    let set = serde_json::json!({
        "metadata": {"name": "db", "namespace": "shop"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
    });
    let script = crate::api_server::Script::new().version("v1.36.3");
    let script = script.serve("apps", "statefulsets", "StatefulSet", true);
    let server = script.list("/apis/apps/v1/statefulsets", vec![set]).start();
    let directory = server.directory().with("policies.yaml", POLICIES);
    let arguments = [
        "upgrade",
        "--kubeconfig",
        "kubeconfig",
        "--policies",
        "policies.yaml",
        "-o",
        "json",
    ];
    let run = directory.run(&arguments);
    run.exits(1);
    let report = run.json();
    assert_eq!(
        (&report["from"], &report["to"]),
        (&"1.36".into(), &"1.37".into()),
        "{run}"
    );
    let first = &report["findings"][0];
    assert_eq!(
        (&first["rule"], &first["place"]),
        (
            &"newly-refused".into(),
            &"/apis/apps/v1/namespaces/shop/statefulsets/db".into()
        ),
        "{run}"
    );
}

const SUITE: &str = "apiVersion: pratique/v1alpha1
kind: Suite
policies: [policies.yaml]
tests:
- name: as it is run
  object: set.yaml
  expect: denied
- name: before the default
  object: set.yaml
  kubernetesVersion: '1.36'
  expect: allowed
";

#[test]
fn suites_and_tests_name_their_release() {
    let run = |suite: &str, more: &[&str]| {
        let directory = directory().with("suite.yaml", suite);
        directory.run(&[&["test", "suite.yaml"], more].concat())
    };
    run(SUITE, &[]).exits(0);
    // What a suite does not say is said by the flag.
    let older = run(SUITE, &["--kubernetes-version", "1.36"]);
    older.exits(1);
    older.stdout_has("1 passed, 1 failed");
    let named = SUITE.replace("kind: Suite\n", "kind: Suite\nkubernetesVersion: '1.37'\n");
    run(&named, &["--kubernetes-version", "1.36"]).exits(0);
    let unknown = run(&SUITE.replace("'1.36'", "'1.2'"), &[]);
    unknown.exits(1);
    unknown.stdout_has("Kubernetes 1.2 is not known; known are ");
    // A kind that the release of a test does not serve.
    let bundle = SUITE.replace(
        "object: set.yaml\n  kubernetesVersion",
        "object: bundle.yaml\n  kubernetesVersion",
    );
    let run = run(
        &bundle.replace("expect: allowed", "expect: {verdict: denied, code: 404}"),
        &[],
    );
    run.exits(0);
}

#[test]
fn suites_are_run_as_by_the_server_of_a_snapshot() {
    let directory = snapshot("v1.36.3").with("suite.yaml", SUITE);
    let run = directory.run(&["test", "--snapshot", "saved", "suite.yaml"]);
    run.exits(1);
    run.stdout_has("1 passed, 1 failed");
    let directory = snapshot("v1.999.0").with("suite.yaml", SUITE);
    for format in ["human", "json", "junit", "github"] {
        let run = directory.run(&["test", "--snapshot", "saved", "-o", format, "suite.yaml"]);
        run.exits(0);
        assert!(
            run.stdout.contains("v1.999.0 is newer than what is known"),
            "{run}"
        );
    }
}

#[test]
fn the_project_file_names_the_release_for_all_commands() {
    let file = "apiVersion: pratique/v1alpha1\nkind: Configuration\nkubernetesVersion: '1.36'\npolicies: [policies.yaml]\n\
                inputs: [set.yaml]\nsuites: [suite.yaml]\n";
    let directory = directory().with("pratique.yaml", file).with("suite.yaml", SUITE);
    let run = directory.run(&["review"]);
    run.exits(0);
    run.stdout_has("; Kubernetes 1.36; ");
    run.stderr_has("`kubernetesVersion`");
    directory.run(&["test"]).exits(1);
    directory.run(&["scan", "set.yaml"]).stdout_has("Kubernetes 1.36");
}

#[test]
fn the_version_tells_the_releases_that_are_known() {
    let run = directory().run(&["--version"]);
    run.exits(0);
    run.stdout_has("\nKubernetes ");
    run.stdout_has("1.37, 1.36");
    assert_eq!(directory().run(&["-V"]).stdout.lines().count(), 1);
}

#[test]
fn policies_of_a_suite_are_linted_for_its_release() {
    let policies = POLICIES
        .replace("[apps]", "['']")
        .replace("statefulsets", "pods")
        .replace(
            "!has(object.spec.updateStrategy.rollingUpdate.maxUnavailable)",
            "!has(object.spec.evictionResponders)",
        );
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: a}]}}";
    for (version, is_told) in [("1.36", true), ("1.37", false)] {
        let suite = format!(
            "apiVersion: pratique/v1alpha1\nkind: Suite\nkubernetesVersion: '{version}'\npolicies: [policies.yaml]\n\
             tests: [{{name: a, object: pod.yaml, expect: allowed}}]\n"
        );
        let directory = Directory::new()
            .with("policies.yaml", &policies)
            .with("pod.yaml", pod)
            .with("suite.yaml", &suite);
        let run = directory.run(&["test", "suite.yaml"]);
        run.exits(0);
        let text = format!("{}{}", run.stdout, run.stderr);
        let is_found = text.contains("undefined field 'evictionResponders'");
        assert_eq!(is_found, is_told, "{version}: {run}");
    }
}

/// What a server decides with is of the release of the cluster that it follows: policies of files as well.
#[cfg(feature = "kube")]
#[test]
fn serve_decides_as_the_cluster_that_it_follows() {
    let policy = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: few}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: [configmaps]}]}
  validations: [{expression: '[1].distinct().size() == 1'}]
";
    for (version, flag, expected) in [
        ("v1.34.4", "", None),
        ("v1.36.3", "", Some("1.36")),
        ("v1.34.4", "1.35", Some("1.35")),
    ] {
        let server = crate::api_server::Script::new().version(version).start();
        let directory = server.directory().with("policies/few.yaml", policy);
        let mut line = vec![
            "--plain-http",
            "--kubeconfig",
            "kubeconfig",
            "--policies",
            "policies",
        ];
        if !flag.is_empty() {
            line.extend(["--kubernetes-version", flag]);
        }
        let Some(expected) = expected else {
            let line = [&["serve", "--listen", "127.0.0.1:0"], &line[..]].concat();
            let run = directory.run(&line);
            run.exits(1).stderr_has("undeclared reference to 'distinct'");
            continue;
        };
        let serving = crate::serve::Serving::start(directory.path(), &line);
        let mut client = serving.client();
        let told = format!("\"kubernetesVersion\":\"{expected}\"");
        assert!(
            client.get("/configz").contains(&told),
            "{}",
            client.get("/configz")
        );
        let page = client.get("/");
        assert!(
            page.contains(&format!("Decides as Kubernetes {expected}.")),
            "{page}"
        );
    }
}
