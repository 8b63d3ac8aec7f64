//! Programs of the workspace, built by Cargo.

#[cfg(feature = "build")]
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::ToolError;

/// Cargo, without the variables that describe the package of the running program: build scripts would take them for a
/// change and build again.
pub fn command() -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Builds a program of a package with features and a profile, and returns its path.
///
/// # Errors
/// When Cargo does not start, or the program does not build.
#[cfg(feature = "build")]
pub fn build(package: &str, program: &str, features: &[&str], profile: &str) -> Result<PathBuf, ToolError> {
    let built = command()
        .current_dir(super::workspace::root())
        .args([
            "build",
            "--profile",
            profile,
            "--package",
            package,
            "--bin",
            program,
        ])
        .args(["--features", &features.join(",")])
        .args(["--message-format", "json-render-diagnostics"])
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(ToolError::program("cargo"))?;
    if !built.status.success() {
        return Err(format!("{program} does not build").into());
    }
    String::from_utf8_lossy(&built.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter_map(|message| Some(PathBuf::from(message.get("executable")?.as_str()?)))
        .find(|path| path.file_stem().is_some_and(|stem| stem == program))
        .ok_or("cargo names no program".into())
}

/// The whole path of a given `pratique`, which tools run in other directories, or of one that is built with a profile.
///
/// # Errors
/// When the given one is not there, Cargo does not start, or `pratique` does not build.
#[cfg(feature = "build")]
pub fn pratique(given: Option<&Path>, profile: &str) -> Result<PathBuf, ToolError> {
    match given {
        Some(path) => std::fs::canonicalize(path).map_err(ToolError::file(&path)),
        None => build("pratique-cli", "pratique", &[], profile),
    }
}

/// The compiler.
pub fn compiler() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// The platform that this machine's compiler builds for.
///
/// # Errors
/// When the compiler does not start, or names no platform.
pub fn host() -> Result<String, ToolError> {
    let described = compiler()
        .arg("-vV")
        .output()
        .map_err(ToolError::program("rustc"))?;
    let described = String::from_utf8_lossy(&described.stdout);
    let host = described.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or("rustc names no host".into())
}
