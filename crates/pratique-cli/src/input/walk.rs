//! The files of a path.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use pratique_manifest::path_text;

use crate::exit::CliError;

/// Extensions of files with objects; each may be followed by `.gz`.
const EXTENSIONS: [&str; 5] = ["yaml", "yml", "json", "ndjson", "jsonl"];

/// The files of a path: those of a directory and of the directories in it, in the order of their names, or the path itself.
/// As for `git`, what a `.gitignore` names is left out, as are hidden files. Links to directories are not followed.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>, CliError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let walk = WalkBuilder::new(path)
        .require_git(false)
        .git_global(false)
        .sort_by_file_name(OsStr::cmp)
        .build();
    let mut files = Vec::new();
    for entry in walk {
        let entry = entry.map_err(|error| CliError::Read {
            path: path_text(path),
            error: error
                .io_error()
                .map_or_else(|| io::Error::other(error.to_string()), |cause| cause.kind().into()),
        })?;
        // A link that leads nowhere is told when it is read.
        let may_be_file = || fs::metadata(entry.path()).map_or(true, |found| found.is_file());
        if has_objects(entry.path()) && may_be_file() {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}

/// Whether a file has an extension of files with objects.
fn has_objects(path: &Path) -> bool {
    let extension = |path: &Path| {
        path.extension()
            .map(|extension| extension.to_ascii_lowercase())
            .unwrap_or_default()
    };
    match extension(path) {
        gz if gz == "gz" => path
            .file_stem()
            .is_some_and(|stem| EXTENSIONS.iter().any(|known| extension(Path::new(stem)) == *known)),
        found => EXTENSIONS.iter().any(|known| found == *known),
    }
}
