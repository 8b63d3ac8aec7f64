//! Where results and reports are written to, and read from: files, and objects of S3-compatible stores.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use pratique_manifest::path_text;
use pratique_s3::{ObjectStore, StoreLocation, StoreSettings};
use tempfile::NamedTempFile;

use crate::claimed_outputs;
use crate::exit::CliError;
use crate::project::permit;

/// A file or object that is written part by part, and visible to readers once it is finished.
pub(crate) enum OutputDestination {
    /// Standard output.
    Output(BufWriter<io::Stdout>),
    /// A file that has another name until it is finished.
    File(UnfinishedFile),
    /// A path that is no regular file, such as a pipe.
    Special(BufWriter<File>),
    /// An object of a store.
    Object(Box<pratique_s3::ObjectWriter>),
}

/// A file that is not finished; dropped, it is removed.
///
/// Until then it has a random name beside its own, and is one that was not there: whoever can put a link into the directory
/// beforehand would otherwise choose what is written to.
pub(crate) struct UnfinishedFile {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
}

/// Who may read a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileReaders {
    /// Those whom the mask of the process lets.
    Usual,
    /// Its owner, as it can hold secrets.
    Owner,
}

impl OutputDestination {
    /// Standard output, which is no terminal.
    pub(crate) fn output(format: &'static str) -> Result<Self, CliError> {
        if io::stdout().is_terminal() {
            Err(CliError::NotText { format })
        } else {
            Ok(OutputDestination::Output(BufWriter::new(io::stdout())))
        }
    }

    /// A file, or an object that is named like `s3://bucket/key`.
    pub(crate) fn open(path: &Path, readers: FileReaders) -> Result<Self, CliError> {
        if let Some(location) = location(path)? {
            let store = store(&location)?;
            return Ok(OutputDestination::Object(Box::new(store.writer(location))));
        }
        let opened = if is_special(path) {
            permit(path)
                .and_then(|()| File::create(path))
                .map(|file| OutputDestination::Special(BufWriter::new(file)))
        } else {
            UnfinishedFile::create(path, readers).map(OutputDestination::File)
        };
        opened.map_err(|error| unwritten(path, error))
    }

    /// Makes it visible to readers.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            OutputDestination::Output(mut output) => output.flush(),
            OutputDestination::Special(mut file) => file.flush(),
            OutputDestination::File(file) => file.finish(),
            OutputDestination::Object(object) => Ok(object.finish()?),
        }
    }
}

impl Write for OutputDestination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            OutputDestination::Output(output) => output.write(bytes),
            OutputDestination::Special(file) => file.write(bytes),
            OutputDestination::File(file) => file.file.write(bytes),
            OutputDestination::Object(object) => object.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            OutputDestination::Output(output) => output.flush(),
            OutputDestination::Special(file) => file.flush(),
            OutputDestination::File(file) => file.file.flush(),
            OutputDestination::Object(object) => object.flush(),
        }
    }
}

impl UnfinishedFile {
    fn create(path: &Path, readers: FileReaders) -> io::Result<Self> {
        permit(path)?;
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".pratique-").suffix(".tmp");
        #[cfg(not(unix))]
        let _ = readers;
        // Its own default is the owner alone.
        #[cfg(unix)]
        if readers == FileReaders::Usual {
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        let file = builder.tempfile_in(directory.unwrap_or(Path::new(".")))?;
        Ok(UnfinishedFile {
            file: BufWriter::new(file),
            path: path.to_owned(),
        })
    }

    fn finish(self) -> io::Result<()> {
        claimed_outputs::permit_replacing(&self.path)?;
        let file = self.file.into_inner().map_err(|error| error.into_error())?;
        file.persist(&self.path).map(drop).map_err(|error| error.error)
    }
}

/// Claims places before a long run, and verifies that they can be written to, as far as that is known before there is something.
pub(crate) fn verify<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<(), CliError> {
    for path in paths {
        claimed_outputs::claim(path).map_err(|error| unwritten(path, error))?;
        let verified = match location(path)? {
            Some(location) => store(&location)?.verify(&location).map_err(io::Error::from),
            None if is_special(path) => Ok(()),
            None => UnfinishedFile::create(path, FileReaders::Owner).map(drop),
        };
        verified.map_err(|error| unwritten(path, error))?;
    }
    Ok(())
}

/// Writes a text as a whole, to a file or an object.
pub(crate) fn write(path: &Path, text: &str, readers: FileReaders) -> Result<(), CliError> {
    let mut destination = OutputDestination::open(path, readers)?;
    let written = destination.write_all(text.as_bytes());
    written
        .and_then(|()| destination.finish())
        .map_err(|error| unwritten(path, error))
}

/// Why something is not written.
pub(crate) fn unwritten(path: &Path, error: io::Error) -> CliError {
    let path = path_text(path);
    match error.kind() {
        ErrorKind::BrokenPipe => CliError::BrokenPipe,
        _ if StoreLocation::is_meant(&path) => CliError::Store {
            place: path,
            why: error.to_string(),
        },
        _ => CliError::Read { path, error },
    }
}

/// The content of an object, which has no more than so many MiB; `None` if a path names a file.
pub(crate) fn read_object(path: &Path, mebibytes: u32) -> Result<Option<Vec<u8>>, CliError> {
    let Some(location) = location(path)? else {
        return Ok(None);
    };
    let most = usize::try_from(u64::from(mebibytes) << 20).unwrap_or(usize::MAX);
    let content = store(&location)?.read(&location, most);
    content.map(Some).map_err(|error| CliError::Store {
        place: location.to_string(),
        why: error.to_string(),
    })
}

/// The object that a path names.
fn location(path: &Path) -> Result<Option<StoreLocation>, CliError> {
    let Some(text) = path.to_str().filter(|text| StoreLocation::is_meant(text)) else {
        return Ok(None);
    };
    text.parse().map(Some).map_err(|error| CliError::Store {
        place: text.to_owned(),
        why: format!("it names no object: {error}"),
    })
}

fn store(location: &StoreLocation) -> Result<ObjectStore, CliError> {
    let failed = |why: String| CliError::Store {
        place: location.to_string(),
        why,
    };
    let settings = StoreSettings::of_environment().map_err(|error| failed(error.to_string()))?;
    ObjectStore::new(settings).map_err(|error| failed(error.to_string()))
}

/// Whether a path exists and is no regular file: it is written in place.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
}
