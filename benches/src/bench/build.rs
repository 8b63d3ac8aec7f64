//! Building the two sides for release.

use std::path::{Path, PathBuf};

use pratique_harness::{ToolError, cargo};

use super::{BenchArguments, BenchPeer};

/// Builds our side for release and returns the program.
pub(super) fn ours() -> Result<PathBuf, ToolError> {
    release("pratique-benches", "pratique-benches")
}

/// Builds a program for release that is both sides: ours, and the crate `cel`.
pub(super) fn with_cel_crate() -> Result<PathBuf, ToolError> {
    cargo::build("pratique-benches", "pratique-benches", &["cel-crate"], "dist")
}

/// Builds a program of a package for release and returns its path.
pub(super) fn release(package: &str, name: &str) -> Result<PathBuf, ToolError> {
    cargo::build(package, name, &[], "dist")
}

/// Builds the other side of a contest, if one is selected.
pub(super) fn other(
    arguments: &BenchArguments,
    module: &str,
    ours: &Path,
) -> Result<Option<PathBuf>, ToolError> {
    match arguments.against {
        Some(BenchPeer::Go) => go(module, "bench", ours),
        Some(BenchPeer::CelCrate) | None => Ok(None),
    }
}

/// Builds the other side from a package of a Go module; `None` where Go is not installed.
pub(super) fn go(module: &str, package: &str, ours: &Path) -> Result<Option<PathBuf>, ToolError> {
    if !pratique_harness::go::is_installed() {
        eprintln!("Go is not installed: ours alone");
        return Ok(None);
    }
    let program = ours.with_file_name(format!("reference-{module}-{package}"));
    pratique_harness::go::build(module, &format!("./{package}"), &program)?;
    Ok(Some(program))
}
