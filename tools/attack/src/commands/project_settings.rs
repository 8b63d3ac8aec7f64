//! What a repository brings along that comes with a proposed change: its project file, and links.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::{Scale, run, write};
use pratique_harness::Error;

const POLICIES: &str = include_str!("../policies.yaml");

const KUBECONFIG: &str = "apiVersion: v1\nkind: Config\ncurrent-context: a\n\
    contexts: [{name: a, context: {cluster: a, user: a}}]\nclusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}]\n\
    users: [{name: a, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: [../ran], \
    interactiveMode: Never}}}]\n";

/// Settings of a project file that run, write or read elsewhere, and the command that would use them.
const SETTINGS: [(&str, &[&str]); 9] = [
    ("check: {kubeconfig: k.yaml}", &["check"]),
    ("review: {kubeconfig: k.yaml}", &["review", "rendered"]),
    ("test: {kubeconfig: k.yaml}", &["test", "policies"]),
    (
        "scan: {kubeconfig: k.yaml}",
        &["scan", "rendered", "--trust-project-file"],
    ),
    ("scan: {report: ['a.json,../out.json']}", &["scan", "rendered"]),
    (
        "scan: {report: ['a.json,../out.json']}",
        &["scan", "rendered", "--trust-project-file"],
    ),
    ("objects: ['rendered,../secret.txt']", &["review", "rendered"]),
    ("inputs: [linked]", &["review", "--policies", "policies"]),
    ("policies: [linked]", &["check"]),
];

/// A repository whose project file is an attacker's: nothing runs, nothing is written, nothing of another file is shown.
pub(super) fn project_file(program: &Path, folder: &Path, _: Scale) -> Result<String, Error> {
    let repository = folder.join("repository");
    write(folder, "secret.txt", "swordfish: [\n")?;
    write(&repository, ".git/HEAD", "ref: refs/heads/main\n")?;
    write(&repository, "k.yaml", KUBECONFIG)?;
    write(&repository, "policies/policies.yaml", POLICIES)?;
    write(
        &repository,
        "rendered/pod.yaml",
        "{apiVersion: v1, kind: Pod, metadata: {name: a}}\n",
    )?;
    let link = repository.join("linked/secret.yaml");
    fs::create_dir_all(repository.join("linked")).map_err(Error::file(&link))?;
    symlink("../../secret.txt", &link).map_err(Error::file(&link))?;
    let mut results = Vec::new();
    for (settings, arguments) in SETTINGS {
        let file = format!("apiVersion: pratique/v1alpha1\nkind: Configuration\n{settings}\n");
        write(&repository, "pratique.yaml", &file)?;
        let outcome = run(program, &repository, arguments)?;
        let printed = [&*outcome.stdout, &outcome.stderr].concat();
        let written = ["ran", "out.json", "repository/a.json"].map(|name| folder.join(name).exists());
        if printed.contains("swordfish") || written.contains(&true) {
            return Err(format!("{settings}: {printed}").into());
        }
        results.push(format!("{settings}: {}", outcome.refused()?));
    }
    Ok(results.join("\n"))
}
