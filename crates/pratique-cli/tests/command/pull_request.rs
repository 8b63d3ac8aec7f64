//! Plays the author of a pull request: what a repository brings along must not make a check green, run a program, or read or
//! write elsewhere.
//!
//! Each attack is a repository and a command that a CI server runs in it. Beside the repository there is `outside`, with a
//! text that no output may have and nothing that a command may change.

#[cfg(unix)]
mod links;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::project::POLICY;
use crate::support::{Directory, Run, git};

/// What is in the file outside of the repository: no YAML, so that an error would quote it.
const SECRET: &str = "password: {hunter2\n";

const HEAD: &str = "apiVersion: pratique/v1alpha1\nkind: Configuration\n";

const LARGE: &str = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: large}, spec: {replicas: 9, selector: {matchLabels: {app: web}}, template: \
    {metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: a}]}}}}\n";

const SUITE: &str = "apiVersion: pratique/v1alpha1\nkind: Suite\npolicies: [../policies]\ntests:\n\
    - {name: large, object: ../rendered/large.yaml, expect: denied}\n";

/// A kubeconfig whose user has credentials from a command that leaves a trace.
const KUBECONFIG: &str = "apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: a, user: USER}]
";

/// A repository with policies, an object that they deny, and a suite; beside it is what no attack may reach.
fn repository() -> Directory {
    Directory::new()
        .with("outside/secret.yaml", SECRET)
        .with("repository/.git/HEAD", "ref: refs/heads/main\n")
        .with("repository/policies/few.yaml", POLICY)
        .with("repository/rendered/large.yaml", LARGE)
        .with("repository/tests/suite.yaml", SUITE)
        .with("repository/run.sh", "#!/bin/sh\ntouch ../outside/ran\n")
        .with(
            "repository/k.yaml",
            KUBECONFIG.replace(
                "USER",
                "{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [run.sh], interactiveMode: Never}}",
            ),
        )
        .with(
            "repository/gcp.yaml",
            KUBECONFIG.replace(
                "USER",
                "{auth-provider: {name: gcp, config: {cmd-path: /bin/sh, cmd-args: run.sh, token-key: '{.a}', expiry-key: '{.b}'}}}",
            ),
        )
}

fn with_project(settings: &str) -> Directory {
    repository().with("repository/pratique.yaml", format!("{HEAD}{settings}"))
}

/// Runs a command as a CI server does.
fn run(directory: &Directory, arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_pratique"))
        .args(arguments)
        .current_dir(directory.path().join("repository"))
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap_or_default())
        .output()
        .unwrap();
    Run {
        line: format!("pratique {}", arguments.join(" ")),
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The files below a directory with what is in them; of links, where they lead.
fn contents(directory: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let text = match fs::read_link(&path) {
            Ok(target) => target.display().to_string(),
            Err(_) if path.is_dir() => {
                all.extend(contents(&path));
                continue;
            }
            Err(_) => String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned(),
        };
        all.insert(path.display().to_string(), text);
    }
    all
}

/// Runs a command, of which nothing is left and nothing is shown of what is outside.
#[track_caller]
fn attack(directory: &Directory, arguments: &[&str]) -> Run {
    let before = contents(directory.path());
    let run = run(directory, arguments);
    assert!(!format!("{run}").contains("hunter2"), "{run}");
    assert_eq!(contents(directory.path()), before, "{run}");
    run
}

