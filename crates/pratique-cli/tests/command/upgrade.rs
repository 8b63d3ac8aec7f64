//! `pratique upgrade`: what another release of Kubernetes breaks and changes.

use serde_json::Value;

use crate::support::{Directory, Run};

const POLICIES: &str = include_str!("../../../../docs/samples/upgrade/policies/rollouts.yaml");
const OBJECTS: &str = include_str!("../../../../docs/samples/upgrade/objects.yaml");
const SERVER: &str = include_str!("../../../../docs/samples/upgrade/kube-apiserver.yaml");
const WEBHOOKS: &str = include_str!("../../../../docs/samples/upgrade/webhooks.yaml");
/// Evaluated by both releases alike.
const ALLOWS: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: any}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: 'true'}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: any}
spec: {policyName: any, validationActions: [Deny]}
";

fn directory() -> Directory {
    Directory::new()
        .with("policies/rollouts.yaml", POLICIES)
        .with("allows.yaml", ALLOWS)
        .with("objects.yaml", OBJECTS)
        .with("kube-apiserver.yaml", SERVER)
        .with("webhooks.yaml", WEBHOOKS)
}

fn upgrade(directory: &Directory, more: &[&str]) -> Run {
    let arguments = ["upgrade", "--from", "1.36", "--to", "1.37", "-o", "json"];
    directory.run(&[arguments.as_slice(), more].concat())
}

/// The rule, what it is about, and the message of each finding.
fn findings(run: &Run) -> Vec<[String; 3]> {
    let report = run.json();
    let findings = report["findings"].as_array().unwrap().iter();
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    findings
        .map(|finding| ["rule", "about", "message"].map(|name| text(finding, name)))
        .collect()
}

fn rules(run: &Run) -> Vec<[String; 2]> {
    let findings = findings(run).into_iter();
    findings.map(|[rule, about, _]| [rule, about]).collect()
}

#[track_caller]
fn has(run: &Run, rule: &str, about: &str, message: &str) {
    let mut found = findings(run).into_iter();
    assert!(
        found.any(|[of, on, text]| of == rule && on == about && text.contains(message)),
        "{rule} {about} {message}: {run}"
    );
}

#[test]
fn versions_that_are_removed_break() {
    let run = upgrade(&directory(), &["--policies", "allows.yaml", "objects.yaml"]);
    run.exits(1);
    has(
        &run,
        "removed-version",
        "networking.k8s.io/v1beta1 ServiceCIDR",
        "is not served since Kubernetes 1.37: use networking.k8s.io/v1 ServiceCIDR",
    );
    assert_eq!(run.json()["breaks"], 1, "{run}");
}

/// A release drops an annotation while it decodes, a later one while it prepares what it stores; it also counts generations.
#[test]
fn what_both_prepare_is_no_change() {
    let objects = "apiVersion: v1
kind: Pod
metadata: {name: a, namespace: shop, annotations: {pod.beta.kubernetes.io/init-containers: '[]'}}
spec: {containers: [{name: c, image: 'app:1'}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a, namespace: shop}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}}
";
    let directory = directory().with("prepared.yaml", objects);
    let run = upgrade(&directory, &["--policies", "allows.yaml", "prepared.yaml"]);
    run.exits(0);
    assert_eq!(findings(&run), Vec::<[String; 3]>::new(), "{run}");
    assert_eq!(run.json()["requests"], 2, "{run}");
}

#[test]
fn objects_that_become_others_are_changes() {
    let run = upgrade(&directory(), &["--policies", "allows.yaml", "objects.yaml"]);
    has(
        &run,
        "changed-object",
        "apps/v1 StatefulSet",
        "set spec.updateStrategy.rollingUpdate.maxUnavailable to 1",
    );
    // A field that only the new release knows. Its feature is off, so that the object stays the same.
    has(
        &run,
        "known-field",
        "v1 Pod",
        "unknown field \"spec.volumes[0].emptyDir.mode\" now",
    );
    let back = directory().run(&[
        "upgrade",
        "--from",
        "1.37",
        "--to",
        "1.36",
        "-o",
        "json",
        "--policies",
        "allows.yaml",
        "objects.yaml",
    ]);
    back.exits(1);
    has(
        &back,
        "unknown-field",
        "v1 Pod",
        "unknown field \"spec.volumes[0].emptyDir.mode\"",
    );
}

