//! Building the two sides for release.

use std::path::{Path, PathBuf};

use pratique_dist::DistPrograms;
use pratique_harness::{ToolError, cargo};

use super::{BenchArguments, BenchPeer};

/// Builds our side as releases are built and returns the program.
pub(super) fn ours() -> Result<PathBuf, ToolError> {
    release("pratique-benches")
}

/// Builds a program that is both sides, ours and the crate `cel`: neither is built by what it does.
pub(super) fn with_cel_crate() -> Result<PathBuf, ToolError> {
    cargo::build("pratique-benches", "pratique-benches", &["cel-crate"], "dist")
}

/// Builds a program as releases are built and returns its path.
pub(super) fn release(name: &str) -> Result<PathBuf, ToolError> {
    Ok(DistPrograms::build(None)?.program(name))
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
