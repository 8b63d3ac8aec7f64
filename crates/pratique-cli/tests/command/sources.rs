//! Files that are no objects of the API, and several paths that are checked as one set.

use serde_json::{Value, json};

use crate::support::{Directory, Run};

const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n\
    metadata: {name: replicas.example.com}\nspec:\n  matchConstraints:\n    resourceRules:\n    \
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}\n  \
    validations: [{expression: 'object.spec.replicas < 5'}]\n";
const BINDING: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n\
    metadata: {name: replicas.example.com}\nspec: {policyName: replicas.example.com, validationActions: [Deny]}\n";
const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n\
    spec: {replicas: 9, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, \
    spec: {containers: [{name: c, image: i}]}}}\n";
const PATCH: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2}\n";
const KUSTOMIZATION: &str = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n\
    resources: [deploy.yaml]\npatches:\n- path: patch.yaml\n";

/// A chart and an overlay.
fn sources() -> Directory {
    Directory::new()
        .with("policies/policy.yaml", format!("{POLICY}---\n{BINDING}"))
        .with(
            "all/chart/Chart.yaml",
            "apiVersion: v2\nname: shop\nversion: 0.1.0\n",
        )
        .with("all/chart/values.yaml", "replicas: 3\n")
        .with(
            "all/chart/templates/deployment.yaml",
            "{{- if .Values.enabled }}\napiVersion: apps/v1\nkind: Deployment\n{{- end }}\n",
        )
        .with("all/overlay/kustomization.yaml", KUSTOMIZATION)
        .with("all/overlay/deploy.yaml", DEPLOYMENT)
        .with("all/overlay/patch.yaml", PATCH)
}

const SUMMARY: &str = "5 files are no objects of the API, and not evaluated: 1 kustomization, 1 patch of a kustomization, \
    1 description of a chart, 1 file of values, 1 template";

fn review(directory: &Directory, arguments: &[&str]) -> Run {
    directory.run(&[&["review", "--policies", "policies"], arguments].concat())
}

#[test]
fn sources_are_told_and_not_evaluated() {
    let directory = sources();
    let human = review(&directory, &["all"]);
    human
        .exits(1)
        .stdout_has("0 allowed, 1 denied\n")
        .stdout_has(SUMMARY);
    human
        .stderr_has("  all/overlay/patch.yaml: patch of a kustomization\n")
        .stderr_has("helm template all/chart | pratique")
        .stderr_has("kustomize build all/overlay | pratique");
    let files = [
        "all/chart/Chart.yaml",
        "all/chart/templates/deployment.yaml",
        "all/chart/values.yaml",
        "all/overlay/kustomization.yaml",
        "all/overlay/patch.yaml",
    ];
    let lines = review(&directory, &["-o", "ndjson", "--summary", "all"]);
    let lines: Vec<Value> = lines
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told = lines
        .iter()
        .filter_map(|line| line["notEvaluated"]["file"].as_str());
    assert_eq!(told.collect::<Vec<_>>(), files);
    let counts = json!({"kustomization": 1, "patch of a kustomization": 1, "description of a chart": 1,
        "file of values": 1, "template": 1});
    assert_eq!(lines.last().unwrap()["summary"]["sources"], counts);
    let github = review(&directory, &["-o", "github", "all"]);
    let junit = review(&directory, &["-o", "junit", "all"]);
    // What looks like an object is told as a warning besides.
    junit.stdout_has("skipped=\"6\"");
    let sarif = review(&directory, &["-o", "sarif", "all"]).json();
    let notifications = &sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    let notifications = notifications.as_array().unwrap().iter();
    let told: Vec<&str> = notifications
        .filter_map(|told| told["message"]["text"].as_str())
        .filter(|text| text.contains("not evaluated"))
        .collect();
    for (number, file) in files.iter().enumerate() {
        github.stdout_has(&format!("::notice file={file},"));
        junit.stdout_has(&format!("<testcase name=\"{file}\""));
        assert!(told[number].starts_with(&format!("{file}: ")), "{told:?}");
    }
}

#[test]
fn sources_are_told_by_all_commands_that_read_directories() {
    let directory = sources();
    let scan = directory.run(&["scan", "--policies", "policies", "all"]);
    scan.exits(1)
        .stdout_has(SUMMARY)
        .stdout_has("1 object: 0 allowed, 1 denied");
    let impact = directory.run(&["impact", "--old", "policies", "--new", "policies", "all"]);
    impact.exits(0).stdout_has("1 request").stdout_has(SUMMARY);
    let objects = review(&directory, &["--objects", "all", "all/overlay/deploy.yaml"]);
    objects.exits(1).stderr_has(SUMMARY);
    // Those of policies as well.
    let mixed = directory.with("policies/kustomization.yaml", "resources: [policy.yaml]\n");
    let policies = review(&mixed, &["all/overlay/deploy.yaml"]);
    policies
        .exits(1)
        .stderr_has("policies/kustomization.yaml: kustomization\n");
    let alone = review(&mixed, &["all/chart"]);
    alone
        .exits(2)
        .stderr_has("all/chart: there is no object to review");
}

