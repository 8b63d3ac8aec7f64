//! Links that a change brings along, where the target of the change has files and directories.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::hidden::git;
use super::{AttackScale, run, write};
use pratique_harness::ToolError;

const POLICIES: &str = include_str!("../policies.yaml");
const POD: &str = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {containers: [{name: a, image: b}]}}\n";
/// What a file outside the repository has: no YAML, so that an error could quote it.
const SECRET: &str = "swordfish: [\n";

/// Where `linked` leads.
const TARGETS: [&str; 5] = [
    "../outside",
    "../outside/secret.yaml",
    "../outside/new",
    ".git",
    ".git/config",
];

/// Commands that name it.
const COMMANDS: [&[&str]; 8] = [
    &["review", "linked", "--policies", "policies"],
    &["review", "rendered", "--policies", "linked"],
    &[
        "review",
        "rendered",
        "--policies",
        "policies",
        "--objects",
        "linked",
    ],
    &["scan", "linked", "--policies", "policies"],
    &["check", "linked"],
    &["test", "linked"],
    &[
        "scan",
        "rendered",
        "--policies",
        "policies",
        "--report",
        "linked/report.json",
    ],
    &["scan", "rendered", "--policies", "policies", "--report", "linked"],
];

/// A repository with policies and an object that is allowed, and beside it what no command may reach.
fn repository(folder: &Path) -> Result<(), ToolError> {
    write(folder, "outside/secret.yaml", SECRET)?;
    write(folder, "repository/policies/policies.yaml", POLICIES)?;
    write(folder, "repository/rendered/pod.yaml", POD)?;
    git(&folder.join("repository"), &["init", "--quiet"])
}

/// Nothing outside is shown, changed or made.
fn check_untouched(folder: &Path, command_line: &str, printed: &str) -> Result<(), ToolError> {
    let outside = folder.join("outside");
    let secret = fs::read_to_string(outside.join("secret.yaml")).map_err(ToolError::file(&outside))?;
    let count = fs::read_dir(&outside).map_err(ToolError::file(&outside))?.count();
    if printed.contains("swordfish") || secret != SECRET || count != 1 {
        return Err(format!("{command_line}: reads or writes outside of the repository: {printed}").into());
    }
    Ok(())
}

/// What the command line names was a directory in the target, and is a link in the change.
pub(super) fn named(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    repository(folder)?;
    let root = folder.join("repository");
    let link = root.join("linked");
    let mut runs = 0;
    for target in TARGETS {
        symlink(target, &link).map_err(ToolError::file(&link))?;
        for command in COMMANDS {
            let result = run(program, &root, command)?;
            let command_line = format!("`{}` with a link to {target}", command.join(" "));
            check_untouched(folder, &command_line, &[&*result.stdout, &result.stderr].concat())?;
            result
                .refused()
                .map_err(|error| ToolError::from(format!("{command_line}: {error}")))?;
            runs += 1;
        }
        fs::remove_file(&link).map_err(ToolError::file(&link))?;
    }
    Ok(format!("{runs} runs did not follow a link that they named"))
}

/// Flags that write, with the file that they write.
const WRITTEN: [(&str, &str); 3] = [
    ("--report", "out.json"),
    ("--report", "out.html"),
    ("--metrics-file", "out.prom"),
];

/// Links under the names that a command could give to a file which is not finished, for each number that its process may have.
pub(super) fn temporary(program: &Path, folder: &Path, _: AttackScale) -> Result<String, ToolError> {
    repository(folder)?;
    let root = folder.join("repository");
    // The next processes of this machine: other programs start some as well.
    let next = std::process::id();
    for number in next..next.saturating_add(2000) {
        for (_, written) in WRITTEN {
            for name in [format!("{written}.{number}.tmp"), format!(".{written}.{number}")] {
                let link = root.join(name);
                symlink("../outside/secret.yaml", &link).map_err(ToolError::file(&link))?;
            }
        }
    }
    for (flag, written) in WRITTEN {
        let arguments = ["scan", "rendered", "--policies", "policies", flag, written];
        let result = run(program, &root, &arguments)?;
        let command_line = format!("`{}`", arguments.join(" "));
        check_untouched(folder, &command_line, &[&*result.stdout, &result.stderr].concat())?;
        let is_file = fs::symlink_metadata(root.join(written)).is_ok_and(|metadata| metadata.is_file());
        if !is_file {
            return Err(format!("{command_line} wrote no file: {}", result.summary()).into());
        }
    }
    Ok(format!(
        "{} files were written beside links to another",
        WRITTEN.len()
    ))
}
