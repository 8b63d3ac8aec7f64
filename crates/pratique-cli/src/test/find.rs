//! Looking for suites.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pratique_manifest::{ManifestFile, Problem};
use pratique_suite::{Suite, is_manifest, may_be_suite, read_file, read_suites};

use crate::exit::Trouble;

/// A file that has suites, or should.
pub(super) struct Found {
    pub(super) file: ManifestFile,
    pub(super) suites: Result<Vec<Suite>, Vec<Problem>>,
}

/// How deep directories are searched.
const DEPTH: usize = 32;

/// The suites of some paths: of files, and of all files below directories.
pub(super) fn suites(paths: &[String]) -> Result<Vec<Found>, Trouble> {
    let mut found = Vec::new();
    for path in paths {
        let directory = Path::new(path).is_dir();
        let files = if directory {
            below(Path::new(path), 0).map_err(|error| unreadable(path, error))?
        } else {
            vec![PathBuf::from(path)]
        };
        for file in files {
            found.extend(open(&file, directory)?);
        }
    }
    if found.is_empty() {
        return Err(Trouble::NoSuite {
            paths: paths.join(", "),
        });
    }
    Ok(found)
}

/// Opens a file. Of one that was not named, nothing is told if it has no suite.
fn open(path: &Path, listed: bool) -> Result<Option<Found>, Trouble> {
    let name = path.to_string_lossy().into_owned();
    let file = match read_file(path) {
        Ok(file) => file,
        Err(_) if listed => return Ok(None),
        Err(error) => return Err(unreadable(&name, error)),
    };
    if listed && !may_be_suite(&file.content) {
        return Ok(None);
    }
    let suites = read_suites(&file);
    match &suites {
        Ok(suites) if suites.is_empty() && listed => Ok(None),
        Ok(suites) if suites.is_empty() => Err(Trouble::NoSuite { paths: file.path }),
        _ => Ok(Some(Found { file, suites })),
    }
}

/// The manifests below a directory, by name.
fn below(directory: &Path, depth: usize) -> io::Result<Vec<PathBuf>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory)? {
        entries.push(entry?.path());
    }
    entries.sort_unstable();
    let mut files = Vec::new();
    for path in entries {
        let hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'));
        // Links to directories may lead in circles.
        if path.is_dir() && !path.is_symlink() && !hidden && depth < DEPTH {
            files.extend(below(&path, depth + 1)?);
        } else if path.is_file() && is_manifest(&path) {
            files.push(path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path));
        }
    }
    Ok(files)
}

fn unreadable(path: &str, error: io::Error) -> Trouble {
    Trouble::Read {
        path: path.to_owned(),
        error,
    }
}