#[test]
fn a_scaffold_of_webhooks_is_checked() {
    let webhooks = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n\
        metadata: {name: v.example.com}\nwebhooks: []\n";
    let config = "nameReference:\n- kind: Service\n  version: v1\n  fieldSpecs:\n  \
        - {kind: MutatingWebhookConfiguration, group: admissionregistration.k8s.io, path: webhooks/clientConfig}\n";
    let directory = Directory::new()
        .with("kustomization.yaml", "resources: [manifests.yaml]\n")
        .with("kustomizeconfig.yaml", config)
        .with("manifests.yaml", webhooks);
    let told =
        "2 files are no objects of the API, and not evaluated: 1 kustomization, 1 configuration of Kustomize";
    let human = directory.run(&["check", "."]);
    human.exits(0).stdout_has(".: valid").stdout_has(told);
    let report = directory.run(&["check", "-o", "json", "."]).json();
    assert_eq!(
        report["results"][0]["notEvaluated"],
        json!([{"file": "./kustomization.yaml", "is": "kustomization"},
            {"file": "./kustomizeconfig.yaml", "is": "configuration of Kustomize"}])
    );
    let junit = directory.run(&["check", "-o", "junit", "."]);
    junit.exits(0).stdout_has("skipped=\"2\"");
    let github = directory.run(&["check", "-o", "github", "."]);
    github.exits(0).stdout_has("::notice file=kustomization.yaml,");
    let sarif = directory.run(&["check", "-o", "sarif", "."]).json();
    let notifications = &sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(notifications.as_array().unwrap().len(), 2);
    // By their names as well, also among others.
    let named = directory.run(&["check", "kustomizeconfig.yaml"]);
    named
        .exits(2)
        .stderr_has("kustomizeconfig.yaml: configuration of Kustomize");
    let both = directory.run(&["check", "kustomizeconfig.yaml", "manifests.yaml"]);
    both.exits(0).stdout_has("1 file is no object of the API");
}

#[test]
fn several_paths_are_one_set() {
    let directory = Directory::new()
        .with("policy.yaml", POLICY)
        .with("binding.yaml", BINDING)
        .with("again.yaml", POLICY)
        .with("pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n");
    let alone = directory.run(&["check", "policy.yaml"]);
    alone.exits(0).stdout_has("unbound-policy");
    let together = directory.run(&["check", "-o", "json", "policy.yaml", "binding.yaml", "pod.yaml"]);
    together
        .exits(0)
        .stderr_has("skipped 1 object of other kinds: Pod (1)");
    let report = together.json();
    let result = &report["results"][0];
    assert_eq!(report["results"].as_array().unwrap().len(), 1, "{together}");
    assert_eq!(
        result["paths"],
        json!(["policy.yaml", "binding.yaml", "pod.yaml"])
    );
    assert!(result.get("warnings").is_none(), "{together}");
    // Duplicates are found over files.
    let twice = directory.run(&["check", "policy.yaml", "binding.yaml", "again.yaml"]);
    twice.shows(&["replaced-object", "replicas.example.com"]);
    // One file that is named in several ways is read once.
    let same = directory.run(&[
        "check",
        "policy.yaml",
        "./policy.yaml",
        "binding.yaml",
        "binding.yaml",
    ]);
    assert!(
        same.code == Some(0) && !same.stdout.contains("duplicate"),
        "{same}"
    );
}

