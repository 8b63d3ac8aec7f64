//! Reading a directory of manifests: the one room of this crate that opens files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use crate::problem::{Failure, Problem, Rule};
use pratique_cel::quote::quoted;

/// A manifest file's path, as it is shown in messages, and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestFile {
    /// The path.
    pub path: String,
    /// The content as it is stored.
    pub content: Vec<u8>,
}

/// Reads the direct children of a directory whose extension is `.yaml`, `.yml` or `.json`, in any case, in bytewise order
/// of their names.
///
/// Symbolic links are followed; one that leads to a directory is an error.
pub(crate) fn read(path: &str) -> Result<Vec<Result<ManifestFile, Failure>>, Failure> {
    if path.is_empty() {
        return Err(unreadable("manifest directory path is empty".to_owned()));
    }
    let names = manifest_names(Path::new(path)).map_err(|error| {
        let reason = io_text(&error);
        unreadable(format!(
            "failed to read manifest directory {}: open {path}: {reason}",
            quoted(path)
        ))
    })?;
    let files = names.into_iter().map(|name| {
        let path = clean_path(&format!("{path}/{name}"));
        match read_manifest(&path) {
            Ok(content) => Ok(ManifestFile { path, content }),
            Err(reason) => Err(unreadable(format!(
                "failed to read file {}: {reason}",
                quoted(&path)
            ))),
        }
    });
    Ok(files.collect())
}

/// Larger files are not read. No manifest comes near; the server has no bound but its memory.
const MAX_MIB: u64 = 512;

/// What is set aside for a file of the size that it says it has; for more, it has to show.
const MAX_ROOM: usize = 1 << 20;

/// Reads a file of a directory. The server would wait for a pipe, and read a device without end.
fn read_manifest(path: &str) -> Result<Vec<u8>, String> {
    if let Ok(found) = fs::metadata(path) {
        refuse(path, &found)?;
    }
    let failed = |call, error| unopened(path, &Unopened::new(call, &error));
    let mut options = OpenOptions::new();
    // What it leads to may have become a pipe by now.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options
        .read(true)
        .open(path)
        .map_err(|error| failed("open", error))?;
    let found = file.metadata().map_err(|error| failed("stat", error))?;
    refuse(path, &found)?;
    let room = usize::try_from(found.len()).map_or(0, |length| length.saturating_add(1));
    let mut bytes = Vec::with_capacity(room.min(MAX_ROOM));
    let limit = MAX_MIB << 20;
    let read = file.take(limit + 1).read_to_end(&mut bytes);
    let read = read.map_err(|error| failed("read", error))?;
    match u64::try_from(read) {
        Ok(read) if read <= limit => Ok(bytes),
        _ => Err(too_large(path)),
    }
}

/// Says of what is not to be read why.
fn refuse(path: &str, found: &fs::Metadata) -> Result<(), String> {
    if !found.is_file() && !found.is_dir() {
        return Err(format!("open {path}: not a regular file"));
    }
    if found.is_file() && found.len() > MAX_MIB << 20 {
        return Err(too_large(path));
    }
    Ok(())
}

fn too_large(path: &str) -> String {
    format!("read {path}: larger than {MAX_MIB} MiB")
}

fn unreadable(text: String) -> Failure {
    Failure::single(text.clone(), Problem::new(Rule::Unreadable, text))
}

fn manifest_names(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.file_type()?.is_dir() && has_manifest_extension(&name) {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

fn has_manifest_extension(name: &str) -> bool {
    let extension = name
        .rsplit_once('.')
        .map(|(_, extension)| extension.to_ascii_lowercase());
    matches!(extension.as_deref(), Some("yaml" | "yml" | "json"))
}

/// A file that cannot be read.
pub(crate) struct Unopened {
    /// The call that failed.
    pub(crate) call: &'static str,
    /// The system's code for why.
    pub(crate) code: i32,
    reason: String,
}

impl Unopened {
    fn new(call: &'static str, error: &io::Error) -> Self {
        Self {
            call,
            code: error.raw_os_error().unwrap_or_default(),
            reason: io_text(error),
        }
    }
}

/// Reads a file.
pub(crate) fn open_and_read(path: &str) -> Result<Vec<u8>, Unopened> {
    let mut file = File::open(path).map_err(|error| Unopened::new("open", &error))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|error| Unopened::new("read", &error))?;
    Ok(bytes)
}

/// Reads a file; an error says which call failed on which path.
pub(crate) fn read_file(path: &str) -> Result<Vec<u8>, String> {
    open_and_read(path).map_err(|error| unopened(path, &error))
}

fn unopened(path: &str, error: &Unopened) -> String {
    format!("{} {path}: {}", error.call, error.reason)
}

/// Whether a path leads to a directory; an error says why nobody knows.
pub(crate) fn is_directory(path: &str) -> Result<bool, String> {
    let found = fs::metadata(path).map_err(|error| format!("stat {path}: {}", io_text(&error)))?;
    Ok(found.is_dir())
}

/// The current directory.
pub(crate) fn current() -> String {
    std::env::current_dir().map_or_else(|_| ".".to_owned(), |path| path.to_string_lossy().into_owned())
}

/// An I/O error as the system's C library words it, in lower case.
pub(crate) fn io_text(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text
        .rsplit_once(" (os error")
        .map_or(text.as_str(), |(text, _)| text);
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// A path without empty, `.` and `..` elements, as far as the path alone tells.
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
            ("a/..", "."),
            ("../a", "../a"),
        ] {
            assert_eq!(clean_path(path), expected);
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
}
