//! What every output tells of the release of a server: that it is a preview, that it is not the server's, and which policies a
//! server of it does not evaluate.

use std::fs;

use crate::support::{Directory, Run};

const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: named}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: \"object.metadata.name != 'b'\"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: named}
spec: {policyName: named, validationActions: [Deny]}
";
const MUTATION: &str = "apiVersion: admissionregistration.k8s.io/v1beta1
kind: MutatingAdmissionPolicy
metadata: {name: labels}
spec:
  reinvocationPolicy: Never
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: {\"a\": \"b\"}}}'}
---
apiVersion: admissionregistration.k8s.io/v1beta1
kind: MutatingAdmissionPolicyBinding
metadata: {name: labels}
spec: {policyName: labels}
";
const OBJECT: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}\n";
const SUITE: &str = "apiVersion: pratique/v1alpha1
kind: Suite
policies: [POLICY]
kubernetesVersion: 'VERSION'
tests: [{name: a, object: object.yaml, expect: allowed}]
";
const LOG: &str = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","auditID":"1","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/shop/configmaps","verb":"create","user":{"username":"ann"},"objectRef":{"resource":"configmaps","namespace":"shop","name":"a","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":201},"requestObject":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop"}}}
"#;
const BETA: &str = "Kubernetes 1.38 is known as of 1.38.0-beta.0, from which the release may differ";
const OFF: &str = "MutatingAdmissionPolicy labels is not evaluated: the feature gate MutatingAdmissionPolicy is off in Kubernetes 1.35";

fn directory() -> Directory {
    Directory::new()
        .with("policy.yaml", POLICY)
        .with("mutation.yaml", MUTATION)
        .with("object.yaml", OBJECT)
        .with("audit.log", LOG)
        .with(
            "saved/snapshot.yaml",
            "apiVersion: pratique/v1alpha1\nkind: Snapshot\ntaken: \"2026-11-23T06:00:00Z\"\nserverVersion: v1.35.2\nkinds: []\n",
        )
}

fn suite(policy: &str, version: &str) -> String {
    SUITE.replace("POLICY", policy).replace("VERSION", version)
}

