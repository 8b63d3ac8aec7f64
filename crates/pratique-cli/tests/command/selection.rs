//! Which files are read, in every command: tracked ones whatever a `.gitignore` says, and what is passed over is told.

use crate::story::{CLEAN, PRIVILEGED};
use crate::support::{Directory, git};

/// A policy that denies whatever it matches, with its binding.
const DENIES: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p}\nspec:\n  \
    matchConstraints:\n    resourceRules:\n    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: \
    [pods]}\n  validations:\n  - {expression: 'false', message: denied by p}\n---\napiVersion: \
    admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: p}\nspec: {policyName: p, \
    validationActions: [Deny]}\n";

const SUITE: &str = "apiVersion: pratique/v1alpha1\nkind: Suite\nmetadata: {name: s}\npolicies: [../policies]\ntests:\n- name: t\n  \
    object: {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b}}\n  expect: {verdict: EXPECTED}\n";

fn path() -> String {
    std::env::var("PATH").unwrap()
}

#[test]
fn patterns_that_exclude_nothing_are_told() {
    let directory = Directory::new()
        .with("policies/p.yaml", DENIES)
        .with("rendered/pod.yaml", CLEAN)
        .with("rendered/gone.yaml", CLEAN);
    let line = [
        "--policies",
        "policies",
        "--fail-on",
        "error",
        "--exclude",
        "gone.yaml",
        "--exclude",
        "gone.yml",
    ];
    const TOLD: &str = "passed over: 1 excluded; nothing by --exclude gone.yml";
    for command in ["review", "scan"] {
        let run = directory.run(&[&[command, "rendered"], &line[..]].concat());
        run.exits(0).shows(&[TOLD]);
    }
    let json = directory.run(&[&["review", "rendered", "-o", "ndjson"], &line[..]].concat());
    json.exits(0)
        .stdout_has(r#"{"passedOver":{"excluded":1,"unusedPatterns":["gone.yml"]}}"#);
    directory
        .run(&["review", "rendered", "--exclude", "gone.yml"])
        .exits(0)
        .stdout_has("passed over: nothing, also by --exclude gone.yml\n");
}

/// A pull request that has its own `.gitignore`, and adds what that names by force.
fn hidden_by_force() -> Directory {
    let directory = Directory::new()
        .with("rendered/good.yaml", CLEAN)
        .with("rendered/.gitignore", "evil.yaml\nbuild/\n*.local.yaml\n")
        .with("rendered/evil.yaml", PRIVILEGED)
        .with(
            "rendered/build/evil.yaml",
            PRIVILEGED.replace("name: ", "name: x"),
        );
    git(directory.path(), &["init", "--quiet"]);
    git(directory.path(), &["add", "--force", "."]);
    directory
        .with("rendered/mine.local.yaml", PRIVILEGED)
        .with("rendered/build/not-tracked.yaml", PRIVILEGED)
        .with("rendered/.evil.yaml", PRIVILEGED)
        .with("rendered/.evil/pod.yaml", PRIVILEGED)
        .with("rendered/evil.yaml.txt", PRIVILEGED)
}

#[test]
fn tracked_files_are_reviewed_whatever_is_ignored() {
    let directory = hidden_by_force();
    let path = path();
    let review = |arguments: &[&str]| {
        directory.run_with(
            &[&["review"], arguments, &["rendered"]].concat(),
            "",
            &[("PATH", &path)],
        )
    };
    // `.gitignore` itself has another extension.
    let counts = "passed over: 2 ignored by git, 2 of other extensions";
    let run = review(&[]);
    run.exits(1).shows(&[
        "rendered/evil.yaml:1:1",
        "rendered/build/evil.yaml:1:1",
        "1 allowed, 4 denied",
        "rendered/.evil.yaml:1:1",
        "rendered/.evil/pod.yaml:1:1",
    ]);
    run.stdout_has(&format!("{counts}; --verbose lists them\n"));
    let run = review(&["--verbose"]);
    run.stdout_has(&format!(
        "{counts}\n  rendered/.gitignore: of other extensions\n  \
         rendered/build/not-tracked.yaml: ignored by git\n  rendered/evil.yaml.txt: of other extensions\n  rendered/mine.local.yaml: ignored by git\n"
    ));
    let json = "\"passedOver\":{\"ignored\":2,\"otherExtensions\":2}";
    for arguments in [
        &["-o", "json"][..],
        &["-o", "ndjson"],
        &["-o", "json", "--summary"],
        &["-o", "ndjson", "--summary"],
    ] {
        review(arguments).stdout_has(json);
    }
    let passed = "{\"path\":\"rendered/mine.local.yaml\",\"why\":\"ignored\"}";
    review(&["-o", "json", "--verbose"]).stdout_has(passed);
    review(&["-o", "github"]).stdout_has(counts);
    for format in ["sarif", "junit", "diff"] {
        review(&["-o", format]).stderr_has(counts);
    }
    let scan = |arguments: &[&str]| {
        directory.run_with(
            &[&["scan"], arguments, &["rendered"]].concat(),
            "",
            &[("PATH", &path)],
        )
    };
    let run = scan(&[]);
    run.exits(1).shows(&[counts]);
    scan(&["-o", "json"]).stdout_has(counts);
    // Nothing of that is an error, and a run that finds nothing else says what there is.
    std::fs::remove_file(directory.path().join("rendered/good.yaml")).unwrap();
    let run = review(&[
        "--exclude",
        "evil.yaml",
        "--exclude",
        ".evil.yaml",
        "--exclude",
        ".evil/",
    ]);
    run.exits(2)
        .stderr_has("2 ignored by git, 2 of other extensions, 4 excluded");
}

#[test]
fn without_git_what_is_ignored_is_passed_over_and_told() {
    let directory = hidden_by_force();
    let run = directory.run_with(&["review", "rendered"], "", &[("PATH", "/nowhere")]);
    // The hidden one is denied.
    run.exits(1)
        .stderr_has("which files are tracked is not known, so what a .gitignore names is passed over")
        .stdout_has("3 ignored by git");
}

#[cfg(unix)]
#[test]
fn links_and_pipes_of_directories_are_counted() {
    let directory = Directory::new()
        .with("rendered/good.yaml", CLEAN)
        .with("elsewhere/evil.yaml", PRIVILEGED);
    let rendered = directory.path().join("rendered");
    std::os::unix::fs::symlink("../elsewhere", rendered.join("linked")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", rendered.join("linked.yaml")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(rendered.join("pipe.yaml"))
        .status()
        .unwrap();
    assert!(made.success());
    let run = directory.run(&["review", "rendered", "--verbose"]);
    run.exits(0).stdout_has(
        "passed over: 2 linked, 1 special\n  rendered/linked: linked\n  rendered/linked.yaml: linked\n  rendered/pipe.yaml: \
         special\n",
    );
}

/// A repository whose every command would fail without the exclusion.
fn with_excluded() -> Directory {
    Directory::new()
        .with("policies/p.yaml", DENIES)
        .with("policies/kustomization.yaml",
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: broken}\nspec: {}\n",
        )
        .with("rendered/a.yaml", CLEAN)
        .with("rendered/vendor/evil.yaml", PRIVILEGED)
        .with("rendered/kustomization.yaml", "a: [\n")
        .with("tests/good.yaml", SUITE.replace("EXPECTED", "denied"))
        .with(
            "tests/vendor/bad.yaml",
            SUITE.replace("EXPECTED", "allowed").replace("../", "../../"),
        )
}

#[test]
fn excluded_files_are_read_by_no_command() {
    let directory = with_excluded();
    let excluded = ["--exclude", "kustomization.yaml", "--exclude", "vendor/"];
    for (arguments, code, passed_over) in [
        (&["review", "rendered"][..], 0, "passed over: 2 excluded"),
        (&["scan", "rendered"], 0, "passed over: 2 excluded"),
        (&["check", "policies"], 0, "passed over: 1 excluded"),
        (&["check", "-o", "json", "policies"], 0, "\"excluded\": 1"),
        (&["test", "tests"], 0, "passed over: 2 excluded"),
        (&["test", "-o", "json", "tests"], 0, "\"excluded\": 2"),
        (&["test", "-o", "github", "tests"], 0, "passed over: 2 excluded"),
        (
            &["impact", "--old", "policies", "--new", "policies", "rendered"],
            0,
            "passed over: 3 excluded",
        ),
    ] {
        let run = directory.run(&[arguments, &excluded].concat());
        run.exits(code).shows(&[passed_over]);
        let run = directory.run(arguments);
        assert_ne!(run.code, Some(code), "{run}");
    }
    let policies = [
        &["review", "--policies", "policies", "rendered/a.yaml"][..],
        &excluded,
    ]
    .concat();
    directory
        .run(&policies)
        .exits(1)
        .stdout_has("passed over: 1 excluded");
    // What is named is excluded as well, and paths are from the working directory.
    let review = |arguments: &[&str]| directory.run(&[&["review"], arguments].concat());
    review(&[
        "--exclude",
        "rendered/vendor",
        "--exclude",
        "kustomization.*",
        "rendered",
    ])
    .exits(0)
    .stdout_has("1 allowed, 0 denied");
    review(&[
        "--exclude",
        "rendered/vendor/*",
        "rendered/vendor/evil.yaml",
        "rendered/a.yaml",
    ])
    .exits(0);
    review(&["--exclude", "vendor/*", "rendered/vendor/evil.yaml"]).exits(1);
    review(&["--exclude", "{a"])
        .exits(2)
        .stderr_has("invalid value '{a'");
}

#[test]
fn the_project_file_excludes_from_its_directory() {
    let project = "apiVersion: pratique/v1alpha1\nkind: Configuration\npolicies: [policies]\ninputs: [rendered]\nsuites: [tests]\n\
                   exclude: [kustomization.yaml, rendered/vendor/, tests/vendor]\nreview: {level: baseline}\n";
    let directory = with_excluded()
        .with(
            "pratique.yaml",
            project.replace("review: {level: baseline}\n", ""),
        )
        .with("rendered/sub/.keep", "");
    let run = directory.run(&["review"]);
    run.exits(1)
        .stdout_has("0 allowed, 1 denied")
        .stdout_has("excluded");
    directory.run(&["test"]).exits(0).stdout_has("1 passed, 0 failed");
    directory.run(&["check"]).exits(0);
    // The command line takes precedence.
    directory.run(&["check", "--exclude", "x"]).exits(1);
}

#[test]
fn suites_of_other_programs_are_found_in_hidden_directories() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\n";
    let kyverno = "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: hidden}\npolicies: [../p.yaml]\nresources: \
                   [pod.yaml]\nresults:\n- {policy: p, isValidatingAdmissionPolicy: true, kind: Pod, resources: [a], result: \
                   fail}\n";
    let directory = Directory::new()
        .with("set/p.yaml", DENIES)
        .with("set/.kyverno-test/kyverno-test.yaml", kyverno)
        .with("set/.kyverno-test/pod.yaml", pod)
        .with("set/.git/kyverno-test.yaml", kyverno)
        .with("set/.cache/suite.yaml", SUITE.replace("EXPECTED", "allowed"))
        .with("policies/p.yaml", DENIES)
        .with("tests/suite.yaml", SUITE.replace("EXPECTED", "denied"));
    let run = directory.run(&["test", "tests", "set"]);
    run.exits(0).shows(&[
        "set/.kyverno-test/kyverno-test.yaml",
        "2 passed, 0 failed",
        "passed over: 1 hidden",
    ]);
    let run = directory.run(&["test", "--verbose", "tests", "set"]);
    run.stdout_has("  set/.cache/suite.yaml: hidden\n");
    // A suite that is named is run wherever it is.
    directory
        .run(&["test", "set/.cache/suite.yaml"])
        .shows(&["set/.cache/suite.yaml"]);
}