#[test]
fn policies_that_decide_otherwise_are_told() {
    let run = upgrade(&directory(), &["--policies", "policies", "objects.yaml"]);
    run.exits(1);
    has(
        &run,
        "newly-refused",
        "one-at-a-time",
        "Pods of a StatefulSet are replaced one at a time",
    );
    let gates = ["--feature-gates", "MaxUnavailableStatefulSet=false"];
    let run = upgrade(
        &directory(),
        &[
            gates.as_slice(),
            ["--policies", "policies"].as_slice(),
            &["objects.yaml"],
        ]
        .concat(),
    );
    let refused = ["newly-refused", "one-at-a-time"].map(str::to_owned);
    assert!(!rules(&run).contains(&refused), "{run}");
}

#[test]
fn policies_that_cost_otherwise_are_told() {
    let sums = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: sums}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [statefulsets]}]
  validations: [{expression: 'object.spec.updateStrategy.rollingUpdate.all(key, key != \"\")'}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: sums}
spec: {policyName: sums, validationActions: [Warn]}
";
    // The object has one more field, over which the expression goes.
    let directory = directory().with("sums.yaml", sums.replace(
        "object.spec.updateStrategy.rollingUpdate.all(key, key != \"\")",
        "[object].all(o, !has(o.spec.updateStrategy.rollingUpdate.maxUnavailable) || o.spec.updateStrategy.rollingUpdate.maxUnavailable == 1)",
    ));
    let run = upgrade(&directory, &["--policies", "sums.yaml", "objects.yaml"]);
    has(&run, "policy-cost", "sums", "its expressions cost ");
}

#[test]
fn webhooks_that_lose_sight_of_reviews_break() {
    let check = |more: &[&str]| {
        let run = upgrade(&directory(), more);
        run.exits(1);
        has(
            &run,
            "excluded-webhook",
            "reviews.audit.example.com",
            "sees subjectaccessreviews.authorization.k8s.io now: Kubernetes 1.37 excludes them",
        );
    };
    check(&["--policies", "allows.yaml", "webhooks.yaml"]);
    check(&["--policies", "webhooks.yaml"]);
    let gates = ["--feature-gates", "ExcludeAdmissionWebhookVirtualResources=false"];
    let run = directory().run(
        &[
            &[
                "upgrade",
                "--from",
                "1.37",
                "--to",
                "1.36",
                "--policies",
                "webhooks.yaml",
            ],
            gates.as_slice(),
        ]
        .concat(),
    );
    assert!(!run.stdout.contains("excluded-webhook"), "{run}");
}

#[test]
fn rules_for_versions_that_are_gone_break() {
    let rule = "{apiGroups: [networking.k8s.io], apiVersions: [v1beta1], operations: [CREATE], resources: [servicecidrs]}";
    let policy = ALLOWS.replace(
        "{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}",
        rule,
    );
    let directory = directory().with("policy.yaml", &policy);
    let message = "policy any does not see servicecidrs.networking.k8s.io any more where its rules match it now: they name \
                   networking.k8s.io/v1beta1, which Kubernetes 1.37 does not serve, and not networking.k8s.io/v1";
    // Those that are evaluated, and those among the inputs.
    for more in [
        ["--policies", "policy.yaml"].as_slice(),
        &["--policies", "allows.yaml", "policy.yaml"],
    ] {
        let run = upgrade(&directory, more);
        run.exits(1);
        has(&run, "unmatched-rule", "any", message);
    }
}

#[test]
fn flags_of_a_static_pod_are_refused() {
    // The release of now is that of its image.
    let arguments = [
        "upgrade",
        "-o",
        "json",
        "--policies",
        "allows.yaml",
        "kube-apiserver.yaml",
    ];
    let run = directory().run(&arguments);
    run.exits(1);
    assert_eq!(run.json()["from"], "1.36", "{run}");
    let flags: Vec<[String; 3]> = findings(&run)
        .into_iter()
        .filter(|[rule, _, _]| rule == "refused-flag")
        .collect();
    let expected = [
        ("--feature-gates", "unrecognized feature gate: GangScheduling"),
        (
            "--enable-admission-plugins",
            "enable-admission-plugins plugin \"PodGroupWorkloadExists\" is unknown",
        ),
        (
            "--runtime-config",
            "group version scheduling.k8s.io/v1alpha2 that has not been registered",
        ),
    ];
    let expected = expected.map(|(flag, text)| ["refused-flag", flag, text].map(str::to_owned));
    assert_eq!(flags, expected, "{run}");
}