/// Settings that reach out, each with a command that would use them.
const REACHING_OUT: &[(&str, &[&str])] = &[
    ("policies: [policies]\ncheck: {kubeconfig: k.yaml}", &[]),
    ("check: {kubeconfig: k.yaml}", &["check"]),
    ("check: {cluster: true}", &["check", "policies"]),
    ("check: {context: a}", &["check", "policies"]),
    ("check: {connect: true}", &["check", "policies"]),
    ("review: {kubeconfig: k.yaml}", &["review", "rendered"]),
    ("review: {webhooks: true}", &["review", "rendered"]),
    ("review: {snapshot: rendered}", &["review", "rendered"]),
    (
        "review: {admissionControlConfigFile: k.yaml}",
        &["review", "rendered"],
    ),
    ("replay: {kubeconfig: k.yaml}", &["replay", "rendered"]),
    ("replay: {report: out.html}", &["replay", "rendered"]),
    (
        "impact: {kubeconfig: k.yaml}",
        &["impact", "--old", "policies", "--new", "policies", "rendered"],
    ),
    ("scan: {kubeconfig: k.yaml}", &["scan", "rendered"]),
    ("scan: {apply: true}", &["scan", "rendered", "-o", "policyreport"]),
    ("scan: {report: [out.json]}", &["scan", "rendered"]),
    ("scan: {report: ['s3://bucket/key']}", &["scan", "rendered"]),
    ("scan: {results: out.parquet}", &["scan", "rendered"]),
    ("scan: {metricsFile: out.prom}", &["scan", "rendered"]),
    ("scan: {checkpoint: out.json}", &["scan", "rendered"]),
    ("test: {kubeconfig: k.yaml}", &["test", "tests"]),
    ("test: {update: true}", &["test", "tests"]),
    ("test: {init: true}", &["test", "policies"]),
    ("test: {allowPath: ['../outside']}", &["test", "tests"]),
    ("serve: {kubeconfig: k.yaml}", &["serve"]),
    ("serve: {listen: '0.0.0.0:1'}", &["serve"]),
    ("serve: {record: out.ndjson}", &["serve"]),
    ("serve: {auditLogPath: ../outside/audit.log}", &["serve"]),
    ("snapshot: {kubeconfig: k.yaml, directory: out}", &["snapshot"]),
    ("snapshot: {secrets: [a/b]}", &["snapshot", "out"]),
];

#[test]
fn what_reaches_out_is_refused() {
    for (settings, arguments) in REACHING_OUT {
        let run = attack(&with_project(settings), arguments);
        run.exits(2)
            .stderr_has("pratique.yaml:")
            .stderr_has("reaches out of the repository")
            .stderr_has("--trust-project-file");
        assert_eq!(run.stdout, "", "{run}");
    }
    // The place is that of the field.
    let run = attack(
        &with_project("check: {output: human, kubeconfig: k.yaml}"),
        &["check", "policies"],
    );
    run.stderr_has("pratique.yaml:3:24: `check.kubeconfig` reaches out");
    // What the command line says instead is not refused, nor what another command would use.
    let run = attack(
        &with_project("check: {kubeconfig: k.yaml}"),
        &["review", "rendered", "--policies", "policies"],
    );
    run.exits(1).stdout_has("at most 3 replicas");
    let quiet = with_project("check: {cluster: false}");
    attack(&quiet, &["check", "policies"]).exits(0);
}

#[test]
#[cfg(feature = "kube")]
fn commands_of_kubeconfigs_that_the_file_names_are_never_run() {
    for kubeconfig in ["k.yaml", "gcp.yaml"] {
        for (command, arguments) in [
            ("check", &["check"][..]),
            ("review", &["review", "rendered"]),
            ("scan", &["scan"]),
            ("test", &["test", "tests"]),
            ("serve", &["serve", "--plain-http", "--listen", "127.0.0.1:0"]),
            ("snapshot", &["snapshot", "out"]),
        ] {
            let repository = with_project(&format!("{command}: {{kubeconfig: {kubeconfig}}}"));
            let arguments = [arguments, &["--trust-project-file"]].concat();
            let run = attack(&repository, &arguments);
            run.exits(2).stderr_has("come from a command");
        }
    }
    // The user may name it.
    let repository = with_project("policies: [policies]");
    run(&repository, &["review", "rendered", "--kubeconfig", "k.yaml"]);
    assert!(repository.path().join("outside/ran").exists());
}

