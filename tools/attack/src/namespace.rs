//! A server that has its own view of the machine: mounts, watches, the clock.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::attacked_server::ServeOptions;
use pratique_harness::ToolError;

/// A script that runs the program in namespaces of its own (options of `unshare`), after commands that prepare them.
pub(super) fn within(
    options: &ServeOptions<'_>,
    namespaces: &str,
    prepare: &str,
) -> Result<PathBuf, ToolError> {
    let text = format!(
        "#!/bin/sh\nexec unshare --user --map-root-user {namespaces} sh -ec '{prepare}\nexec \"$0\" \"$@\"' '{}' \"$@\"\n",
        options.program.display()
    );
    script(&options.state.join("within.sh"), &text)
}

/// A script that can be run.
pub(super) fn script(path: &Path, text: &str) -> Result<PathBuf, ToolError> {
    fs::write(path, text)
        .and_then(|()| fs::set_permissions(path, fs::Permissions::from_mode(0o755)))
        .map_err(ToolError::file(&path))?;
    Ok(path.to_owned())
}

/// Runs a command of the shell with the mounts that a process has, which was started in a user namespace.
pub(super) fn enter(process: u32, command: &str) -> Result<(), ToolError> {
    let output = Command::new("nsenter")
        .args(["--target", &process.to_string()])
        .args(["--user", "--preserve-credentials", "--mount"])
        .args(["sh", "-ec", command])
        .output()
        .map_err(|error| format!("nsenter: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("`{command}`: {}", String::from_utf8_lossy(&output.stderr).trim()).into())
    }
}

/// A path of a process, as seen from outside of its namespaces.
pub(super) fn seen_by(process: u32, path: &Path) -> PathBuf {
    let root = PathBuf::from(format!("/proc/{process}/root"));
    root.join(path.strip_prefix("/").unwrap_or(path))
}