#[test]
fn gates_of_a_static_pod_are_those_of_the_server() {
    let gated = SERVER.replace(
        "GenericWorkload=true,GangScheduling=true",
        "MaxUnavailableStatefulSet=false",
    );
    let directory = directory().with("kube-apiserver.yaml", gated);
    let run = upgrade(
        &directory,
        &["--policies", "policies", "objects.yaml", "kube-apiserver.yaml"],
    );
    let changed = ["changed-object", "apps/v1 StatefulSet"].map(str::to_owned);
    assert!(!rules(&run).contains(&changed), "{run}");
}

#[test]
fn an_admission_configuration_names_plugins_that_are_gone() {
    let configuration = "apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: JobValidation
  configuration: {}
";
    let directory = directory().with("admission.yaml", configuration);
    let run = upgrade(&directory, &["--admission-control-config-file", "admission.yaml"]);
    run.exits(0);
    has(
        &run,
        "ignored-plugin",
        "JobValidation",
        "Kubernetes 1.37 has no admission plugin JobValidation: its configuration is ignored",
    );
}

#[test]
fn flags_that_only_the_new_server_refuses_break() {
    let gates = ["--feature-gates", "GangScheduling=true,GenericWorkload=true"];
    let run = upgrade(
        &directory(),
        &[gates.as_slice(), ["--policies", "allows.yaml"].as_slice()].concat(),
    );
    run.exits(1);
    has(
        &run,
        "refused-flag",
        "--feature-gates",
        "unrecognized feature gate: GangScheduling",
    );
    let unknown = upgrade(&directory(), &["--feature-gates", "Nope=true", "objects.yaml"]);
    unknown.exits(2);
}

#[test]
fn policies_that_the_new_release_does_not_load_break() {
    // 1.36 loads it with its gate, as it is off there by default.
    let configuration = "apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ValidatingAdmissionPolicy
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: ValidatingAdmissionPolicyConfiguration
    staticManifestsDir: DIRECTORY/manifests
";
    let directory = directory();
    let configuration = configuration.replace("DIRECTORY", &directory.path().display().to_string());
    let directory = directory.with("admission.yaml", configuration).with(
        "manifests/any.yaml",
        ALLOWS
            .replace("name: any", "name: any.static.k8s.io")
            .replace("policyName: any", "policyName: any.static.k8s.io"),
    );
    let arguments = [
        "upgrade",
        "-o",
        "json",
        "--admission-control-config-file",
        "admission.yaml",
    ];
    let run = directory.run(
        &[
            &arguments[..],
            &["--from", "1.37", "--to", "1.36", "objects.yaml"],
        ]
        .concat(),
    );
    run.exits(1);
    has(
        &run,
        "invalid-policy",
        "the configuration",
        "staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled",
    );
    assert!(
        run.stderr
            .contains("policies are not evaluated: Kubernetes 1.36 does not load them"),
        "{run}"
    );
    // The server of now has to load them.
    let run = directory.run(
        &[
            &arguments[..],
            &["--from", "1.36", "--to", "1.37", "objects.yaml"],
        ]
        .concat(),
    );
    run.exits(1);
    assert_eq!(run.stdout, "", "{run}");
}

#[test]
fn deprecated_versions_are_told_with_their_end() {
    let object = r#"{"apiVersion":"storagemigration.k8s.io/v1","kind":"StorageVersionMigration","metadata":{"name":"a",
        "managedFields":[{"manager":"helm","operation":"Apply","apiVersion":"storagemigration.k8s.io/v1beta1","fieldsType":"FieldsV1","fieldsV1":{}}]},
        "spec":{"resource":{"group":"apps","resource":"deployments"}}}"#;
    let directory = directory().with("object.json", object.replace('\n', ""));
    let run = directory.run(&[
        "upgrade",
        "--from",
        "1.36",
        "--fail-on",
        "breaks",
        "-o",
        "json",
        "--policies",
        "allows.yaml",
        "object.json",
    ]);
    has(
        &run,
        "deprecated-version",
        "storagemigration.k8s.io/v1beta1 StorageVersionMigration",
        "helm wrote it in another version: storagemigration.k8s.io/v1beta1 StorageVersionMigration is deprecated since Kubernetes 1.37",
    );
}

