//! Reading directories of manifests, and files that a configuration names.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::file::{self, FileState, MAX_CONFIGURATION_BYTES, ReadError};
use super::path::path_text;
use super::stamp::FileStamp;
use crate::budget::{self, Budget};
use crate::problem::{Failure, Problem, Rule};
use pratique_gotext::strconv::quote;
use pratique_types::FileError;

/// A manifest file's path, as it is shown in messages, and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestFile {
    /// The path.
    pub path: String,
    /// The content as it is stored.
    pub content: Vec<u8>,
}

/// A file of a directory.
pub(crate) struct ReadManifest {
    pub(crate) path: String,
    pub(crate) content: ReadContent,
    pub(crate) state: FileState,
}

/// The content of a file.
pub(crate) enum ReadContent {
    Read(Vec<u8>),
    /// That of the file when it was read last; it was not opened.
    Known(Arc<String>),
}

impl ReadManifest {
    pub(crate) fn into_file(self) -> ManifestFile {
        let content = match self.content {
            ReadContent::Read(bytes) => bytes,
            ReadContent::Known(text) => Arc::unwrap_or_clone(text).into_bytes(),
        };
        ManifestFile {
            path: self.path,
            content,
        }
    }
}

impl ReadContent {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            ReadContent::Read(bytes) => bytes,
            ReadContent::Known(text) => text.as_bytes(),
        }
    }
}

/// The content of a path when it was read last, and by what it is known.
pub(crate) type KnownContents<'k> = &'k dyn Fn(&str) -> Option<(&'k FileStamp, &'k Arc<String>)>;

/// Reads the direct children of a directory whose extension is `.yaml`, `.yml` or `.json`, in any case, in bytewise order
/// of their names.
///
/// Symbolic links are followed; one that leads to a directory is an error. The content is spent of a budget; exceeding it is
/// an error of the directory. A file that is no link is not opened where its content is known.
// Upstream: apiserver/pkg/admission/plugin/manifest/loader.go, LoadFiles
pub(crate) fn read(
    path: &str,
    budget: &Budget,
    known: KnownContents<'_>,
) -> Result<Vec<Result<ReadManifest, Failure>>, Failure> {
    if path.is_empty() {
        return Err(unreadable("manifest directory path is empty".to_owned()));
    }
    let names = manifest_names(Path::new(path)).map_err(|error| {
        let reason = io_text(&error);
        unreadable(format!(
            "failed to read manifest directory {}: open {path}: {reason}",
            quote(path)
        ))
    })?;
    let directory = fs::canonicalize(path).ok();
    let clean_directory = clean_path(path);
    let directory = directory.as_deref();
    let mut files = Vec::with_capacity(names.len());
    for listed in names {
        let file_path = Path::new(path).join(&listed.name);
        let path = child_path(&clean_directory, &path_text(Path::new(&listed.name)));
        let limit = budget.limit() / budget::FILE;
        let known = known(&path).and_then(|known| known_file(&listed, known, limit, directory));
        // An API server would block on a pipe, and read a device without end.
        let read = match known {
            Some(known) => Ok(known),
            None if listed.is_regular => file::read_listed(&file_path, limit, directory).map(from_read),
            None => file::read(&file_path, limit).map(from_read),
        };
        files.push(match read.and_then(|read| spend(read, budget)) {
            Ok((content, state)) => Ok(ReadManifest { path, content, state }),
            Err(error) => {
                let reason = file_error(&path, &error);
                let failure = unreadable(format!("failed to read file {}: {reason}", quote(&path)));
                match error.error.kind() {
                    io::ErrorKind::FileTooLarge => return Err(failure),
                    _ => Err(failure),
                }
            }
        });
    }
    Ok(files)
}

/// A file whose metadata says that it has the known content.
fn known_file(
    listed: &ListedEntry,
    (stamp, text): (&FileStamp, &Arc<String>),
    limit: u64,
    directory: Option<&Path>,
) -> Option<(ReadContent, FileState)> {
    // Links are not followed.
    let metadata = listed.entry.metadata().ok()?;
    let is_known = metadata.len() <= limit && stamp.is_of(&metadata);
    is_known.then(|| {
        let state = file::listed_state(&metadata, &listed.name, directory);
        (ReadContent::Known(Arc::clone(text)), state)
    })
}

fn from_read((content, state): (Vec<u8>, FileState)) -> (ReadContent, FileState) {
    (ReadContent::Read(content), state)
}

/// Spends the content of a file that was read.
fn spend(read: (ReadContent, FileState), budget: &Budget) -> Result<(ReadContent, FileState), ReadError> {
    let length = u64::try_from(read.0.bytes().len()).unwrap_or(u64::MAX);
    let spent = budget.spend(length.saturating_mul(budget::FILE));
    spent.map(|()| read).map_err(|_| {
        let limit = budget.limit() / budget::FILE;
        let text = format!("the manifests are larger than {} MiB together", limit >> 20);
        let error = io::Error::new(io::ErrorKind::FileTooLarge, text);
        ReadError { call: "read", error }
    })
}

fn unreadable(text: String) -> Failure {
    Problem::new(Rule::Unreadable, text).into()
}

/// An entry of a directory.
struct ListedEntry {
    name: OsString,
    is_regular: bool,
    entry: fs::DirEntry,
}

