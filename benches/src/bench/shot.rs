//! A program that is run once for a measurement.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use pratique_harness::ToolError;
use serde::de::DeserializeOwned;

/// Runs a program that prints one line of JSON.
pub(super) fn run<T: DeserializeOwned>(
    program: &Path,
    arguments: &[impl AsRef<OsStr>],
) -> Result<T, ToolError> {
    let name = program.display();
    let output = Command::new(program)
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        serde_json::from_slice(&output.stdout).map_err(|error| ToolError::from(format!("{name}: {error}")))
    } else {
        let arguments: Vec<_> = arguments.iter().map(AsRef::as_ref).collect();
        Err(format!("{name} {arguments:?}: {}", output.status).into())
    }
}
