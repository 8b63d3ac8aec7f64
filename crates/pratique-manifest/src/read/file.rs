//! Reading files that other programs write: only regular ones, opened without blocking, and none larger than a bound.
//!
//! A pipe would block the thread that opens it until another process writes to it, and a device can be read without end.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::stamp::FileStamp;

/// The largest file of configuration or credentials that is read, in bytes: AdmissionConfigurations, kubeconfigs,
/// certificates, keys, tokens.
pub const MAX_CONFIGURATION_BYTES: u64 = 16 << 20;

/// How much memory is reserved at once for a file of the size in its metadata.
const MAX_RESERVED: usize = 1 << 20;

/// Why a file cannot be read.
#[derive(Debug)]
pub(crate) struct ReadError {
    /// The call that failed: `open`, `stat` or `read`.
    pub(crate) call: &'static str,
    pub(crate) error: io::Error,
}

/// Reads a regular file of at most `limit` bytes. Symbolic links are followed.
///
/// # Errors
/// The file cannot be opened or read; it is a pipe, a socket or a device, which is noticed without opening it; it has more
/// bytes than the limit.
pub fn read_regular(path: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
    let read = read(path.as_ref(), limit);
    read.map(|(bytes, _)| bytes).map_err(|error| error.error)
}

/// Opens a regular file; `None` where the path leads to a pipe, a socket or a device, which is not waited for, even if it has taken
/// the place of a file just now. Symbolic links are followed.
///
/// # Errors
/// The file cannot be opened; it is a directory.
pub fn open_regular(path: &Path) -> io::Result<Option<File>> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    // Opening some devices has effects.
    if !metadata.is_file() {
        return Ok(None);
    }
    let file = open_at_once(path)?;
    let is_file = file.metadata()?.is_file();
    Ok(Some(file).filter(|_| is_file))
}

/// Opens a file without waiting for a writer, if it is a pipe.
fn open_at_once(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.read(true).open(path)
}

/// Distinguishes a file from another that has the same path later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    /// The device and the inode, where there are such. Inodes are used again.
    number: Option<(u64, u64)>,
    /// When the file was created, if the file system records that.
    created: Option<SystemTime>,
}

impl FileIdentity {
    pub(super) fn new(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let number = Some((metadata.dev(), metadata.ino()));
        #[cfg(not(unix))]
        let number = None;
        FileIdentity {
            number,
            created: metadata.created().ok(),
        }
    }
}

/// The state of a file when it was read: what tells it from another file, and whether it may still be written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    pub(crate) identity: FileIdentity,
    /// The path of the file through all links.
    pub(crate) place: Option<PathBuf>,
    /// When the file was written to last, unless something else was done to it since: a rename, a change of its mode or
    /// times. So the file is written to under its own name.
    pub(crate) last_write: Option<SystemTime>,
    /// By what the content is known later, if it was read.
    pub(crate) stamp: Option<FileStamp>,
}

impl FileState {
    fn new(metadata: &Metadata, place: Option<PathBuf>, stamp: Option<FileStamp>) -> Self {
        #[cfg(unix)]
        let is_last_change =
            (metadata.mtime(), metadata.mtime_nsec()) == (metadata.ctime(), metadata.ctime_nsec());
        #[cfg(not(unix))]
        let is_last_change = false;
        let written = metadata.modified().ok();
        FileState {
            identity: FileIdentity::new(metadata),
            place,
            last_write: written.filter(|_| is_last_change),
            stamp,
        }
    }
}

/// [`read_regular`], with the state of the file, for a [`RewriteDetector`](crate::RewriteDetector).
///
/// # Errors
/// As [`read_regular`].
pub fn read_with_state(path: impl AsRef<Path>, limit: u64) -> io::Result<(Vec<u8>, FileState)> {
    read(path.as_ref(), limit).map_err(|error| error.error)
}

/// [`read_regular`], with the call that failed, or the file's state.
pub(crate) fn read(path: &Path, limit: u64) -> Result<(Vec<u8>, FileState), ReadError> {
    // Opening some devices has effects. An error here shows again when the file is opened.
    if let Ok(metadata) = fs::metadata(path) {
        check_metadata(&metadata, limit)?;
    }
    read_with_place(path, limit, || fs::canonicalize(path).ok())
}

