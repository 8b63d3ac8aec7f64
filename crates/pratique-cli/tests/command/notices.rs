//! What is told besides decisions: in every format of every command, and counted where warnings fail.

use crate::story::{BINDING, CLEAN, POLICY, PRIVILEGED, files};
use crate::support::{Directory, Run};

/// The text of all that a run prints, with what formats escape.
fn plain(run: &Run) -> String {
    let text = format!("{}{}", run.stdout, run.stderr);
    text.replace("&quot;", "\"").replace("\\\"", "\"")
}

/// The formats of a command in which all has to be told on standard output.
fn formats(command: &str) -> &'static [&'static str] {
    match command {
        "review" => &["json", "ndjson", "sarif", "junit", "github"],
        "scan" => &["human", "json", "ndjson", "sarif", "junit"],
        _ => &["human", "json", "ndjson"],
    }
}

const TWICE: &str = "key \"name\" already set in map";
const UNUSUAL: &str = "a ConfigMap with `items` is a list";
const CHANGED: &str = "it changes the labels of the namespace shop, which the cluster has";

/// A namespace of the cluster that the input changes, a key that is written twice there and in the state, and a list.
fn told() -> Directory {
    let namespace = |env: &str| {
        format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: shop, labels: {{env: {env}}}}}\n")
    };
    let twice = CLEAN.replace("name: good", "name: other, name: good");
    let list = format!(
        "apiVersion: v1\nkind: ConfigMap\nitems:\n- {}",
        CLEAN.trim_end().replace('\n', "\n  ")
    );
    files(POLICY, BINDING)
        .with("old/p.yaml", POLICY)
        .with("old/b.yaml", BINDING)
        .with("state.yaml", format!("{}---\n{twice}", namespace("prod")))
        .with(
            "all.yaml",
            format!("{}---\n{list}\n---\n{twice}", namespace("dev")),
        )
}

#[test]
fn how_inputs_are_read_is_told_in_every_format() {
    let directory = told();
    for command in ["review", "scan", "impact"] {
        let policies: &[&str] = match command {
            "impact" => &["--old", "old", "--new", "policies"],
            _ => &["--manifests", "policies"],
        };
        for format in formats(command) {
            let base = [command, "-o", format, "--objects", "state.yaml", "all.yaml"];
            let run = directory.run(&[&base[..], policies].concat());
            run.exits(0);
            let stdout = run.stdout.replace("&quot;", "\"").replace("\\\"", "\"");
            for text in [TWICE, UNUSUAL, CHANGED, "state.yaml"] {
                assert!(stdout.contains(text), "{command} {format}: {text}\n{run}");
            }
            let strict = directory.run(&[&base[..], policies, &["--fail-on", "warn"]].concat());
            assert_eq!(strict.code, Some(1), "{strict}");
        }
    }
    // From standard input, a namespace counts from where it is.
    let piped = [
        "review",
        "--manifests",
        "policies",
        "--objects",
        "state.yaml",
        "-o",
        "github",
        "-",
    ];
    let run = directory.run_with(
        &piped,
        "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}",
        &[],
    );
    run.stdout_has(CHANGED);
    // An audit log has no such thing, the state has.
    let event = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":"ResponseComplete","verb":"get","requestURI":"/"}"#;
    let directory = directory.with("audit.log", event);
    for format in ["json", "ndjson"] {
        let base = [
            "replay",
            "--manifests",
            "policies",
            "--objects",
            "state.yaml",
            "--summary",
            "-o",
        ];
        let run = directory.run(&[&base[..], &[format, "audit.log"]].concat());
        assert!(
            run.stdout.contains("duplicate-key") && plain(&run).contains(TWICE),
            "{run}"
        );
    }
}