#[test]
fn mutating_policies_of_a_beta_are_evaluated_and_told() {
    let policy = "apiVersion: admissionregistration.k8s.io/v1beta1
kind: MutatingAdmissionPolicy
metadata: {name: label}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: 'Object{metadata: Object.metadata{labels: {\"team\": \"a\"}}}'
---
apiVersion: admissionregistration.k8s.io/v1beta1
kind: MutatingAdmissionPolicyBinding
metadata: {name: label}
spec: {policyName: label}
";
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}\n";
    let directory = directory().with("label.yaml", policy).with("map.yaml", map);
    let upgrade = |more: &[&str]| {
        let arguments = [
            "upgrade",
            "--from",
            "1.35",
            "--to",
            "1.37",
            "-o",
            "json",
            "--policies",
        ];
        directory.run(&[&arguments[..], &["label.yaml", "map.yaml"], more].concat())
    };
    let run = upgrade(&["--feature-gates", "MutatingAdmissionPolicy=true"]);
    run.exits(0);
    let deprecated = |kind: &str| {
        let about = format!("admissionregistration.k8s.io/v1beta1 {kind}");
        ["deprecated-version".to_owned(), about]
    };
    let expected = ["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"].map(deprecated);
    assert_eq!(rules(&run), expected, "{run}");
    // Without the gate of the beta, only the new server evaluates it.
    let run = upgrade(&[]);
    has(
        &run,
        "changed-object",
        "v1 ConfigMap",
        "set metadata.labels to {\"team\":\"a\"}",
    );
    run.stderr_has(
        "MutatingAdmissionPolicy label is not evaluated: the feature gate MutatingAdmissionPolicy is off in Kubernetes 1.35",
    );
    run.stdout_has("mutating policies are not evaluated, as the feature gate MutatingAdmissionPolicy is off");
}

#[test]
fn requests_of_a_log_are_compared() {
    let event = |api: &str, version: &str, resource: &str, kind: &str, level: &str, object: &str| {
        format!(
            r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"{level}","stage":"ResponseComplete","verb":"create","requestURI":"/apis/{api}/{version}/{resource}","user":{{"username":"ann"}},"objectRef":{{"resource":"{resource}","name":"a","apiGroup":"{api}","apiVersion":"{version}"}},"responseStatus":{{"code":201}}{object}}}{kind}"#
        )
    };
    let cidr = r#","requestObject":{"apiVersion":"networking.k8s.io/v1beta1","kind":"ServiceCIDR","metadata":{"name":"a"},"spec":{"cidrs":["10.8.0.0/16"]}}"#;
    let log = [
        event(
            "networking.k8s.io",
            "v1beta1",
            "servicecidrs",
            "",
            "Request",
            cidr,
        ),
        event("networking.k8s.io", "v1beta1", "servicecidrs", "", "Metadata", ""),
        event("networking.k8s.io", "v1", "servicecidrs", "", "Metadata", ""),
    ]
    .join("\n");
    let directory = directory().with("audit.log", log);
    let run = upgrade(&directory, &["--policies", "allows.yaml", "audit.log"]);
    run.exits(1);
    let removed = ["removed-version", "networking.k8s.io/v1beta1 ServiceCIDR"].map(str::to_owned);
    let undecided = ["undecided", "networking.k8s.io/v1 ServiceCIDR"].map(str::to_owned);
    assert_eq!(rules(&run), [removed.clone(), removed, undecided], "{run}");
    assert_eq!(run.json()["unknown"]["level"], 2, "{run}");
}