/// Settings that can turn a refusal into an approval, and what is told of them.
const WEAKENING: &[(&str, &[&str], &str)] = &[
    (
        "check: {allow: [unguarded-field]}",
        &["check", "policies", "-o", "json"],
        "check.allow",
    ),
    ("allow: [warnings]", &["check", "policies", "-o", "json"], "allow"),
    ("allow: [warnings]", &["test", "tests", "-o", "json"], "allow"),
    (
        "test: {filter: large}",
        &["test", "tests", "-o", "json"],
        "test.filter",
    ),
    (
        "review: {failOn: [undecided]}",
        &["review", "rendered", "-o", "json"],
        "review.failOn",
    ),
    (
        "review: {failOn: [undecided]}",
        &["review", "rendered", "-o", "ndjson"],
        "review.failOn",
    ),
    (
        "review: {operation: DELETE}",
        &["review", "rendered", "-o", "json"],
        "review.operation",
    ),
    (
        "review: {defaults: off}",
        &["review", "rendered", "-o", "json"],
        "review.defaults",
    ),
    (
        "review: {as: admin}",
        &["review", "rendered", "-o", "json"],
        "review.as",
    ),
    (
        "review: {bind: true}",
        &["review", "rendered", "-o", "json"],
        "review.bind",
    ),
    (
        "scan: {failOn: [undecided]}",
        &["scan", "rendered", "-o", "json"],
        "scan.failOn",
    ),
    (
        "scan: {shard: 0/2}",
        &["scan", "rendered", "-o", "json"],
        "scan.shard",
    ),
    (
        "impact: {maxNewRefusals: 5}",
        &[
            "impact", "--old", "policies", "--new", "policies", "rendered", "-o", "json",
        ],
        "impact.maxNewRefusals",
    ),
    (
        "review: {failOn: [undecided]}",
        &["review", "rendered", "-o", "sarif"],
        "review.failOn",
    ),
    (
        "review: {failOn: [undecided]}",
        &["review", "rendered", "-o", "junit"],
        "review.failOn",
    ),
    (
        "review: {failOn: [undecided]}",
        &["review", "rendered", "-o", "github"],
        "review.failOn",
    ),
    (
        "scan: {failOn: [undecided]}",
        &["scan", "rendered", "-o", "ndjson"],
        "scan.failOn",
    ),
    (
        "scan: {failOn: [undecided]}",
        &["scan", "rendered", "-o", "sarif"],
        "scan.failOn",
    ),
    (
        "scan: {failOn: [undecided]}",
        &["scan", "rendered", "-o", "junit"],
        "scan.failOn",
    ),
    (
        "check: {allow: [unguarded-field]}",
        &["check", "policies", "-o", "sarif"],
        "check.allow",
    ),
    (
        "check: {allow: [unguarded-field]}",
        &["check", "policies", "-o", "junit"],
        "check.allow",
    ),
    (
        "check: {allow: [unguarded-field]}",
        &["check", "policies", "-o", "github"],
        "check.allow",
    ),
    (
        "test: {filter: large}",
        &["test", "tests", "-o", "junit"],
        "test.filter",
    ),
    (
        "test: {filter: large}",
        &["test", "tests", "-o", "github"],
        "test.filter",
    ),
];

/// What is told counts as no warning: the exit code is that of the decisions, in every format.
#[test]
fn what_weakens_a_decision_is_no_fault() {
    for format in ["json", "ndjson", "sarif", "junit", "github"] {
        let repository = with_project("policies: [policies]\nreview: {defaults: off}");
        let arguments = ["review", "rendered", "-o", format, "--fail-on", "warn,undecided"];
        let run = attack(&repository, &arguments);
        run.exits(0).stdout_has("review.defaults");
        assert!(!run.stdout.contains("<failure message=\"`review"), "{run}");
    }
    let github = attack(
        &with_project("policies: [policies]\nreview: {defaults: off}"),
        &["review", "rendered", "-o", "github"],
    );
    github.stdout_has(
        "::warning file=pratique.yaml,line=4,col=10,title=weakened-setting::`review.defaults` is false",
    );
    // The hashes of manifests are JSON as well.
    let static_policy = POLICY.replace("name: few", "name: few.static.k8s.io");
    let static_policy = static_policy.replace("policyName: few", "policyName: few.static.k8s.io");
    let hashed =
        with_project("check: {allow: [unguarded-field]}").with("repository/static/few.yaml", static_policy);
    let run = attack(&hashed, &["check", "--hash-only", "-o", "json", "static"]);
    run.exits(0);
    assert_eq!(
        run.json()[0]["projectFile"]["weakened"][0]["field"],
        "check.allow",
        "{run}"
    );
}

#[test]
fn what_weakens_a_decision_is_told() {
    for (settings, arguments, field) in WEAKENING {
        let repository = with_project(&format!("policies: [policies]\n{settings}"));
        let run = attack(&repository, arguments);
        assert_ne!(run.code, Some(2), "{run}");
        run.stderr_has("warning: pratique.yaml:4:")
            .stderr_has(&format!("`{field}`"));
        run.stdout_has(field);
    }
    // What is as strict as the default, or stricter, is not told; nor what the command line overrides.
    for (settings, arguments) in [
        (
            "review: {failOn: [deny, warn, error, undecided], defaults: on}",
            &["review", "rendered"][..],
        ),
        ("deny: [warnings]", &["check", "policies"]),
        (
            "review: {failOn: [undecided]}",
            &["review", "rendered", "--fail-on", "deny"],
        ),
    ] {
        let repository = with_project(&format!("policies: [policies]\n{settings}"));
        let run = attack(&repository, arguments);
        assert!(!run.stderr.contains("refused otherwise"), "{run}");
    }
}