/// A mutating policy of a version that not all servers have, and two bindings of a name.
const STAMP: &str = "apiVersion: admissionregistration.k8s.io/v1beta1
kind: MutatingAdmissionPolicy
metadata: {name: stamp}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  mutations:
  - {patchType: ApplyConfiguration, applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: {\"a\": \"b\"}}}'}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: stamp}
spec: {policyName: stamp}
";

#[test]
fn what_is_evaluated_of_policies_is_told_in_every_format() {
    let again = STAMP.split_once("---\n").unwrap().1;
    let directory = Directory::new()
        .with("policies/a.yaml", STAMP)
        .with("policies/b.yaml", again)
        .with(
            "policies/c.yaml",
            "{apiVersion: kyverno.io/v1, kind: ClusterPolicy, metadata: {name: c}}",
        )
        .with("all.yaml", CLEAN);
    let texts = [
        "v1beta1 MutatingAdmissionPolicy is not served unless the server has --runtime-config=",
        "the MutatingAdmissionPolicyBinding \"stamp\" at policies/b.yaml:1:1 replaces it",
    ];
    for command in ["review", "scan", "impact"] {
        let policies: &[&str] = match command {
            "impact" => &["--old", "policies", "--new", "policies"],
            _ => &["--policies", "policies"],
        };
        let human = directory.run(&[&[command, "all.yaml"], policies].concat());
        let foreign = "ClusterPolicy is a kind of Kyverno, and not evaluated";
        for text in texts.into_iter().chain([foreign]) {
            assert!(plain(&human).contains(text), "{command}: {text}\n{human}");
        }
        for format in formats(command) {
            let base = [command, "-o", format, "all.yaml"];
            let run = directory.run(&[&base[..], policies].concat());
            let stdout = run.exits(0).stdout.replace("&quot;", "\"").replace("\\\"", "\"");
            for text in texts.into_iter().chain([foreign, "policies/c.yaml"]) {
                assert!(stdout.contains(text), "{command} {format}: {text}\n{run}");
            }
            let strict = directory.run(&[&base[..], policies, &["--fail-on", "warn"]].concat());
            assert_eq!(strict.code, Some(1), "{strict}");
        }
    }
}

/// A server tells nobody of an error that a policy ignores.
#[test]
fn errors_that_policies_ignore_are_told() {
    let policy = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: host}
spec:
  failurePolicy: Ignore
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations: [{expression: 'true'}, {expression: object.spec.hostPID == false}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: host}
spec: {policyName: host, validationActions: [Deny]}
";
    let directory = Directory::new().with("p.yaml", policy).with("all.yaml", CLEAN);
    let told = "validations[1] ends with an error, which the failurePolicy ignores";
    let review =
        |more: &[&str]| directory.run(&[&["review", "--policies", "p.yaml", "all.yaml"], more].concat());
    review(&[])
        .exits(0)
        .stdout_has(&format!("  ignored: host with binding host: {told}"))
        .stdout_has("1 allowed, 0 denied, 1 error ignored\n");
    for format in ["github", "sarif", "junit"] {
        review(&["-o", format]).exits(0).stdout_has(told);
    }
    review(&["-o", "junit", "--fail-on", "warn"])
        .exits(1)
        .stdout_has("failures=\"1\"");
    // A mutation that fails.
    let mutating = STAMP
        .replace("v1beta1", "v1")
        .replace(
            "spec:\n  reinvocation",
            "spec:\n  failurePolicy: Ignore\n  reinvocation",
        )
        .replace("\"b\"", "object.metadata.labels.none");
    let directory = directory.with("m.yaml", mutating);
    for format in ["github", "sarif", "junit", "json"] {
        let run = directory.run(&["review", "--policies", "m.yaml", "all.yaml", "-o", format]);
        run.exits(0)
            .stdout_has("mutations[0] fails, which the failurePolicy ignores: ");
    }
    // A webhook that nobody answers.
    let webhook = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: nobody}
webhooks:
- name: nobody.example.com
  failurePolicy: Ignore
  clientConfig: {url: 'https://127.0.0.1:1/'}
  rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  admissionReviewVersions: [v1]
  sideEffects: None
";
    let directory = directory.with("w.yaml", webhook);
    for format in ["github", "sarif", "junit", "json"] {
        let run = directory.run(&[
            "review",
            "--webhooks",
            "--policies",
            "w.yaml",
            "all.yaml",
            "-o",
            format,
        ]);
        run.exits(0)
            .stdout_has("it fails, which the failurePolicy ignores: failed calling webhook");
    }
    for format in ["human", "json"] {
        let scan = ["scan", "--policies", "p.yaml", "all.yaml", "-o", format];
        directory.run(&scan).exits(0).stdout_has("gnored");
        directory
            .run(&[&scan[..], &["--fail-on", "warn"]].concat())
            .exits(1);
    }
}