#[test]
fn exports_of_etcd_and_snapshots_are_compared() {
    let base64 = |text: &str| pratique_json::base64::encode(text.as_bytes());
    let set = r#"{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db","namespace":"shop"},"spec":{"selector":{"matchLabels":{"a":"b"}},"updateStrategy":{"rollingUpdate":{"partition":0}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}"#;
    let export = format!(
        r#"{{"header":{{"cluster_id":1}},"kvs":[{{"key":"{}","value":"{}"}}],"count":1}}"#,
        base64("/registry/statefulsets/shop/db"),
        base64(set)
    );
    let snapshot = "apiVersion: pratique/v1alpha1\nkind: Snapshot\ntaken: \"2026-11-23T06:00:00Z\"\nserverVersion: v1.36.3\nkinds: []\n";
    let directory = directory()
        .with("etcd.json", export)
        .with("saved/snapshot.yaml", snapshot)
        .with("saved/statefulsets.apps.json", set)
        .with("saved/statefulsets.apps/shop.yaml", set);
    let changed = ["changed-object", "apps/v1 StatefulSet"].map(str::to_owned);
    let run = upgrade(&directory, &["--policies", "allows.yaml", "etcd.json"]);
    run.exits(0);
    assert_eq!(rules(&run), std::slice::from_ref(&changed), "{run}");
    // A snapshot says its release.
    let arguments = [
        "upgrade",
        "-o",
        "json",
        "--policies",
        "allows.yaml",
        "--snapshot",
        "saved",
    ];
    let run = directory.run(&arguments);
    assert_eq!(run.json()["from"], "1.36", "{run}");
    assert!(rules(&run).contains(&changed), "{run}");
}

#[test]
fn what_it_fails_for_is_chosen() {
    let set = OBJECTS.split("---\n").nth(1).unwrap();
    let directory = directory().with("set.yaml", set);
    let code = |on: &str| {
        let arguments = ["--policies", "allows.yaml", "--fail-on", on, "set.yaml"];
        upgrade(&directory, &arguments).code
    };
    assert_eq!(code("breaks,error,undecided"), Some(0));
    assert_eq!(code("changes"), Some(1));
    assert_eq!(code("deprecated"), Some(0));
}

#[test]
fn releases_have_to_be_known_and_different() {
    let run = |arguments: &[&str]| {
        let run = directory().run(&[&["upgrade"], arguments, &["objects.yaml"]].concat());
        run.exits(2);
        run.stderr
    };
    assert!(run(&[]).contains("the release of now is not known: name it with --from"));
    assert!(run(&["--from", "1.37", "--to", "1.37"]).contains("both releases are 1.37"));
    assert!(run(&["--from", "1.36", "--to", "1.2"]).contains("Kubernetes 1.2 is not known"));
}

#[test]
fn every_format_has_every_finding() {
    let directory = directory();
    let inputs = [
        "--policies",
        "policies",
        "objects.yaml",
        "kube-apiserver.yaml",
        "webhooks.yaml",
    ];
    let run = upgrade(&directory, &inputs);
    let report = run.json();
    let count = report["findings"].as_array().unwrap().len();
    assert!(count >= 7, "{run}");
    let formatted = |format: &str| {
        let arguments = ["upgrade", "--from", "1.36", "-o", format];
        let run = directory.run(&[&arguments[..], &inputs].concat());
        run.exits(1);
        run.stdout
    };
    let lines = formatted("ndjson");
    assert_eq!(
        lines.lines().filter(|line| line.starts_with("{\"rule\"")).count(),
        count
    );
    let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(last["summary"]["breaks"], report["breaks"]);
    let sarif: Value = serde_json::from_str(&formatted("sarif")).unwrap();
    assert_eq!(
        sarif["runs"][0]["results"].as_array().unwrap().len(),
        count,
        "{sarif}"
    );
    let github = formatted("github");
    let annotations = github.lines().filter(|line| line.starts_with("::"));
    assert_eq!(annotations.count(), count, "{github}");
    let (junit, human) = (formatted("junit"), formatted("human"));
    for group in report["groups"].as_array().unwrap() {
        let about = group["about"].as_str().unwrap();
        assert!(junit.contains(about) && human.contains(about), "{about}");
    }
    for shown in ["removed-version", "objects.yaml:1:1", "Kubernetes 1.36 and 1.37"] {
        assert!(human.contains(shown), "{shown}: {human}");
    }
    let page = ["upgrade", "--from", "1.36", "--report", "page.html"];
    directory.run(&[&page[..], &inputs].concat()).exits(1);
    let page = std::fs::read_to_string(directory.path().join("page.html")).unwrap();
    for shown in [
        "From Kubernetes 1.36 to 1.37",
        "unrecognized feature gate: GangScheduling",
        "objects.yaml:1:1",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
}