/// Paths that lead out of the directory of the file, and a command that would read them.
const OUTSIDE: &[(&str, &[&str])] = &[
    ("inputs: [../outside]", &["review", "--policies", "policies"]),
    (
        "inputs: ['rendered/../../outside']",
        &["review", "--policies", "policies"],
    ),
    ("inputs: [/etc/hostname]", &["review", "--policies", "policies"]),
    (
        "inputs: ['s3://bucket/key']",
        &["review", "--policies", "policies"],
    ),
    ("policies: [../outside]", &["check"]),
    ("objects: [../outside]", &["review", "rendered"]),
    (
        "objects: ['rendered,../outside/secret.yaml']",
        &["review", "rendered"],
    ),
    ("objects: ['rendered,']", &["review", "rendered"]),
    (
        "policies: ['policies,../outside/secret.yaml']",
        &["review", "rendered"],
    ),
    ("suites: [../outside]", &["test"]),
    (
        "review: {authorizer: ../outside/secret.yaml}",
        &["review", "rendered"],
    ),
    ("review: {old: [../outside/secret.yaml]}", &["review", "rendered"]),
    ("replay: {logs: [../outside/secret.yaml]}", &["replay"]),
    (
        "impact: {old: [../outside]}",
        &["impact", "--new", "policies", "rendered"],
    ),
    (
        "serve: {manifests: ../outside}",
        &["serve", "--plain-http", "--listen", "127.0.0.1:0"],
    ),
];

#[test]
fn paths_that_lead_out_are_refused() {
    for (settings, arguments) in OUTSIDE {
        let run = attack(&with_project(settings), arguments);
        run.exits(2)
            .stderr_has("pratique.yaml:3:")
            .stderr_has("it is not below the root of the repository");
    }
    // Nor may they if the file is trusted; nor is anything written there.
    let run = attack(
        &with_project("scan: {report: ['a.json,../outside/out.json']}"),
        &[
            "scan",
            "rendered",
            "--policies",
            "policies",
            "--trust-project-file",
        ],
    );
    run.exits(2).stderr_has("../outside/out.json: it is not below");
}

/// Links of a repository, the settings by which they are found, and a command.
#[cfg(unix)]
const LINKS: &[(&str, &str, &str, &[&str])] = &[
    (
        "rendered/a.yaml",
        "../../outside/secret.yaml",
        "inputs: [rendered]",
        &["review", "--policies", "policies"],
    ),
    (
        "rendered/deep",
        "../../outside",
        "inputs: [rendered/deep]",
        &["review", "--policies", "policies"],
    ),
    (
        "link.yaml",
        "../outside/secret.yaml",
        "inputs: [link.yaml]",
        &["review", "--policies", "policies"],
    ),
    (
        "link",
        "../outside",
        "inputs: [link/secret.yaml]",
        &["review", "--policies", "policies"],
    ),
    (
        "rendered/a.yaml",
        "../.git/config",
        "inputs: [rendered]",
        &["review", "--policies", "policies"],
    ),
    (
        "policies/a.yaml",
        "../../outside/secret.yaml",
        "policies: [policies]",
        &["review", "rendered"],
    ),
    (
        "policies/a.yaml",
        "../../outside/secret.yaml",
        "policies: [policies]",
        &["check"],
    ),
    (
        "policies/a.yaml",
        "../../outside/secret.yaml",
        "policies: [policies]\ncheck: {origin: static}",
        &["check"],
    ),
    (
        "policies/a.yaml",
        "../../outside/secret.yaml",
        "scan: {policies: [policies]}",
        &["scan", "rendered"],
    ),
    (
        "static/a.yaml",
        "../../outside/secret.yaml",
        "review: {manifests: static}",
        &["review", "rendered"],
    ),
    (
        "cluster/a.yaml",
        "../../outside/secret.yaml",
        "objects: [cluster]",
        &["review", "rendered", "--policies", "policies"],
    ),
    (
        "logs/a.log",
        "../../outside/secret.yaml",
        "replay: {logs: [logs]}",
        &["replay", "--policies", "policies"],
    ),
    (
        "many/a.ndjson",
        "../../outside/secret.yaml",
        "scan: {inputs: [many]}",
        &["scan", "--policies", "policies"],
    ),
    (
        "tests/a.yaml",
        "../../outside/secret.yaml",
        "suites: [tests]",
        &["test"],
    ),
    (
        "rules.yaml",
        "../outside/secret.yaml",
        "review: {authorizer: rules.yaml}",
        &["review", "rendered"],
    ),
];

