//! Where lines go: a file that may be renamed under the writer's hands, or standard output.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::log::Target;

/// How often a file's name is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// An open target.
pub(crate) enum Sink {
    /// Standard output.
    Output,
    /// A file.
    File(Appended),
}

/// A file that is appended to.
pub(crate) struct Appended {
    path: PathBuf,
    file: File,
    looked: Instant,
    /// Whether it ends in the midst of a line that is not continued.
    broken: bool,
    /// How long it was after a write that ended in the midst of a line.
    within: Option<u64>,
}

impl Sink {
    pub(crate) fn open(target: Target) -> io::Result<Self> {
        match target {
            Target::Stdout => Ok(Sink::Output),
            Target::File(path) => Appended::open(path).map(Sink::File),
        }
    }

    /// Writes some of it, at least one byte.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match self {
            Sink::Output => {
                let mut output = io::stdout().lock();
                output
                    .write(bytes)
                    .and_then(|written| output.flush().map(|()| written))
            }
            Sink::File(own) => own.write(bytes),
        };
        match written {
            Ok(0) => Err(io::ErrorKind::WriteZero.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            written => written,
        }
    }

    /// Goes over to a new file if the old one does not have its name any more, or if told to. Tells whether it did.
    pub(crate) fn refresh(&mut self, told: bool) -> io::Result<bool> {
        let Sink::File(own) = self else { return Ok(false) };
        if !told && (own.looked.elapsed() < LOOK || own.has_its_name()) {
            return Ok(false);
        }
        *own = Appended::open(own.path.clone())?;
        Ok(true)
    }

    /// Whether the rest of a line that was written in part may follow. If not, what is there of it is ended before what
    /// comes next: the file was truncated meanwhile, or something else was written to it.
    pub(crate) fn continues(&mut self) -> io::Result<bool> {
        let Sink::File(own) = self else { return Ok(true) };
        let Some(within) = own.within else { return Ok(true) };
        if own.file.metadata()?.len() == within {
            return Ok(true);
        }
        own.within = None;
        own.broken = is_broken(&own.path, &own.file);
        Ok(false)
    }
}

impl Appended {
    fn open(path: PathBuf) -> io::Result<Self> {
        let file = append(&path)?;
        Ok(Appended {
            broken: is_broken(&path, &file),
            looked: Instant::now(),
            within: None,
            path,
            file,
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.broken {
            self.file.write_all(b"\n")?;
            self.broken = false;
        }
        let written = self.file.write(bytes)?;
        let ends_within = bytes.get(..written).is_some_and(|bytes| !bytes.ends_with(b"\n"));
        self.within = match ends_within {
            true => Some(self.file.metadata()?)
                .filter(|own| own.is_file())
                .map(|own| own.len()),
            false => None,
        };
        Ok(written)
    }

    #[cfg(unix)]
    fn has_its_name(&mut self) -> bool {
        use std::os::unix::fs::MetadataExt;

        let place = |own: std::fs::Metadata| (own.dev(), own.ino());
        let same = match (self.file.metadata(), std::fs::metadata(&self.path)) {
            (Ok(open), Ok(named)) => place(open) == place(named),
            _ => false,
        };
        if same {
            self.looked = Instant::now();
        }
        same
    }

    #[cfg(not(unix))]
    fn has_its_name(&mut self) -> bool {
        self.looked = Instant::now();
        self.path.exists()
    }
}

/// Opens a file at its end. One that is made is for its owner only, as an API server's is: events tell who does what.
fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Whether a file ends in the midst of a line, as after a full disk or a crash.
fn is_broken(path: &Path, file: &File) -> bool {
    let is_empty = |own: std::fs::Metadata| !own.is_file() || own.len() == 0;
    if file.metadata().map_or(true, is_empty) {
        return false;
    }
    let last = || {
        let (mut file, mut last) = (File::open(path)?, [0]);
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        io::Result::Ok(last)
    };
    // Where it may not be read, an empty line does less harm than two lines in one.
    last().map_or(true, |last| last != *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(content: &str) -> (tempfile::TempDir, Sink) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.log");
        std::fs::write(&path, content).unwrap();
        let sink = Sink::open(Target::File(path)).unwrap();
        (directory, sink)
    }

    #[track_caller]
    fn check(directory: &tempfile::TempDir, expected: &str) {
        let found = std::fs::read_to_string(directory.path().join("audit.log")).unwrap();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_broken_line_is_ended_first() {
        for (content, expected) in [("", "{}\n"), ("{}\n", "{}\n{}\n"), ("{\"half", "{\"half\n{}\n")] {
            let (directory, mut sink) = opened(content);
            sink.write(b"{}\n").unwrap();
            check(&directory, expected);
        }
    }

    #[test]
    fn half_a_line_is_continued_where_it_is_the_end() {
        let (directory, mut sink) = opened("");
        sink.write(b"{\"half").unwrap();
        assert!(sink.continues().unwrap());
        sink.write(b"\":1}\n").unwrap();
        assert!(sink.continues().unwrap());
        check(&directory, "{\"half\":1}\n");

        let path = directory.path().join("audit.log");
        for (truncated, expected) in [("", "{}\n"), ("rest", "rest\n{}\n")] {
            sink.write(b"{\"half").unwrap();
            std::fs::write(&path, truncated).unwrap();
            assert!(!sink.continues().unwrap());
            sink.write(b"{}\n").unwrap();
            check(&directory, expected);
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_file_that_is_made_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;

        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.log");
        drop(Sink::open(Target::File(path.clone())).unwrap());
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
