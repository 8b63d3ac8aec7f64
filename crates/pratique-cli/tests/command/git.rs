//! Repositories that a pull request commits into its own: they answer for nothing, and nothing in them is run.

use std::fs;
use std::path::Path;

use crate::support::{Directory, git};

/// Refuses to change a level.
const LEVELS: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p}\n\
    spec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE, \
    UPDATE], resources: [configmaps]}\n  validations:\n  - {expression: \"EXPRESSION\", message: levels stay}\n---\n\
    apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: b}\n\
    spec: {policyName: p, validationActions: [Deny]}\n";

fn policy(expression: &str) -> String {
    LEVELS.replace("EXPRESSION", expression)
}

fn level(level: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: shop}}\ndata: {{level: {level}}}\n"
    )
}

fn commit(directory: &Path) {
    git(directory, &["init", "--quiet"]);
    git(directory, &["add", "--force", "."]);
    git(directory, &["commit", "--quiet", "--message", "one"]);
}

/// Copies a directory with all in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Puts a bare repository into a directory, in whose only commit a file is another one, and whose settings run a program.
fn with_bare_repository(directory: &Directory, at: &str, name: &str, content: &str) {
    let other = Directory::new().with(name, content);
    commit(other.path());
    let at = directory.path().join(at);
    copy(&other.path().join(".git"), &at);
    let runs = format!("touch {}", directory.path().join("ran").display());
    fs::write(
        at.join("config"),
        format!(
            "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsmonitor = {runs}\n\tpager = {runs}\n\tsshCommand = \
             {runs}\n\thooksPath = hooks\n"
        ),
    )
    .unwrap();
}

fn attacked() -> Directory {
    let directory = Directory::new()
        .with(
            "policy.yaml",
            policy("request.operation == 'CREATE' || object.data == oldObject.data"),
        )
        .with("rendered/a.yaml", level("high"))
        .with("policies/p.yaml", policy("true"));
    commit(directory.path());
    with_bare_repository(&directory, "rendered", "a.yaml", &level("low"));
    with_bare_repository(&directory, "policies", "p.yaml", &policy("false"));
    let directory = directory
        .with("rendered/a.yaml", level("low"))
        .with("policies/p.yaml", policy("false"));
    git(directory.path(), &["add", "--force", "."]);
    directory
}

#[test]
fn a_bare_repository_among_the_inputs_has_no_stored_objects() {
    let directory = attacked();
    let elsewhere = Directory::new().with("rendered/a.yaml", level("low"));
    commit(elsewhere.path());
    let other = elsewhere.path().join(".git").display().to_string();
    let path = std::env::var("PATH").unwrap();
    let absolute = directory.path().join("rendered").display().to_string();
    for input in [
        "rendered",
        "rendered/.",
        "./rendered/a.yaml",
        "rendered/../rendered",
        &absolute,
    ] {
        for environment in [
            &[("PATH", &*path)][..],
            &[
                ("PATH", &path),
                ("GIT_DIR", &other),
                ("GIT_WORK_TREE", "rendered"),
            ],
            &[("PATH", &path), ("GIT_OBJECT_DIRECTORY", "rendered/objects")],
            &[
                ("PATH", &path),
                ("GIT_CONFIG_PARAMETERS", "'core.worktree'='rendered'"),
            ],
        ] {
            let arguments = ["review", "--policies", "policy.yaml", "--since", "HEAD", input];
            let run = directory.run_with(&arguments, "", environment);
            run.exits(1).stdout_has("levels stay");
        }
    }
    assert!(!directory.path().join("ran").exists(), "a program was run");
}

#[test]
fn a_bare_repository_among_the_policies_has_no_revisions() {
    let directory = attacked().with("pod.yaml", level("low"));
    let path = std::env::var("PATH").unwrap();
    let arguments = [
        "impact",
        "--policies",
        "policies",
        "--old-rev",
        "HEAD",
        "pod.yaml",
    ];
    let run = directory.run_with(&arguments, "", &[("PATH", &path)]);
    run.exits(1).stdout_has("newly refused");
    assert!(!directory.path().join("ran").exists(), "a program was run");
}

#[cfg(unix)]
#[test]
fn links_and_other_repositories_are_told_and_not_followed() {
    let directory = attacked();
    let elsewhere = Directory::new().with("a.yaml", level("low"));
    commit(elsewhere.path());
    let module = directory.path().join("module");
    copy(elsewhere.path(), &module);
    std::os::unix::fs::symlink("module", directory.path().join("link")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), directory.path().join("out")).unwrap();
    git(directory.path(), &["add", "link", "out"]);
    git(
        directory.path(),
        &["-c", "advice.addEmbeddedRepo=false", "add", "module"],
    );
    git(directory.path(), &["commit", "--quiet", "--message", "two"]);
    let path = std::env::var("PATH").unwrap();
    for (input, why) in [
        (
            "module",
            "HEAD:module: another repository, which is not read: what is in it counts as created",
        ),
        (
            "link",
            "HEAD:link: a link, which is not followed: what it leads to counts as created",
        ),
    ] {
        let arguments = ["review", "--policies", "policy.yaml", "--since", "HEAD", input];
        let run = directory.run_with(&arguments, "", &[("PATH", &path)]);
        run.exits(0).stderr_has(why);
    }
    let arguments = ["review", "--policies", "policy.yaml", "--since", "HEAD", "out"];
    directory
        .run_with(&arguments, "", &[("PATH", &path)])
        .exits(2)
        .stderr_has("out: a link that leads out of its repository");
}
