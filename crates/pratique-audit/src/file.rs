//! The sink of the writer: a file that may be rotated meanwhile, or standard output.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::target::Target;

/// The interval of checks whether the file was renamed.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// An open target.
pub(crate) enum OpenTarget {
    /// Standard output.
    Stdout,
    /// A file.
    File(AppendFile),
}

/// A file that is appended to.
pub(crate) struct AppendFile {
    path: PathBuf,
    file: File,
    checked: Instant,
    /// Whether it ends in an incomplete line that will not be continued.
    ends_incomplete: bool,
    /// Its size after a write that ended within a line.
    partial_size: Option<u64>,
}

impl OpenTarget {
    pub(crate) fn open(target: Target) -> io::Result<Self> {
        match target {
            Target::Stdout => Ok(OpenTarget::Stdout),
            Target::File(path) => AppendFile::open(path).map(OpenTarget::File),
        }
    }

    /// Writes at least one byte, unless interrupted.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match self {
            OpenTarget::Stdout => {
                let mut output = io::stdout().lock();
                output
                    .write(bytes)
                    .and_then(|written| output.flush().map(|()| written))
            }
            OpenTarget::File(file) => file.write(bytes),
        };
        match written {
            Ok(0) => Err(io::ErrorKind::WriteZero.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            written => written,
        }
    }

    /// Reopens the file if it was renamed, or if `force` is set. Returns whether it did.
    pub(crate) fn refresh(&mut self, force: bool) -> io::Result<bool> {
        let OpenTarget::File(file) = self else {
            return Ok(false);
        };
        if !force && (file.checked.elapsed() < CHECK_INTERVAL || file.is_current()) {
            return Ok(false);
        }
        *file = AppendFile::open(file.path.clone())?;
        Ok(true)
    }

    /// Rotates the file if it would become larger than `size`: it replaces the former one, and a new one begins.
    pub(crate) fn make_room(&mut self, bytes: usize, size: u64) -> io::Result<()> {
        let OpenTarget::File(file) = self else {
            return Ok(());
        };
        let metadata = file.file.metadata()?;
        let length = metadata
            .len()
            .saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
        // Pipes and devices are not rotated.
        if !metadata.is_file() || metadata.len() == 0 || length <= size {
            return Ok(());
        }
        std::fs::rename(&file.path, former(&file.path))?;
        *file = AppendFile::open(file.path.clone())?;
        Ok(())
    }

    /// Whether the rest of a partly written line can follow. If not, because the file was truncated or written to by
    /// another process, the incomplete line is ended before the next write.
    pub(crate) fn can_continue_line(&mut self) -> io::Result<bool> {
        let OpenTarget::File(file) = self else {
            return Ok(true);
        };
        let Some(size) = file.partial_size else {
            return Ok(true);
        };
        if file.file.metadata()?.len() == size {
            return Ok(true);
        }
        file.partial_size = None;
        file.ends_incomplete = ends_incomplete(&file.path, &file.file);
        Ok(false)
    }
}

impl AppendFile {
    fn open(path: PathBuf) -> io::Result<Self> {
        let file = open_append(&path)?;
        Ok(AppendFile {
            ends_incomplete: ends_incomplete(&path, &file),
            checked: Instant::now(),
            partial_size: None,
            path,
            file,
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.ends_incomplete {
            self.file.write_all(b"\n")?;
            self.ends_incomplete = false;
        }
        let written = self.file.write(bytes)?;
        let is_partial = bytes.get(..written).is_some_and(|bytes| !bytes.ends_with(b"\n"));
        self.partial_size = if is_partial {
            Some(self.file.metadata()?)
                .filter(|metadata| metadata.is_file())
                .map(|metadata| metadata.len())
        } else {
            None
        };
        Ok(written)
    }

    /// Whether the path still names the open file.
    #[cfg(unix)]
    fn is_current(&mut self) -> bool {
        use std::os::unix::fs::MetadataExt;

        let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
        let is_current = match (self.file.metadata(), std::fs::metadata(&self.path)) {
            (Ok(open), Ok(named)) => identity(open) == identity(named),
            _ => false,
        };
        if is_current {
            self.checked = Instant::now();
        }
        is_current
    }

    #[cfg(not(unix))]
    fn is_current(&mut self) -> bool {
        self.checked = Instant::now();
        self.path.exists()
    }
}

/// The name of the former file after a rotation.
fn former(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    PathBuf::from(name)
}

/// Opens a file for appending. A new file is readable by its owner only, as that of an API server.
fn open_append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Whether a file ends in an incomplete line, as after a full disk or a crash.
fn ends_incomplete(path: &Path, file: &File) -> bool {
    let is_empty = |metadata: std::fs::Metadata| !metadata.is_file() || metadata.len() == 0;
    if file.metadata().map_or(true, is_empty) {
        return false;
    }
    let last = || {
        let (mut file, mut last) = (File::open(path)?, [0]);
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        io::Result::Ok(last)
    };
    // If the file is not readable, an additional empty line is better than two events in one line.
    last().map_or(true, |last| last != *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(content: &str) -> (tempfile::TempDir, OpenTarget) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.log");
        std::fs::write(&path, content).unwrap();
        let sink = OpenTarget::open(Target::File(path)).unwrap();
        (directory, sink)
    }

    #[track_caller]
    fn check(directory: &tempfile::TempDir, expected: &str) {
        let found = std::fs::read_to_string(directory.path().join("audit.log")).unwrap();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_incomplete_line_is_ended_first() {
        for (content, expected) in [("", "{}\n"), ("{}\n", "{}\n{}\n"), ("{\"half", "{\"half\n{}\n")] {
            let (directory, mut sink) = opened(content);
            sink.write(b"{}\n").unwrap();
            check(&directory, expected);
        }
    }

    #[test]
    fn a_partial_line_is_continued_at_the_end() {
        let (directory, mut sink) = opened("");
        sink.write(b"{\"half").unwrap();
        assert!(sink.can_continue_line().unwrap());
        sink.write(b"\":1}\n").unwrap();
        assert!(sink.can_continue_line().unwrap());
        check(&directory, "{\"half\":1}\n");

        let path = directory.path().join("audit.log");
        for (truncated, expected) in [("", "{}\n"), ("rest", "rest\n{}\n")] {
            sink.write(b"{\"half").unwrap();
            std::fs::write(&path, truncated).unwrap();
            assert!(!sink.can_continue_line().unwrap());
            sink.write(b"{}\n").unwrap();
            check(&directory, expected);
        }
    }

    #[test]
    #[cfg(unix)]
    fn new_files_are_for_their_owner_only() {
        use std::os::unix::fs::PermissionsExt;

        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.log");
        drop(OpenTarget::open(Target::File(path.clone())).unwrap());
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    /// A link in the place of the former file is replaced, and nothing is written to where it leads.
    #[test]
    #[cfg(unix)]
    fn rotated_files_are_for_their_owner_only() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("outside"), "mine").unwrap();
        symlink("outside", path("audit.log.1")).unwrap();
        let mut sink = OpenTarget::open(Target::File(path("audit.log"))).unwrap();
        for _ in 0..2 {
            sink.make_room(3, 4).unwrap();
            sink.write(b"{}\n").unwrap();
        }
        for name in ["audit.log", "audit.log.1"] {
            let found = std::fs::symlink_metadata(path(name)).unwrap();
            let mode = found.permissions().mode() & 0o777;
            assert_eq!((found.is_file(), mode), (true, 0o600), "{name}");
        }
        assert_eq!(std::fs::read(path("outside")).unwrap(), b"mine");
    }
}