/// [`read`] for a path that is a regular file by the listing of its directory, whose path through all links is known: it is no
/// link itself.
// Row reload-1000 of `benches/`: to follow the path of each file takes a system call for each of its parts.
pub(crate) fn read_listed(
    path: &Path,
    limit: u64,
    directory: Option<&Path>,
) -> Result<(Vec<u8>, FileState), ReadError> {
    read_with_place(path, limit, || listed_place(path.file_name()?, directory))
}

/// The state of a file as [`read_listed`] gives it, whose content is known.
pub(crate) fn listed_state(metadata: &Metadata, name: &OsStr, directory: Option<&Path>) -> FileState {
    FileState::new(metadata, listed_place(name, directory), None)
}

fn listed_place(name: &OsStr, directory: Option<&Path>) -> Option<PathBuf> {
    Some(directory?.join(name))
}

fn read_with_place(
    path: &Path,
    limit: u64,
    place: impl FnOnce() -> Option<PathBuf>,
) -> Result<(Vec<u8>, FileState), ReadError> {
    let failed = |call| move |error| ReadError { call, error };
    // Meanwhile the path may lead to a pipe.
    let file = open_at_once(path).map_err(failed("open"))?;
    let now = SystemTime::now();
    let metadata = file.metadata().map_err(failed("stat"))?;
    check_metadata(&metadata, limit)?;
    let mut bytes = Vec::with_capacity(
        usize::try_from(metadata.len())
            .unwrap_or(usize::MAX)
            .min(MAX_RESERVED),
    );
    // Bytes that are appended from now on belong to a later version. Files that the system generates have no
    // length.
    let end = match metadata.len() {
        0 => limit.saturating_add(1),
        length => length,
    };
    let read = file.take(end).read_to_end(&mut bytes);
    match u64::try_from(read.map_err(failed("read"))?) {
        Ok(length) if length <= limit => {
            let stamp = FileStamp::new(&metadata, now);
            Ok((bytes, FileState::new(&metadata, place(), stamp)))
        }
        _ => Err(too_large(limit)),
    }
}

/// Refuses special files and large ones. Directories are refused by the system.
fn check_metadata(metadata: &Metadata, limit: u64) -> Result<(), ReadError> {
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(ReadError {
            call: "open",
            error: io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"),
        });
    }
    if metadata.is_file() && metadata.len() > limit {
        return Err(too_large(limit));
    }
    Ok(())
}

fn too_large(limit: u64) -> ReadError {
    let text = format!("larger than {}", show_limit(limit));
    ReadError {
        call: "read",
        error: io::Error::new(io::ErrorKind::FileTooLarge, text),
    }
}

/// A bound in bytes, in mebibytes where it is a whole number of them.
fn show_limit(limit: u64) -> String {
    match limit % (1 << 20) {
        0 => format!("{} MiB", limit >> 20),
        _ => format!("{limit} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_error(path: &Path, limit: u64, expected: &str) {
        let error = read_regular(path, limit).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn files_have_a_bound() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read_regular(&path, 5).unwrap(), b"12345");
        check_error(&path, 4, "larger than 4 bytes");
        check_error(&directory.path().join("none"), 4, "No such file");
        check_error(directory.path(), 4, "Is a directory");
        fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        check_error(&path, 2 << 20, "larger than 2 MiB");
    }

    #[test]
    #[cfg(unix)]
    fn pipes_and_devices_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for path in [&pipe, &link, Path::new("/dev/zero"), Path::new("/dev/null")] {
            check_error(path, 1 << 20, "not a regular file");
            // It may have taken the place of a regular file since that was listed.
            let error = read_listed(path, 1 << 20, None).unwrap_err().error.to_string();
            assert_eq!(error, "not a regular file");
            assert!(open_regular(path).unwrap().is_none());
        }
    }

    #[test]
    #[cfg(unix)]
    fn places_are_those_behind_all_links() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        fs::create_dir(top.join("d")).unwrap();
        fs::write(top.join("d/file"), "1").unwrap();
        std::os::unix::fs::symlink("d", top.join("link")).unwrap();
        let path = top.join("link/file");
        let place = Some(top.join("d/file"));
        assert_eq!(read(&path, 9).unwrap().1.place, place);
        let listed = read_listed(&path, 9, Some(&top.join("d"))).unwrap();
        assert_eq!(listed.1, read(&path, 9).unwrap().1);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn files_without_a_length_are_read_to_their_end() {
        let bytes = read_regular("/proc/self/status", 1 << 20).unwrap();
        assert!(bytes.starts_with(b"Name:"));
        check_error(Path::new("/proc/self/status"), 4, "larger than 4 bytes");
    }
}
