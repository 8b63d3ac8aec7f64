//! Finds suites.

use std::io;
use std::path::{Path, PathBuf};

use pratique_manifest::{ManifestFile, Problem, path_text};
use pratique_suite::{Roots, Suite, is_manifest, may_be_suite, read_file, read_suites_at};

use crate::exit::CliError;
use crate::input::{RepositoryLinks, all_shown, is_hidden, named, read_directory};
use crate::project::permit;

/// A file with suites.
pub(super) struct SuiteFile {
    pub(super) path: PathBuf,
    pub(super) file: ManifestFile,
    pub(super) suites: Result<Vec<Suite>, Vec<Problem>>,
}

/// The maximum size of a suite file, in bytes.
const LARGEST: u64 = 32 << 20;

/// The maximum depth of the search.
const DEPTH: usize = 32;

/// Finds the suites of files, and of all files below directories.
pub(super) fn suites(paths: &[PathBuf], roots: &Roots) -> Result<Vec<SuiteFile>, CliError> {
    let mut found = Vec::new();
    for path in paths {
        let directory = path.is_dir();
        let files = if directory {
            below(path, 0).map_err(|error| CliError::unread(path, error))?
        } else {
            vec![path.clone()]
        };
        for file in files {
            found.extend(open(file, directory, roots)?);
        }
    }
    if found.is_empty() {
        return Err(CliError::NoSuite {
            paths: all_shown(paths).join(", "),
        });
    }
    Ok(found)
}

/// Reads a file; `None` for a file of a directory without suites.
fn open(path: PathBuf, listed: bool, roots: &Roots) -> Result<Option<SuiteFile>, CliError> {
    permit(&path).map_err(|error| CliError::unread(&path, error))?;
    let read = match listed {
        true => read_file(&path),
        // What the user names may be a pipe.
        false => named::read(&path, LARGEST).map(|content| ManifestFile {
            path: path_text(&path),
            content,
        }),
    };
    let file = match read {
        Ok(file) => file,
        Err(_) if listed => return Ok(None),
        Err(error) => return Err(CliError::unread(&path, error)),
    };
    if listed && !may_be_suite(&file.content) {
        return Ok(None);
    }
    let suites = read_suites_at(&path, &file, roots);
    match &suites {
        Ok(suites) if suites.is_empty() && listed => Ok(None),
        Ok(suites) if suites.is_empty() => Err(CliError::NoSuite { paths: file.path }),
        _ => Ok(Some(SuiteFile { path, file, suites })),
    }
}

/// The manifests below a directory, sorted by name.
fn below(directory: &Path, depth: usize) -> io::Result<Vec<PathBuf>> {
    let links = RepositoryLinks::below(directory);
    let mut entries = Vec::new();
    for entry in read_directory(directory)? {
        let entry = entry?;
        let path = entry.path();
        // What else is there may be much.
        if is_manifest(&path) || path.is_dir() {
            if is_manifest(&path) {
                links.permit(&entry)?;
            }
            entries.push(path);
        }
    }
    entries.sort_unstable();
    let mut files = Vec::new();
    for path in entries {
        // Links to directories may lead in circles.
        if path.is_dir() && !path.is_symlink() && !is_hidden(&path) && depth < DEPTH {
            files.extend(below(&path, depth + 1)?);
        } else if path.is_file() && is_manifest(&path) {
            files.push(path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path));
        }
    }
    Ok(files)
}
