//! Project files as a pull request may bring them: they run no program, and read and write nothing elsewhere, unless the
//! command line says that they are trusted.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::hidden::git;
use super::{Scale, run, write};
use pratique_harness::Error;

const POLICIES: &str = include_str!("../policies.yaml");
/// The beginning of a project file.
const FILE: &str = "apiVersion: pratique/v1alpha1\nkind: Configuration\n";
/// What a file outside the repository has.
const SECRET: &str = "swordfish";
/// The commands that read the project file, without arguments of their own.
const COMMANDS: [&[&str]; 4] = [&[], &["check"], &["review"], &["test"]];

/// A repository with policies and an object that is allowed.
fn repository(folder: &Path) -> Result<(), Error> {
    write(folder, "secret.yaml", &format!("{SECRET}: [\n"))?;
    write(folder, "repository/policies/policies.yaml", POLICIES)?;
    git(&folder.join("repository"), &["init", "--quiet"])?;
    write(
        folder,
        "repository/rendered/pod.yaml",
        "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {containers: [{name: a, image: b}]}}\n",
    )?;
    let suite = "apiVersion: pratique/v1alpha1\nkind: Suite\nmetadata: {name: a}\npolicies: [../policies]\ntests:\n\
                 - {name: a, object: {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}}, expect: allowed}\n";
    write(folder, "repository/tests/suite.yaml", suite)
}

/// A kubeconfig in the repository whose credentials a program gives: no command runs it.
pub(super) fn programs(program: &Path, folder: &Path, _: Scale) -> Result<String, Error> {
    repository(folder)?;
    let root = folder.join("repository");
    let ran = folder.join("ran");
    let script = root.join("credentials.sh");
    write(
        &root,
        "credentials.sh",
        &format!("#!/bin/sh\ntouch '{}'\n", ran.display()),
    )?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).map_err(Error::file(&script))?;
    let kubeconfig = serde_json::json!({"apiVersion": "v1", "kind": "Config", "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "a", "user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1",
            "command": "./credentials.sh", "interactiveMode": "Never"}}}]});
    write(&root, "kubeconfig.yaml", &kubeconfig.to_string())?;
    let mut runs = 0;
    for section in ["check", "review", "test"] {
        let file = format!(
            "{FILE}policies: [policies]\ninputs: [rendered]\nsuites: [tests]\n{section}: {{kubeconfig: kubeconfig.yaml}}\n"
        );
        write(&root, "pratique.yaml", &file)?;
        for command in COMMANDS {
            let result = run(program, &root, command)?;
            let shown = format!("`{}` with {section}.kubeconfig", command.join(" "));
            if ran.exists() {
                return Err(format!("{shown} ran a program: {}", result.summary()).into());
            }
            // The field of another command need not be looked at.
            if command.is_empty() && result.status.success() {
                return Err(format!("{shown} does not refuse it: {}", result.summary()).into());
            }
            runs += 1;
        }
    }
    Ok(format!("{runs} runs ran no program"))
}

/// Fields that name places elsewhere, that call others, or that write: refused, and nothing outside is read or written.
pub(super) fn places(program: &Path, folder: &Path, _: Scale) -> Result<String, Error> {
    repository(folder)?;
    let root = folder.join("repository");
    symlink("../secret.yaml", root.join("link.yaml")).map_err(|error| error.to_string())?;
    let scan: &[&str] = &["scan", "rendered"];
    let fields: [(&str, &[&str]); 15] = [
        ("objects: ['rendered,../secret.yaml']", &[]),
        ("objects: [link.yaml]", &[]),
        ("policies: ['policies,../secret.yaml']", &[]),
        ("inputs: ['rendered,../secret.yaml']", &[]),
        ("suites: ['tests,../secret.yaml']", &[]),
        ("scan: {report: ['a.json,../written.json']}", scan),
        ("scan: {report: [../written.json]}", scan),
        ("scan: {results: ../written.json}", scan),
        ("review: {webhooks: true}", &[]),
        ("review: {snapshot: ../snapshot}", &[]),
        ("review: {cluster: true}", &[]),
        ("review: {context: other}", &[]),
        ("check: {connect: true}", &[]),
        ("test: {update: true}", &[]),
        ("test: {allowPath: [..]}", &[]),
    ];
    write(
        &root,
        "pratique.yaml",
        &format!("{FILE}policies: [policies]\ninputs: [rendered]\nsuites: [tests]\n"),
    )?;
    let usual = run(program, &root, &[])?;
    if !usual.status.success() {
        return Err(format!("a usual project file is refused: {}", usual.summary()).into());
    }
    let mut lines = Vec::new();
    for (field, command) in fields {
        let usual = ["policies: [policies]", "inputs: [rendered]", "suites: [tests]"];
        let (key, _) = field.split_once(':').unwrap_or_default();
        let usual = usual.into_iter().filter(|usual| !usual.starts_with(key));
        let usual: Vec<&str> = usual.collect();
        write(
            &root,
            "pratique.yaml",
            &format!("{FILE}{}\n{field}\n", usual.join("\n")),
        )?;
        let result = run(program, &root, command)?;
        check_untouched(folder, field, &[&result.stdout, &result.stderr])?;
        lines.push(
            result
                .refused()
                .map_err(|error| Error::from(format!("{field}: {error}")))?,
        );
    }
    // A file that is elsewhere itself.
    let file = root.join("pratique.yaml");
    fs::rename(&file, folder.join("elsewhere.yaml"))
        .and_then(|()| symlink("../elsewhere.yaml", &file))
        .map_err(Error::file(&file))?;
    lines.push(run(program, &root, &[])?.refused()?);
    Ok(format!("{} project files were refused", lines.len()))
}

/// Nothing of a file outside is shown, and nothing is written there.
fn check_untouched(folder: &Path, field: &str, printed: &[&str]) -> Result<(), Error> {
    if printed.iter().any(|text| text.contains(SECRET)) {
        return Err(format!("{field}: shows a file outside of the repository").into());
    }
    match folder.join("written.json").exists() {
        true => Err(format!("{field}: writes outside of the repository").into()),
        false => Ok(()),
    }
}
