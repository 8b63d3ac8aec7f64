//! Reading the files that suites name. No other module of this crate opens files.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pratique_manifest::{
    ManifestFile, Problem, SourceDocument, is_manifest, path_text, read_documents, read_regular,
};
use pratique_stream::to_utf8;

/// The maximum size of a file, in bytes.
const LARGEST: u64 = 32 << 20;

/// Reads a regular file up to the maximum size, as UTF-8 if its byte order mark is that of another encoding.
pub fn read(path: &Path) -> io::Result<ManifestFile> {
    Ok(ManifestFile {
        path: path_text(path),
        content: to_utf8(read_regular(path, LARGEST)?),
    })
}

/// Formats an I/O error without the `os error` number.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error")
        .map_or(text.as_str(), |(text, _)| text)
        .to_owned()
}

/// The manifests of a directory, by name. As for an API server, every entry but a directory is one: an unreadable one, such
/// as a link that leads nowhere, is reported when it is read.
pub(crate) fn manifests(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        if is_manifest(&path) && !entry.file_type()?.is_dir() {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// The maximum depth of directories.
const DEPTH: usize = 32;

/// The manifests below a directory, by name. Links to directories are not followed, nor are hidden ones read.
pub(crate) fn below(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    walk(directory, 0, &|name| !name.starts_with('.'), &mut files)?;
    Ok(files)
}

/// The manifests below a directory, by name, also those in hidden directories, where suites of other programs may be.
pub(crate) fn below_hidden(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    walk(directory, 0, &|name| name != ".git", &mut files)?;
    Ok(files)
}

/// Recursion is safe: its depth is bounded.
fn walk(
    directory: &Path,
    depth: usize,
    is_read: &dyn Fn(&str) -> bool,
    files: &mut Vec<PathBuf>,
) -> io::Result<()> {
    if depth > DEPTH {
        return Err(io::Error::other("directories are nested too deep"));
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        entries.push((entry.path(), entry.file_type()?.is_dir()));
    }
    entries.sort_unstable();
    for (path, is_directory) in entries {
        let name = path.file_name().map(OsStr::to_string_lossy);
        let is_passed_over = name.is_some_and(|name| !is_read(&name));
        if is_directory {
            if !is_passed_over {
                walk(&path, depth + 1, is_read, files)?;
            }
        } else if is_manifest(&path) && !path.is_dir() {
            files.push(path);
        }
    }
    Ok(())
}

/// The documents of a file, or all its problems.
pub(crate) fn documents(file: &ManifestFile) -> Result<Vec<SourceDocument>, Vec<Problem>> {
    read_documents(file).map_err(|errors| errors.problems().cloned().collect())
}