/// Policies that ignore failures, and fail before they evaluate anything: for want of a param, and in a match condition; and an
/// audit annotation that fails.
const IGNORING: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: param}
spec:
  failurePolicy: Ignore
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations: [{expression: 'false'}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: param}
spec:
  policyName: param
  validationActions: [Deny]
  paramRef: {name: none, namespace: default, parameterNotFoundAction: Deny}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: condition}
spec:
  failurePolicy: Ignore
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  matchConditions: [{name: host, expression: object.spec.hostPID == true}]
  auditAnnotations: [{key: a, valueExpression: \"'a'\"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: condition}
spec: {policyName: condition, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: annotation}
spec:
  failurePolicy: Ignore
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  auditAnnotations: [{key: a, valueExpression: string(object.spec.hostPID)}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: annotation}
spec: {policyName: annotation, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: stamp}
spec:
  failurePolicy: Ignore
  reinvocationPolicy: IfNeeded
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  matchConditions: [{name: host, expression: object.spec.hostIPC == true}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: {\"a\": \"b\"}}}'}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: stamp}
spec: {policyName: stamp}
";

const IGNORING_HOOK: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: hook.example.com
  failurePolicy: Ignore
  clientConfig: {url: 'https://127.0.0.1:1/'}
  rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  matchConditions: [{name: host, expression: object.spec.hostUsers == true}]
  admissionReviewVersions: [v1]
  sideEffects: None
";

/// What keeps a policy from being evaluated is told as well as what fails in it.
#[test]
fn failures_before_an_evaluation_that_policies_ignore_are_told() {
    let directory = Directory::new()
        .with("p.yaml", IGNORING)
        .with("w.yaml", IGNORING_HOOK)
        .with("all.yaml", CLEAN);
    let told = [
        "it fails, which the failurePolicy ignores: failed to configure binding: no params found",
        "a match condition fails, which the failurePolicy ignores: expression 'object.spec.hostPID == true' resulted in error",
        "auditAnnotations[0] fails, which the failurePolicy ignores: expression 'string(object.spec.hostPID)'",
        "a match condition fails, which the failurePolicy ignores: expression 'object.spec.hostIPC == true' resulted in error",
        "a match condition fails, which the failurePolicy ignores: expression 'object.spec.hostUsers == true' resulted in error",
    ];
    let base = ["--policies", "p.yaml", "--none", "configmaps", "all.yaml"];
    let review = |more: &[&str]| {
        let hooks = ["--webhooks", "--policies", "w.yaml"];
        directory.run(&[&["review"], &base[..], &hooks, more].concat())
    };
    let human = review(&[]);
    for (text, names) in told.into_iter().zip([
        "param with binding param",
        "condition with binding condition",
        "annotation with binding annotation",
        "stamp with binding stamp",
        "hook.example.com with binding hooks",
    ]) {
        human.exits(0).stdout_has(&format!("  ignored: {names}: {text}"));
    }
    human.stdout_has("1 allowed, 0 denied, 5 errors ignored\n");
    for format in ["json", "ndjson", "sarif", "junit", "github"] {
        let run = review(&["-o", format]);
        for text in told {
            run.exits(0).stdout_has(text);
        }
    }
    review(&["--fail-on", "warn"]).exits(1);
    let scan = |more: &[&str]| directory.run(&[&["scan"], &base[..], more].concat());
    for format in ["human", "json", "ndjson", "sarif", "junit"] {
        let run = scan(&["-o", format]);
        for text in told.into_iter().take(4) {
            run.exits(0).stdout_has(text);
        }
        scan(&["-o", format, "--fail-on", "warn"]).exits(1);
    }
    scan(&["--report", "page.html"]).exits(0);
    let page = std::fs::read_to_string(directory.path().join("page.html")).unwrap();
    let page = page.replace("&#39;", "'");
    for text in told.into_iter().take(4) {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn reports_of_scans_have_notices() {
    let directory = told();
    let scan = |more: &[&str]| {
        let base = [
            "scan",
            "--manifests",
            "policies",
            "--objects",
            "state.yaml",
            "all.yaml",
        ];
        directory.run(&[&base[..], more].concat())
    };
    let report = scan(&["-o", "json"]).json();
    let notices = report["notices"].as_array().unwrap();
    let rules: Vec<&str> = notices
        .iter()
        .filter_map(|notice| notice["rule"].as_str())
        .collect();
    assert_eq!(
        rules,
        [
            "duplicate-key",
            "duplicate-key",
            "duplicate-object",
            "namespace-change",
            "unusual-list"
        ]
    );
    assert_eq!(notices[3]["place"], "all.yaml:1:1", "{report}");
    assert!(
        report["evaluated"]
            .as_str()
            .unwrap()
            .starts_with("evaluated: 1 policy of policies; ")
    );
    // They count where the report is merged as well.
    scan(&["--report", "whole.json"]).exits(0);
    for (fail_on, code) in [("warn", 1), ("deny,undecided,error", 0)] {
        assert_eq!(scan(&["--fail-on", fail_on]).code, Some(code));
        let merged = directory.run(&["report", "merge", "whole.json", "--fail-on", fail_on]);
        assert_eq!(merged.code, Some(code), "{merged}");
        merged
            .stdout_has(CHANGED)
            .stdout_has("evaluated: 1 policy of policies; ");
    }
    scan(&["--shard", "0/2", "--report", "part.json"]).exits(0);
    let part = ["report", "merge", "part.json"];
    directory.run(&part).exits(3);
    directory
        .run(&[&part[..], &["--fail-on", "deny,error"]].concat())
        .exits(0);
    // What no policy says is named.
    let directory = directory.with(
        "web.yaml",
        "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80, targetport: 8080}]}}",
    );
    let run = directory.run(&["scan", "--manifests", "policies", "web.yaml"]);
    run.stdout_has("the server itself (warn)\n  Service default/web (web.yaml:1:1): unknown field");
    assert!(!run.stdout.contains("(-, warn)"), "{run}");
}

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: c, image: i, securityContext: {privileged: true}}]}
";

#[test]
fn what_was_compared_is_said() {
    let directory = files(POLICY, BINDING)
        .with(
            "old/p.yaml",
            POLICY.replace("privileged.orValue(false)", "privileged.orValue(false) || true"),
        )
        .with("old/b.yaml", BINDING)
        .with("web.yaml", DEPLOYMENT);
    let impact = |more: &[&str]| {
        let base = ["impact", "--old", "old", "--new", "policies"];
        directory.run(&[&base[..], more].concat())
    };
    const EVALUATED: &str = "evaluated: old: 1 policy of old, new: 1 policy of policies; defaults, mutating and validating \
        policies, validation of built-in kinds; Kubernetes 1.37; not evaluated: built-in plugins, webhooks";
    const PODS: &str = "the Pods of 1 workload are not reviewed, and 1 policy for Pods is not evaluated for them \
        (deny-privileged.static.k8s.io)";
    for format in formats("impact") {
        let run = impact(&["-o", format, "--expand=off", "web.yaml"]);
        run.exits(0).stdout_has(EVALUATED).stdout_has(PODS);
        // A report of text says it in itself.
        assert_eq!(run.stderr.contains(PODS), *format != "human", "{run}");
    }
    let human = impact(&["--expand=off", "web.yaml"]);
    assert_eq!(human.stdout.lines().last(), Some(EVALUATED), "{human}");
    // Pods have all that there is to say.
    let pods = impact(&["bad.yaml"]);
    assert!(!pods.stdout.contains("not reviewed"), "{pods}");
    let event = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":"ResponseComplete","verb":"get","requestURI":"/"}"#;
    let directory = directory.with("audit.log", event);
    for format in formats("replay") {
        let run = directory.run(&[
            "replay",
            "--manifests",
            "policies",
            "--summary",
            "-o",
            format,
            "audit.log",
        ]);
        run.stdout_has(
            "evaluated: 1 policy of policies; defaults, mutating and validating policies, validation of built-in kinds; Kubernetes 1.37",
        );
    }
}

/// An object is none the less for a kustomization or a chart that comes with it.
#[test]
fn no_source_hides_an_object() {
    const TOLD: &str =
        "all/evil.yaml: patch of a kustomization: an object of the API is in it, which is not evaluated";
    let with = |kustomization: &str| {
        files(POLICY, BINDING)
            .with("all/good.yaml", CLEAN)
            .with("all/evil.yaml", PRIVILEGED)
            .with("all/k/kustomization.yaml", kustomization)
            .with("all/kustomization.yaml", kustomization)
    };
    let review = |directory: &Directory, more: &[&str]| {
        directory.run(&[&["review", "--manifests", "policies", "all"], more].concat())
    };
    // Kustomize refuses these, and kubectl sends the file.
    for hidden in [
        "patches: [{path: evil.yaml}]\n",
        "transformers: [evil.yaml]\nnamespace: shop\n",
    ] {
        review(&with(hidden), &[])
            .exits(1)
            .stdout_has("1 allowed, 1 denied");
    }
    let outside = "resources: [good.yaml]\npatches: [{path: ../evil.yaml}, {path: ../../evil.yaml}]\n";
    review(&with(outside), &[])
        .exits(1)
        .stdout_has("1 allowed, 1 denied");
    // A patch looks like an object: it is told, by name, and counts where warnings fail.
    let patched = with("resources: [good.yaml]\npatches: [{path: evil.yaml}]\n");
    for format in ["human", "json", "ndjson", "sarif", "junit", "github"] {
        let run = review(&patched, &["-o", format]);
        run.exits(0).stderr_has(TOLD);
        if format != "human" {
            run.stdout_has("object-in-source").stdout_has("all/evil.yaml");
        }
        review(&patched, &["-o", format, "--fail-on", "warn"]).exits(1);
    }
    let scan = ["scan", "--manifests", "policies", "all", "-o", "json"];
    let report = patched.run(&scan).json();
    assert_eq!(report["notices"][0]["place"], "all/evil.yaml", "{report}");
    // So is a policy that is hidden like this.
    let api = |text: &str| text.replace(".static.k8s.io", ".example.com");
    let policies = files(&api(POLICY), &api(BINDING)).with(
        "policies/kustomization.yaml",
        "resources: [binding.yaml]\npatches: [{path: policy.yaml}]\n",
    );
    for format in ["json", "sarif", "junit", "github"] {
        let run = policies.run(&["check", "-o", format, "policies"]);
        run.stdout_has("object-in-source")
            .stdout_has("policies/policy.yaml");
    }
    let review = ["review", "--policies", "policies", "-o", "github", "bad.yaml"];
    policies
        .run(&review)
        .stdout_has("::warning file=policies/policy.yaml,title=object-in-source::");
}

#[test]
fn hidden_files_with_objects_are_reviewed() {
    let directory = files(POLICY, BINDING)
        .with("all/.evil.yaml", PRIVILEGED)
        .with("all/deep/.evil.yml", PRIVILEGED)
        .with(
            "all/.json",
            "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"a\"}}",
        )
        .with("all/.linter.yaml", "rules: {line-length: 80}\n")
        .with("all/.hidden/evil.yaml", PRIVILEGED)
        .with("all/.hidden/linter.yaml", "rules: {line-length: 80}\n");
    let run = directory.run(&["review", "--manifests", "policies", "--verbose", "all"]);
    run.exits(1)
        .stdout_has("0 allowed, 4 denied")
        .stdout_has("all/.hidden/evil.yaml:1:1: CREATE pods shop/bad: denied")
        .stdout_has("passed over: 2 hidden")
        .stdout_has("all/.hidden/linter.yaml: hidden")
        .stdout_has("all/.linter.yaml: hidden");
}

/// A definition of the state that a server refuses leaves its kinds unknown.
#[test]
fn definitions_that_cannot_be_used_are_told_in_every_format() {
    const BROKEN: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
        metadata: {name: bares.example.com}\n\
        spec: {group: example.com, scope: Namespaced, names: {kind: Bare, plural: bares}}\n";
    const NOTHING: &str = "the definition defines nothing";
    let directory = files(POLICY, BINDING)
        .with("old/p.yaml", POLICY)
        .with("old/b.yaml", BINDING)
        .with("crds.yaml", BROKEN)
        .with("clean.yaml", CLEAN)
        .with(
            "audit.log",
            r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","stage":"ResponseComplete","verb":"get","requestURI":"/"}"#,
        );
    for command in ["review", "scan", "impact", "replay"] {
        let policies: &[&str] = match command {
            "impact" => &["--old", "old", "--new", "policies"],
            _ => &["--manifests", "policies"],
        };
        let input: &[&str] = match command {
            "replay" => &["--summary", "audit.log"],
            _ => &["clean.yaml"],
        };
        for format in formats(command) {
            let base = [command, "-o", format, "--objects", "crds.yaml"];
            let run = directory.run(&[&base[..], policies, input].concat());
            run.exits(0)
                .stdout_has(NOTHING)
                .stdout_has("crds.yaml")
                .stderr_has("crds.yaml:1:1: the definition defines nothing");
            let strict = directory.run(&[&base[..], policies, input, &["--fail-on", "warn"]].concat());
            assert_eq!(strict.code, Some(1), "{strict}");
        }
    }
    let run = directory.run(&[
        "review",
        "--manifests",
        "policies",
        "-o",
        "github",
        "--objects",
        "crds.yaml",
        "clean.yaml",
    ]);
    run.stdout_has("::warning file=crds.yaml,line=1,col=1,title=unusable-definition::");
}

#[test]
fn deletions_without_a_name_are_told_in_every_format() {
    let policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: keep}\nspec:\n  \
                  matchConstraints:\n    resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: \
                  [CREATE, DELETE]}]\n  validations: [{expression: \"request.name != 'keep'\"}]\n---\napiVersion: \
                  admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: keep}\nspec: \
                  {policyName: keep, validationActions: [Deny]}\n";
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n";
    let directory = Directory::new()
        .with("policy.yaml", policy)
        .with("a.yaml", object);
    let unnamed = "requests to delete a collection";
    let review = ["review", "--policies", "policy.yaml", "a.yaml"];
    let run = directory.run(&[&review[..], &["--operation", "DELETE"]].concat());
    run.exits(0);
    assert!(
        run.stderr
            .contains("policy.yaml:7:31: ValidatingAdmissionPolicy keep reads request.name"),
        "{run}"
    );
    for format in formats("review") {
        let run = directory.run(&[&review[..], &["--operation", "DELETE", "-o", format]].concat());
        assert!(run.stdout.contains(unnamed), "{format}\n{run}");
    }
    let run = directory.run(&review);
    assert!(!plain(&run).contains(unnamed), "{run}");
}
