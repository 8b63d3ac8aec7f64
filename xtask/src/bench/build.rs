//! Building the two sides, both as they are meant to run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::tidy::workspace;

/// Builds our side for release and returns the program.
pub(super) fn ours() -> Result<PathBuf, String> {
    release("pratique-benches", "pratique-benches")
}

/// Builds a program of a package for release and returns its path.
pub(super) fn release(package: &str, name: &str) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .current_dir(workspace())
        .args(["build", "--release", "--package", package, "--bin", name])
        .args(["--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !built.status.success() {
        return Err(format!("{name} does not build"));
    }
    String::from_utf8_lossy(&built.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|message| Some(PathBuf::from(message.get("executable")?.as_str()?)))
        .find(|program| program.file_stem().is_some_and(|stem| stem == name))
        .ok_or_else(|| "cargo names no program".to_owned())
}

/// Builds the other side from a package of the Go module at `xtask/go/<module>`; `None` where Go is not installed.
pub(super) fn go(module: &str, package: &str, beside: &Path) -> Result<Option<PathBuf>, String> {
    if Command::new("go").arg("version").output().is_err() {
        eprintln!("Go is not installed: ours alone");
        return Ok(None);
    }
    let program = beside.with_file_name(format!("reference-{module}-{package}"));
    let built = Command::new("go")
        .current_dir(workspace().join("xtask/go").join(module))
        .args(["build", "-o"])
        .arg(&program)
        .arg(format!("./{package}"))
        .status()
        .map_err(|error| format!("go: {error}"))?;
    match built.success() {
        true => Ok(Some(program)),
        false => Err("the reference's side does not build".to_owned()),
    }
}