fn manifest_names(directory: &Path) -> io::Result<Vec<ListedEntry>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let kind = entry.file_type()?;
        if !kind.is_dir() && has_manifest_extension(&name.to_string_lossy()) {
            let is_regular = kind.is_file();
            names.push(ListedEntry {
                name,
                is_regular,
                entry,
            });
        }
    }
    names.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    Ok(names)
}

fn has_manifest_extension(name: &str) -> bool {
    let extension = name
        .rsplit_once('.')
        .map(|(_, extension)| extension.to_ascii_lowercase());
    matches!(extension.as_deref(), Some("yaml" | "yml" | "json"))
}

/// Reads a configuration file.
pub(crate) fn read_configuration(path: &str) -> Result<Vec<u8>, ReadError> {
    file::read(Path::new(path), MAX_CONFIGURATION_BYTES).map(|(content, _)| content)
}

/// Reads a configuration file; the error has the path.
pub(crate) fn read_file(path: &str) -> Result<Vec<u8>, FileError> {
    read_configuration(path).map_err(|error| file_error(path, &error))
}

/// Whether a path leads to a directory.
pub(crate) fn is_directory(path: &str) -> Result<bool, FileError> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.is_dir()),
        Err(error) => Err(file_error(path, &ReadError { call: "stat", error })),
    }
}

fn file_error(path: &str, error: &ReadError) -> FileError {
    FileError {
        call: error.call,
        path: path.to_owned(),
        reason: io_text(&error.error),
    }
}

/// The current directory.
pub(crate) fn current() -> String {
    std::env::current_dir().map_or_else(|_| ".".to_owned(), |path| path.to_string_lossy().into_owned())
}

/// An I/O error as the system's C library words it, in lower case.
fn io_text(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text
        .rsplit_once(" (os error")
        .map_or(text.as_str(), |(text, _)| text);
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The path of an entry of a directory, whose path is clean.
fn child_path(directory: &str, name: &str) -> String {
    match directory {
        "." => name.to_owned(),
        "/" => format!("/{name}"),
        _ => format!("{directory}/{name}"),
    }
}

/// A path without empty, `.` and `..` elements, resolved without the file system.
// Upstream: Go's path/filepath, Clean
pub(crate) fn clean_path(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut elements: Vec<&str> = Vec::new();
    for element in path.split('/') {
        match element {
            "" | "." => {}
            ".." if elements.last().is_some_and(|last| *last != "..") => {
                elements.pop();
            }
            ".." if rooted => {}
            other => elements.push(other),
        }
    }
    let joined = elements.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned() {
        for (path, expected) in [
            ("/a//b/./c", "/a/b/c"),
            ("/a/../b/", "/b"),
            ("/../a", "/a"),
            ("//", "/"),
            ("a/..", "."),
            ("../a", "../a"),
        ] {
            assert_eq!(clean_path(path), expected);
            let child = clean_path(&format!("{path}/..a.yaml"));
            assert_eq!(child_path(expected, "..a.yaml"), child);
        }
    }

    #[test]
    fn extensions_match_in_any_case() {
        for (name, expected) in [
            ("a.yaml", true),
            (".b.YML", true),
            ("c.Json", true),
            ("d.yaml~", false),
            ("yaml", false),
            ("e.", false),
        ] {
            assert_eq!(has_manifest_extension(name), expected, "{name}");
        }
    }

    /// Files `a.yaml` and `b.yaml`, and a link `c.yaml` to the first.
    #[cfg(unix)]
    fn linked_files() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a.yaml", "b.yaml"] {
            fs::write(directory.path().join(name), "read").unwrap();
        }
        std::os::unix::fs::symlink("a.yaml", directory.path().join("c.yaml")).unwrap();
        directory
    }

    #[test]
    #[cfg(unix)]
    fn what_is_known_is_not_read() {
        let directory = linked_files();
        let path = directory.path().to_str().unwrap();
        let metadata = fs::metadata(directory.path().join("a.yaml")).unwrap();
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(10);
        let stamp = FileStamp::new(&metadata, later).unwrap();
        // Another text than is there, so that it shows which one is taken.
        let text = Arc::new("known".to_owned());
        let read_all = |known: KnownContents<'_>, bytes: u64| {
            let files = read(path, &Budget::new(bytes * budget::FILE), known)?;
            files.into_iter().collect::<Result<Vec<_>, _>>()
        };
        let texts = |files: &[ReadManifest]| {
            let texts = files.iter().map(|file| file.content.bytes().to_vec());
            texts
                .map(|text| String::from_utf8(text).unwrap())
                .collect::<Vec<_>>()
        };
        let files = read_all(&|_| Some((&stamp, &text)), 13).unwrap();
        assert_eq!(texts(&files), ["known", "read", "read"]);
        let read_files = read_all(&|_| None, 12).unwrap();
        assert_eq!(texts(&read_files), ["read", "read", "read"]);
        for (file, read_file) in files.iter().zip(&read_files) {
            assert_eq!(file.path, read_file.path);
            assert_eq!(file.state, read_file.state);
        }
        // What is not read is spent, too.
        let exceeded = read_all(&|_| Some((&stamp, &text)), 12).err().unwrap();
        assert_eq!(exceeded, read_all(&|_| None, 11).err().unwrap());
        // A file too large for the budget fails as it does when it is read.
        let exceeded = read_all(&|_| Some((&stamp, &text)), 3).err().unwrap();
        assert_eq!(exceeded, read_all(&|_| None, 3).err().unwrap());
    }
}
