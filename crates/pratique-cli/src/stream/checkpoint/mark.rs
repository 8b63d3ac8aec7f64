//! Places of the inputs, and what the inputs were like.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use pratique_gotext::hex::encode_to_string;

#[cfg(feature = "kube")]
use pratique_kube::ListPosition;
use pratique_stream::Piece;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::CheckpointError;
use crate::exit::CliError;
use crate::input::open_regular;
use crate::input::{self, InputError, STDIN};
use crate::scan::scan_error::ScanError;

/// How much of the beginning and of the end of a file its digest is of, in bytes.
const DIGESTED: u64 = 64 << 10;

/// A place between two entries of the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InputMark {
    /// The file or collection, from 0.
    pub(crate) source: usize,
    pub(crate) at: MarkPlace,
    /// How much of all inputs comes before it: bytes of files, or objects of a cluster.
    pub(crate) done: u64,
}

/// A place within a file or collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum MarkPlace {
    Offset(usize),
    #[cfg(feature = "kube")]
    List(ListPosition),
}

/// A file as it is at a time, or a collection: what is read later is the same if this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileState {
    pub(crate) path: String,
    size: u64,
    modified: String,
    /// A digest of the beginning and the end of a file: sizes and times are easily the same by chance, or set.
    digest: String,
}

impl MarkPlace {
    /// Whether it is where a file or collection begins.
    pub(super) fn is_beginning(&self) -> bool {
        match self {
            MarkPlace::Offset(offset) => *offset == 0,
            #[cfg(feature = "kube")]
            MarkPlace::List(position) => *position == ListPosition::default(),
        }
    }
}

impl InputMark {
    /// The offset in a file, of which the mark may be; 0 in others that come after it.
    pub(crate) fn offset_in(from: Option<&InputMark>, source: usize) -> usize {
        match from {
            Some(InputMark {
                source: of,
                at: MarkPlace::Offset(offset),
                ..
            }) if *of == source => *offset,
            _ => 0,
        }
    }
}

/// The part of a file that was counted before a checkpoint, which is at an offset of the file: the pieces before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedPart<'f> {
    file: &'f str,
    offset: usize,
    is_over: bool,
}

impl<'f> CountedPart<'f> {
    /// What comes before an offset of a file; with `usize::MAX`, all of it.
    pub(crate) fn before(offset: usize, file: &'f str) -> Self {
        CountedPart {
            file,
            offset,
            is_over: offset == 0,
        }
    }

    /// Whether the next piece was counted. A checkpoint is where a piece begins, and so the first other piece begins there.
    ///
    /// # Errors
    /// The checkpoint is elsewhere: the file is another one.
    pub(crate) fn has(&mut self, piece: &Piece) -> Result<bool, InputError> {
        if self.is_over {
            return Ok(false);
        }
        let (start, end) = (
            piece.start.offset,
            piece.start.offset.saturating_add(piece.text.len()),
        );
        if start == self.offset {
            self.is_over = true;
            return Ok(false);
        }
        if start < self.offset && end <= self.offset {
            Ok(true)
        } else {
            Err(self.changed())
        }
    }

    /// Checks, at the end of the file, that it reaches to the checkpoint.
    ///
    /// # Errors
    /// It does not: what comes after the checkpoint would be passed over.
    pub(crate) fn end(self) -> Result<(), InputError> {
        if self.is_over || self.offset == usize::MAX {
            Ok(())
        } else {
            Err(self.changed())
        }
    }

    fn changed(&self) -> InputError {
        InputError::Cli(CliError::Checkpoint {
            path: self.file.to_owned(),
            error: CheckpointError::Changed(self.file.to_owned()),
        })
    }
}

impl FileState {
    /// A file as it is now.
    ///
    /// # Errors
    /// It can be read only once.
    pub(crate) fn read(file: &Path) -> Result<Self, CliError> {
        let path = input::format_path(file);
        if file == Path::new(STDIN) {
            return Err(CliError::Scan(ScanError::ShardOfPipe { path }));
        }
        let identity = match FileIdentity::read(file) {
            Ok(Some(identity)) => identity,
            Ok(None) => return Err(CliError::Scan(ScanError::ShardOfPipe { path })),
            // It is an error of the inputs, and another file once it can be read.
            Err(error) => {
                return Ok(FileState {
                    path,
                    size: 0,
                    modified: String::new(),
                    digest: error.kind().to_string(),
                });
            }
        };
        let since = identity.modified.duration_since(SystemTime::UNIX_EPOCH);
        Ok(FileState {
            path,
            size: identity.size,
            modified: since.map_or_else(|_| String::new(), |since| format!("{since:?}")),
            digest: identity.digest,
        })
    }

    /// Whether a place can be one of it: within a file, or in a collection.
    pub(super) fn has_place(&self, at: &MarkPlace) -> bool {
        match at {
            // How long the content of a compressed file is shows when it is read.
            MarkPlace::Offset(_) => !self.digest.is_empty(),
            #[cfg(feature = "kube")]
            MarkPlace::List(_) => self.digest.is_empty(),
        }
    }

    /// A collection of a cluster, of whose content nothing is known.
    #[cfg(feature = "kube")]
    pub(crate) fn of_collection(path: String) -> Self {
        FileState {
            path,
            size: 0,
            modified: String::new(),
            digest: String::new(),
        }
    }
}

/// What tells a file from another one of the same path.
struct FileIdentity {
    size: u64,
    modified: SystemTime,
    digest: String,
}

impl FileIdentity {
    /// That of a regular file; `None` of a pipe, a socket or a device.
    fn read(path: &Path) -> io::Result<Option<Self>> {
        let Some(mut file) = open_regular(path)? else {
            return Ok(None);
        };
        let metadata = file.metadata()?;
        Ok(Some(FileIdentity {
            size: metadata.len(),
            modified: metadata.modified()?,
            digest: digest_of_ends(&mut file, metadata.len())?,
        }))
    }
}

/// The digest of the beginning and the end of a file.
fn digest_of_ends(file: &mut File, size: u64) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut ends = Vec::new();
    file.by_ref().take(DIGESTED).read_to_end(&mut ends)?;
    hash.update(&ends);
    ends.clear();
    file.seek(SeekFrom::Start(size.saturating_sub(DIGESTED)))?;
    file.by_ref().take(DIGESTED).read_to_end(&mut ends)?;
    hash.update(&ends);
    Ok(format!("sha256:{}", encode_to_string(hash.finalize())))
}
