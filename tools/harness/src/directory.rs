//! Directories that are read whole.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::ToolError;

/// The paths of the entries of a directory, sorted.
///
/// # Errors
/// When the directory cannot be read.
pub fn entries(directory: &Path) -> Result<Vec<PathBuf>, ToolError> {
    let failed = ToolError::file(directory);
    let entries = fs::read_dir(directory).map_err(&failed)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}