#[test]
fn configurations_of_admission_are_by_themselves() {
    let directory = Directory::new()
        .with("policy.yaml", POLICY)
        .with("binding.yaml", BINDING)
        .with(
            "config.yaml",
            "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins: []\n",
        )
        .with("pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n");
    let run = directory.run(&[
        "check",
        "-o",
        "json",
        "policy.yaml",
        "config.yaml",
        "binding.yaml",
    ]);
    run.exits(0);
    let report = run.json();
    let paths = report["results"].as_array().unwrap();
    let paths: Vec<&str> = paths
        .iter()
        .map(|result| result["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["config.yaml", "policy.yaml, binding.yaml"]);
    // A file without policies has nothing to do with a plugin's configuration.
    let none = directory.run(&["check", "pod.yaml"]);
    none.exits(2)
        .stderr_has("pod.yaml: there is no policy, binding or webhook configuration among its 1 object: `pratique review` evaluates objects");
}

#[test]
fn files_that_only_name_the_group_of_policies_are_skipped() {
    let plan = "files:\n- value: |\n    {{- if .Capabilities.APIVersions.Has \"admissionregistration.k8s.io/v1\" }}\n";
    let directory = Directory::new()
        .with("all/policy.yaml", format!("{POLICY}---\n{BINDING}"))
        .with("all/plan.yaml", plan);
    directory.run(&["check", "all"]).exits(0).stderr_has(
        "all: skipped 1 file that is no object, such as all/plan.yaml:1:1: Object 'Kind' is missing\n",
    );
    // One that has the version of policies is meant to be one.
    let directory = directory.with(
        "all/plan.yaml",
        POLICY.replace("kind: ValidatingAdmissionPolicy\n", ""),
    );
    directory
        .run(&["check", "all"])
        .exits(1)
        .shows(&["Object 'Kind' is missing"]);
}

#[test]
fn skipped_files_are_results_in_every_format() {
    let directory = Directory::new()
        .with("all/policy.yaml", format!("{POLICY}---\n{BINDING}"))
        .with("all/broken.yaml", "a: [\n")
        .with("all/data.json", "\u{1}\u{2}\u{3}")
        .with("all/settings.yaml", "replicas: 3\n");
    for format in ["json", "sarif", "junit", "github"] {
        let run = directory.run(&["check", "-o", format, "all"]);
        run.exits(0).stdout_has("skipped-file").stderr_has(
            "all: skipped 3 files that are no objects, such as all/broken.yaml:1:5: yaml: line 1: did not",
        );
        for file in ["all/broken.yaml", "all/data.json", "all/settings.yaml"] {
            run.stdout_has(file);
        }
        // Each says why.
        for why in [
            "yaml: line 1: did not find expected node content",
            "yaml: control characters are not allowed",
            "Object 'Kind' is missing",
        ] {
            run.stdout_has(&format!(
                "no object that can be read, and skipped, though a policy would not be seen: {why}"
            ));
        }
        directory
            .run(&["check", "-o", format, "all", "--deny", "warnings"])
            .exits(1);
    }
    let directory = directory.with("web.yaml", DEPLOYMENT.replace('9', "2"));
    let review = [
        "review",
        "--policies",
        "all",
        "web.yaml",
        "-o",
        "github",
        "--fail-on",
    ];
    directory
        .run(&[&review[..], &["warn"]].concat())
        .exits(1)
        .stdout_has("::warning file=all/broken.yaml,line=1,")
        .stdout_has("title=skipped-file::");
    directory.run(&[&review[..], &["deny"]].concat()).exits(0);
}

#[test]
fn files_without_documents_have_no_policies() {
    for text in ["", "# later\n", "---\n---\n", "---\n# later\n---\n"] {
        let directory = Directory::new().with("empty.yaml", text);
        for more in [[].as_slice(), &["--origin", "static"]] {
            let run = directory.run(&[&["check", "empty.yaml"], more].concat());
            run.exits(2)
                .stderr_has("empty.yaml: there is no policy, binding or webhook configuration");
            assert!(!run.stderr.contains("plugin config"), "{run}");
        }
    }
}

/// What programs and servers read is told, and checked where that can be.
#[test]
fn files_of_programs_are_no_objects() {
    let directory = Directory::new()
        .with(
            "pratique.yaml",
            "apiVersion: pratique/v1alpha1\nkind: Configuration\n",
        )
        .with(
            "suite.yaml",
            "apiVersion: pratique/v1alpha1\nkind: Suite\ntests: []\n",
        )
        .with(
            "gator.yaml",
            "apiVersion: test.gatekeeper.sh/v1alpha1\nkind: Suite\nmetadata: {name: a}\n",
        )
        .with(
            "kyverno-test.yaml",
            "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: a}\n",
        )
        .with(
            "admission.yaml",
            "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins: []\n",
        )
        .with(
            "transformer.yaml",
            "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\npatch: '[]'\n",
        )
        .with("web.yaml", DEPLOYMENT);
    let run = directory.run(&["review", "."]);
    run.exits(0).stdout_has("1 allowed").stdout_has(
        "6 files are no objects of the API, and not evaluated: 1 configuration of Kustomize, 1 configuration of a program, \
         1 configuration of an API server, 3 suites of tests",
    );
    assert!(!run.stderr.contains("an object of the API is in it"), "{run}");
    directory
        .run(&["check", "admission.yaml"])
        .exits(0)
        .stdout_has("admission.yaml: valid");
    directory
        .run(&["check", "suite.yaml"])
        .exits(2)
        .stderr_has("suite.yaml: suite of tests");
}
