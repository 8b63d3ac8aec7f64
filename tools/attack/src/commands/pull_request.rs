//! Project files as a pull request may bring them: they run no program, and read and write nothing elsewhere, unless the
//! command line says that they are trusted.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::hidden::git;
use super::{AttackScale, run, write};
use pratique_harness::ToolError;

const POLICIES: &str = include_str!("../policies.yaml");
/// The beginning of a project file.
const FILE: &str = "apiVersion: pratique/v1alpha1\nkind: Configuration\n";
/// Its usual fields.
const USUAL: &str = "policies: [policies]\ninputs: [rendered]\nsuites: [tests]\n";
/// What a file outside the repository has.
const SECRET: &str = "swordfish";

/// Commands that read the project file.
const COMMANDS: [&[&str]; 8] = [
    &[],
    &["check"],
    &["review"],
    &["test"],
    &["review", "rendered"],
    &["test", "tests"],
    &["scan", "rendered"],
    &["scan", "rendered", "--trust-project-file"],
];

const REVIEW: &[&str] = &["review", "rendered"];
const SCAN: &[&str] = &["scan", "rendered"];
const TRUSTING_SCAN: &[&str] = &["scan", "rendered", "--trust-project-file"];

/// Fields that must not have their way, and a command that they are for.
const FIELDS: [(&str, &[&str]); 19] = [
    ("objects: ['rendered,../secret.yaml']", &[]),
    ("objects: ['rendered,../secret.yaml']", REVIEW),
    ("objects: [link.yaml]", &[]),
    ("policies: ['policies,../secret.yaml']", &[]),
    ("policies: [linked]", &["check"]),
    ("inputs: ['rendered,../secret.yaml']", &[]),
    ("inputs: [linked]", &["review", "--policies", "policies"]),
    ("suites: ['tests,../secret.yaml']", &[]),
    ("scan: {report: ['a.json,../written.json']}", SCAN),
    ("scan: {report: ['a.json,../written.json']}", TRUSTING_SCAN),
    ("scan: {report: [../written.json]}", SCAN),
    ("scan: {results: ../written.json}", SCAN),
    ("review: {webhooks: true}", &[]),
    ("review: {snapshot: ../snapshot}", &[]),
    ("review: {cluster: true}", &[]),
    ("review: {context: other}", &[]),
    ("check: {connect: true}", &[]),
    ("test: {update: true}", &[]),
    ("test: {allowPath: [..]}", &[]),
];

/// A repository with policies and an object that is allowed.
fn repository(folder: &Path) -> Result<(), ToolError> {
    write(folder, "secret.yaml", &format!("{SECRET}: [\n"))?;
    write(folder, "repository/policies/policies.yaml", POLICIES)?;
    git(&folder.join("repository"), &["init", "--quiet"])?;
    write(
        folder,
        "repository/rendered/pod.yaml",
        "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {containers: [{name: a, image: b}]}}\n",
    )?;
    let suite = "apiVersion: pratique/v1alpha1\nkind: Suite\nmetadata: {name: a}\npolicies: [../policies]\ntests:\n\
                 - {name: a, object: {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {containers: [{name: a, image: b}]}}, expect: allowed}\n";
    write(folder, "repository/tests/suite.yaml", suite)
}

/// A kubeconfig in the repository whose credentials a program gives: no command runs it, even if the project file is trusted.
pub(super) fn programs(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    repository(folder)?;
    let root = folder.join("repository");
    let (script, ran) = (root.join("credentials.sh"), folder.join("ran"));
    let text = format!("#!/bin/sh\ntouch '{}'\n", ran.display());
    write(&root, "credentials.sh", &text)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).map_err(ToolError::file(&script))?;
    let mut runs = 0;
    for (name, arguments) in [("./credentials.sh", &[][..]), ("touch", &["../ran"])] {
        let kubeconfig = serde_json::json!({"apiVersion": "v1", "kind": "Config", "current-context": "a",
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1:1"}}],
            "users": [{"name": "a", "user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1",
                "command": name, "args": arguments, "interactiveMode": "Never"}}}]});
        write(&root, "kubeconfig.yaml", &kubeconfig.to_string())?;
        for section in ["check", "review", "test", "scan"] {
            let field = format!("{section}: {{kubeconfig: kubeconfig.yaml}}");
            write(&root, "pratique.yaml", &format!("{FILE}{USUAL}{field}\n"))?;
            for command in COMMANDS {
                let result = run(program, &root, command)?;
                let command_line = format!("`{}` with {field}", command.join(" "));
                if ran.exists() {
                    return Err(format!("{command_line} ran a program: {}", result.summary()).into());
                }
                // The field of another command need not be looked at; without one, `check`, `review` and `test` are run.
                let is_of_command = match command.first() {
                    Some(name) => *name == section,
                    None => section != "scan",
                };
                if is_of_command && result.status.success() {
                    return Err(format!("{command_line} does not refuse it: {}", result.summary()).into());
                }
                runs += 1;
            }
        }
    }
    Ok(format!("{runs} runs ran no program"))
}

/// Fields that name places elsewhere, that call others, or that write: refused, and nothing outside is read or written.
pub(super) fn places(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    repository(folder)?;
    let root = folder.join("repository");
    let link = root.join("linked/secret.yaml");
    fs::create_dir_all(root.join("linked"))
        .and_then(|()| symlink("../../secret.yaml", &link))
        .and_then(|()| symlink("../secret.yaml", root.join("link.yaml")))
        .map_err(ToolError::file(&link))?;
    write(&root, "pratique.yaml", &format!("{FILE}{USUAL}"))?;
    let usual = run(program, &root, &[])?;
    if !usual.status.success() {
        return Err(format!("a usual project file is refused: {}", usual.summary()).into());
    }
    for (field, command) in FIELDS {
        let (key, _) = field.split_once(':').unwrap_or_default();
        let usual = USUAL.lines().filter(|usual| !usual.starts_with(key));
        let usual: String = usual.flat_map(|line| [line, "\n"]).collect();
        write(&root, "pratique.yaml", &format!("{FILE}{usual}{field}\n"))?;
        let result = run(program, &root, command)?;
        let command_line = format!("`{}` with {field}", command.join(" "));
        check_untouched(folder, &command_line, &[&result.stdout, &result.stderr])?;
        result
            .refused()
            .map_err(|error| ToolError::from(format!("{command_line}: {error}")))?;
    }
    // A file that is elsewhere itself.
    let file = root.join("pratique.yaml");
    fs::rename(&file, folder.join("elsewhere.yaml"))
        .and_then(|()| symlink("../elsewhere.yaml", &file))
        .map_err(ToolError::file(&file))?;
    run(program, &root, &[])?.refused()?;
    Ok(format!("{} project files were refused", FIELDS.len() + 1))
}

/// Nothing of a file outside is shown, and nothing is written there.
fn check_untouched(folder: &Path, field: &str, printed: &[&str]) -> Result<(), ToolError> {
    if printed.iter().any(|text| text.contains(SECRET)) {
        return Err(format!("{field}: shows a file outside of the repository").into());
    }
    let written = ["written.json", "repository/a.json"].map(|name| folder.join(name).exists());
    if written.contains(&true) {
        return Err(format!("{field}: writes a file").into());
    }
    Ok(())
}