#[test]
#[cfg(unix)]
fn links_that_lead_out_are_refused() {
    for (link, target, settings, arguments) in LINKS {
        let repository = with_project(settings).with("repository/.git/config", SECRET);
        let link = repository.path().join("repository").join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, link).unwrap();
        let run = attack(&repository, arguments);
        assert!(!matches!(run.code, Some(0 | 3)), "{run}");
        let is_told = [
            "it is not below the root",
            "a link that leads out of its repository",
        ]
        .iter()
        .any(|told| run.to_string().contains(told));
        assert!(is_told, "{run}");
    }
    // Those that stay are followed.
    let repository = with_project("inputs: [linked]");
    std::os::unix::fs::symlink("rendered", repository.path().join("repository/linked")).unwrap();
    attack(&repository, &["review", "--policies", "policies"]).exits(1);
}

#[test]
#[cfg(unix)]
fn the_file_is_no_link_that_leads_out() {
    let repository = repository().with(
        "outside/pratique.yaml",
        format!("{HEAD}policies: [policies]\n# hunter2\nx: 1\n"),
    );
    let link = repository.path().join("repository/pratique.yaml");
    std::os::unix::fs::symlink("../outside/pratique.yaml", &link).unwrap();
    for arguments in [&[][..], &["check"], &["review", "rendered"]] {
        attack(&repository, arguments)
            .exits(2)
            .stderr_has("pratique.yaml: it is not below");
    }
}

#[test]
fn what_a_configuration_names_is_below_the_directory_too() {
    let configuration = |directory: &str| {
        format!(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n\
             - name: ValidatingAdmissionPolicy\n  configuration:\n    apiVersion: apiserver.config.k8s.io/v1\n    \
             kind: ValidatingAdmissionPolicyConfiguration\n    staticManifestsDir: {directory}\n"
        )
    };
    let repository = with_project("policies: [admission.yaml]");
    let outside = repository.path().join("outside").display().to_string();
    let repository = repository.with("repository/admission.yaml", configuration(&outside));
    let run = attack(&repository, &["check"]);
    run.exits(1).shows(&["it is not below"]);
}

#[test]
fn a_change_is_checked_by_the_rules_of_its_target() {
    let repository = with_project("policies: [policies]\ninputs: [rendered]\n");
    let git = |arguments: &[&str]| git(&repository.path().join("repository"), arguments);
    fs::remove_dir_all(repository.path().join("repository/.git")).unwrap();
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "base"]);
    git(&["tag", "check"]);
    let path = repository.path().join("repository/pratique.yaml");
    let weak = format!(
        "{HEAD}policies: [policies]\ninputs: [rendered]\nreview: {{failOn: [error], operation: DELETE}}\n"
    );
    fs::write(&path, weak).unwrap();
    attack(&repository, &["review"])
        .exits(0)
        .stderr_has("`review.failOn` leaves out deny, undecided");
    let from_base = attack(&repository, &["review", "--project-file-from", "HEAD"]);
    from_base
        .exits(1)
        .stderr_has("project file: HEAD:pratique.yaml\n")
        .stdout_has("at most 3 replicas");
    assert!(!from_base.stderr.contains("failOn"), "{from_base}");
    // A revision can have the name of a command; the place may be below; and a file that is gone is still that of the target.
    attack(&repository, &["--project-file-from", "check", "review"]).exits(1);
    fs::remove_file(&path).unwrap();
    attack(&repository, &["--project-file-from=HEAD"]).exits(1);
    // Where the target has none, none is used.
    fs::write(&path, HEAD).unwrap();
    git(&["rm", "--quiet", "--cached", "pratique.yaml"]);
    git(&["commit", "--quiet", "-m", "none"]);
    let run = attack(&repository, &["check", "policies", "--project-file-from", "HEAD"]);
    run.exits(0)
        .stderr_has("project file: none, there is no pratique.yaml in HEAD");
    attack(&repository, &["check", "--project-file-from", "nowhere"]).exits(2);
}
