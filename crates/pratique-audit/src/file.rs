//! Where lines go: a file that may be renamed under the writer's hands, or standard output.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
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
}

impl Sink {
    pub(crate) fn open(target: Target) -> io::Result<Self> {
        match target {
            Target::Stdout => Ok(Sink::Output),
            Target::File(path) => {
                let file = append(&path)?;
                Ok(Sink::File(Appended {
                    path,
                    file,
                    looked: Instant::now(),
                }))
            }
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
            Sink::File(own) => own.file.write(bytes),
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
        own.file = append(&own.path)?;
        own.looked = Instant::now();
        Ok(true)
    }
}

impl Appended {
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

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(path)
}