/// Each command that has outputs, with their formats and its arguments.
fn commands() -> [(&'static str, &'static [&'static str], &'static [&'static str]); 5] {
    [
        (
            "check",
            &["human", "json", "sarif", "junit", "github"],
            &["policy.yaml"],
        ),
        (
            "review",
            &["human", "json", "ndjson", "sarif", "junit", "github"],
            &["--policies", "policy.yaml", "object.yaml"],
        ),
        (
            "scan",
            &["human", "json", "ndjson", "sarif", "junit", "github"],
            &["--policies", "policy.yaml", "object.yaml"],
        ),
        (
            "replay",
            &["human", "json", "ndjson"],
            &["--policies", "policy.yaml", "audit.log"],
        ),
        (
            "impact",
            &["human", "json", "ndjson"],
            &["--old", "policy.yaml", "--new", "policy.yaml", "object.yaml"],
        ),
    ]
}

/// Checks that a run tells a text in its output, and no more than once to a person.
#[track_caller]
fn tells_once(run: &Run, format: &str, text: &str) {
    assert!(run.stdout.contains(text), "{format}: {run}");
    let places = if format == "human" {
        format!("{}{}", run.stdout, run.stderr)
    } else {
        run.stderr.clone()
    };
    assert_eq!(places.matches(text).count(), 1, "{format}: {run}");
}

#[test]
fn a_preview_is_told_once_in_every_output() {
    for (command, formats, arguments) in commands() {
        for format in formats {
            let run = |version| {
                let named = [command, "--kubernetes-version", version, "-o", format];
                directory().run(&[&named[..], arguments].concat())
            };
            let preview = run("1.38");
            preview.exits(0);
            tells_once(&preview, format, BETA);
            let current = run("1.37");
            current.exits(0);
            assert!(!format!("{current}").contains("is known as of"), "{current}");
        }
    }
}

#[test]
fn a_preview_is_no_warning_about_inputs() {
    for (command, fails) in [
        ("check", &["--deny", "warnings"][..]),
        ("review", &["--fail-on", "warn"]),
        ("scan", &["--fail-on", "warn"]),
    ] {
        let policies: &[&str] = if command == "check" {
            &["policy.yaml"]
        } else {
            &["--policies", "policy.yaml", "object.yaml"]
        };
        let named = [command, "--kubernetes-version", "1.38"];
        let run = directory().run(&[&named[..], fails, policies].concat());
        run.exits(0);
    }
}

#[test]
fn gates_without_effect_are_told_in_every_output() {
    let told = "the feature gate StorageVersionAPI has no effect here";
    for (command, formats, arguments) in commands() {
        for format in formats {
            let named = [command, "--feature-gates", "StorageVersionAPI=true", "-o", format];
            let run = directory().run(&[&named[..], arguments].concat());
            run.exits(0);
            tells_once(&run, format, told);
        }
    }
}

#[test]
fn the_version_of_a_snapshot_is_told_once_in_every_output() {
    let told = "the server's version is v1.35.2: it is taken for one of Kubernetes 1.37, as is asked for";
    for (command, formats, arguments) in commands() {
        for format in formats.iter().filter(|_| command != "check") {
            let named = [
                command,
                "--snapshot",
                "saved",
                "--kubernetes-version",
                "1.37",
                "-o",
                format,
            ];
            let run = directory().run(&[&named[..], arguments].concat());
            tells_once(&run, format, told);
        }
    }
}

#[test]
fn an_upgrade_tells_each_release_once() {
    let arguments = [
        "upgrade",
        "--from",
        "1.36",
        "--to",
        "1.38",
        "--policies",
        "policy.yaml",
        "object.yaml",
    ];
    let run = directory().run(&arguments);
    run.exits(0);
    tells_once(&run, "human", BETA);
    tells_once(&run, "human", "are those of Kubernetes 1.36");
}

#[test]
fn releases_that_suites_name_are_told_once() {
    let directory = directory()
        .with("suites/a.yaml", suite("../policy.yaml", "1.38"))
        .with("suites/b.yaml", suite("../policy.yaml", "1.38"))
        .with("suites/object.yaml", OBJECT);
    for format in ["human", "json", "junit", "github"] {
        let run = directory.run(&["test", "suites", "--allow-path", ".", "-o", format]);
        run.exits(0);
        tells_once(&run, format, BETA);
        assert_eq!(run.stdout.matches(BETA).count(), 1, "{run}");
    }
    let older = directory.with("suites/a.yaml", suite("../policy.yaml", "1.36"));
    let run = older.run(&["test", "suites/a.yaml", "--allow-path", "."]);
    run.exits(0);
    run.stderr_has("are those of Kubernetes 1.36");
}

#[test]
fn gates_are_those_of_the_servers_of_suites() {
    let directory = directory().with("suite.yaml", suite("policy.yaml", "1.36"));
    let run = |gates| directory.run(&["test", "suite.yaml", "--feature-gates", gates]);
    run("MaxUnavailableStatefulSet=true").exits(0);
    let refused = run("HPAGeneration=true");
    refused.exits(1);
    refused.stdout_has(
        "suite.yaml:4:20: Kubernetes 1.36, which the suite names: --feature-gates: unrecognized feature gate: HPAGeneration",
    );
    // Only a server of 1.36 has it, and no test is for another.
    run("GenericWorkload=true,GangScheduling=true").exits(0);
}

#[test]
fn a_policy_whose_gate_is_off_is_not_evaluated() {
    for command in ["review", "scan"] {
        for format in ["human", "json", "ndjson", "sarif", "junit", "github"] {
            let arguments = [
                command,
                "--policies",
                "mutation.yaml",
                "object.yaml",
                "--kubernetes-version",
                "1.35",
                "-o",
                format,
            ];
            let run = directory().run(&arguments);
            run.exits(3);
            assert!(run.stdout.contains(OFF) || format == "human", "{run}");
            run.stderr_has(OFF);
            assert!(!run.stdout.contains("evaluated: 1 policy"), "{run}");
            if format == "human" {
                run.stdout_has("1 policy not evaluated: the feature gate MutatingAdmissionPolicy is off");
                run.stdout_has("evaluated: no policy of mutation.yaml; defaults, validating policies");
                run.stdout_has("mutating policies");
            }
        }
    }
    let both = [
        "review",
        "--policies",
        "mutation.yaml,policy.yaml",
        "object.yaml",
        "--kubernetes-version",
        "1.35",
    ];
    let run = directory().run(&both);
    run.exits(0);
    run.stderr_has(OFF);
    run.stdout_has("evaluated: 1 policy of mutation.yaml, policy.yaml; defaults, validating policies");
    directory()
        .run(&[&both[..], &["--fail-on", "warn"]].concat())
        .exits(1);
}

#[test]
fn a_test_of_a_policy_whose_gate_is_off_tells_it() {
    let directory = directory().with("suite.yaml", suite("mutation.yaml", "1.35"));
    for format in ["human", "json", "junit", "github"] {
        let run = directory.run(&["test", "suite.yaml", "-o", format]);
        run.exits(3);
        tells_once(&run, format, OFF);
    }
    let directory = directory.with("suite.yaml", suite("mutation.yaml", "1.36"));
    directory.run(&["test", "suite.yaml"]).exits(0);
}

#[test]
fn a_check_tells_its_release() {
    for version in ["1.37", "1.36"] {
        let run = directory().run(&[
            "check",
            "-o",
            "json",
            "--kubernetes-version",
            version,
            "policy.yaml",
        ]);
        assert_eq!(run.json()["kubernetesVersion"], version, "{run}");
    }
}

#[test]
fn a_first_suite_is_for_the_release_that_is_named() {
    let policy = POLICY.replace("object.metadata.name != 'b'", "[1, 1].distinct().size() == 1");
    let directory = Directory::new().with("policies/policy.yaml", policy);
    let init = |version| directory.run(&["test", "--init", "policies", "--kubernetes-version", version]);
    let older = init("1.34");
    older.exits(1);
    older.stderr_has("undeclared reference to 'distinct'");
    // No object is denied.
    init("1.36").exits(3);
    let suite = fs::read_to_string(directory.path().join("policies/suite.yaml")).unwrap();
    assert!(suite.contains("\nkubernetesVersion: '1.36'\n"), "{suite}");
    directory.run(&["test", "policies"]).exits(0);
}

/// Each output for programs says which release decided, also the one that nobody named.
#[test]
fn outputs_say_which_release_decided() {
    let directory = directory()
        .with(
            "suite.yaml",
            SUITE.replace("POLICY", "policy.yaml").replace("VERSION", "1.36"),
        )
        .with(
            "plain.yaml",
            SUITE
                .replace("POLICY", "policy.yaml")
                .replace("kubernetesVersion: 'VERSION'\n", ""),
        );
    let policies = ["--policies", "policy.yaml"].as_slice();
    let lines = [
        (
            &["review", "object.yaml"][..],
            policies,
            &["json", "ndjson", "sarif", "junit", "github"][..],
        ),
        (
            &["scan", "object.yaml"],
            policies,
            &[
                "json",
                "ndjson",
                "sarif",
                "junit",
                "github",
                "policyreport",
                "openreports",
            ],
        ),
        (&["replay", "audit.log"], policies, &["json", "ndjson"]),
        (
            &["impact", "object.yaml"],
            &["--old", "policy.yaml", "--new", "policy.yaml"],
            &["json", "ndjson"],
        ),
    ];
    for (command, policies, formats) in lines {
        for format in formats {
            let line = [command, policies, &["-o", format]].concat();
            let told = |more: &[&str]| directory.run(&[line.as_slice(), more].concat()).stdout;
            assert!(told(&[]).contains("1.37"), "{line:?}: {}", told(&[]));
            let older = told(&["--kubernetes-version", "1.36"]);
            assert!(
                older.contains("1.36") && !older.contains("1.37"),
                "{line:?}: {older}"
            );
        }
    }
    for format in ["json", "junit", "github"] {
        for (suite, release) in [("suite.yaml", "1.36"), ("plain.yaml", "1.37")] {
            let run = directory.run(&["test", suite, "-o", format]);
            assert!(run.stdout.contains(release), "{format} {suite}: {run}");
        }
    }
    directory
        .run(&[
            "scan",
            "object.yaml",
            "--policies",
            "policy.yaml",
            "--report",
            "page.html",
        ])
        .exits(0);
    let page = fs::read_to_string(directory.path().join("page.html")).unwrap();
    assert!(page.contains("Kubernetes 1.37"));
}

/// What is said of a preview is told as well where policies do not load, and no report is printed.
#[test]
fn what_does_not_load_is_of_a_preview_too() {
    let wrong = POLICY.replace("object.metadata.name != 'b'", "object.metadata.name !=");
    let directory = directory().with("wrong.yaml", wrong);
    for line in [
        &["review", "object.yaml", "--policies", "wrong.yaml"][..],
        &["scan", "object.yaml", "--policies", "wrong.yaml"],
        &["replay", "audit.log", "--policies", "wrong.yaml"],
        &[
            "impact",
            "object.yaml",
            "--old",
            "policy.yaml",
            "--new",
            "wrong.yaml",
        ],
    ] {
        for format in ["human", "json", "ndjson"] {
            let more = ["--kubernetes-version", "1.38", "-o", format];
            let run = directory.run(&[line, &more].concat());
            assert_eq!(run.code, Some(1), "{run}");
            assert_eq!(run.to_string().matches(BETA).count(), 1, "{run}");
        }
    }
}
