//! Places of the inputs, and what the inputs were like.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

#[cfg(feature = "kube")]
use pratique_kube::ListPosition;
use pratique_stream::Piece;
use serde::{Deserialize, Serialize};

use super::CheckpointError;
use crate::exit::CliError;
use crate::input::{self, InputError, STDIN};

/// A place between two entries of the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::review) struct Mark {
    /// The file or collection, from 0.
    pub(in crate::review) source: usize,
    pub(in crate::review) at: At,
    /// How much of all inputs comes before it: bytes of files, or objects of a cluster.
    pub(in crate::review) done: u64,
}

/// A place within a file or collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::review) enum At {
    Offset(usize),
    #[cfg(feature = "kube")]
    List(ListPosition),
}

/// A file as it is at a time, or a collection: what is read later is the same if this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::review) struct FileState {
    pub(in crate::review) path: String,
    size: u64,
    modified: String,
}

impl Mark {
    /// The offset in a file, of which the mark may be; 0 in others that come after it.
    pub(in crate::review) fn offset_in(from: Option<&Mark>, source: usize) -> usize {
        match from {
            Some(Mark {
                source: of,
                at: At::Offset(offset),
                ..
            }) if *of == source => *offset,
            _ => 0,
        }
    }
}

/// Whether a piece of a file was counted before a checkpoint, which is at an offset of the file.
///
/// # Errors
/// The checkpoint is within the piece: the file is another one.
pub(in crate::review) fn is_counted(piece: &Piece, offset: usize, file: &str) -> Result<bool, InputError> {
    if piece.start.offset >= offset {
        return Ok(false);
    }
    match piece.start.offset.saturating_add(piece.text.len()) <= offset {
        true => Ok(true),
        false => Err(InputError::Cli(CliError::Checkpoint {
            path: file.to_owned(),
            error: CheckpointError::Changed(file.to_owned()),
        })),
    }
}

impl FileState {
    /// A file as it is now.
    ///
    /// # Errors
    /// It can be read only once, or not at all.
    pub(in crate::review) fn of(file: &Path) -> Result<Self, CliError> {
        let path = input::shown(file);
        if file == Path::new(STDIN) {
            return Err(CliError::ShardOfPipe { path });
        }
        let found = fs::metadata(file).and_then(|found| Ok((found.modified()?, found)));
        let (modified, found) = found.map_err(|error| CliError::unread(&path, error))?;
        if !found.is_file() {
            return Err(CliError::ShardOfPipe { path });
        }
        let since = modified.duration_since(SystemTime::UNIX_EPOCH);
        Ok(FileState {
            path,
            size: found.len(),
            modified: since.map_or_else(|_| String::new(), |since| format!("{since:?}")),
        })
    }

    /// A collection of a cluster, of whose content nothing is known.
    #[cfg(feature = "kube")]
    pub(in crate::review) fn of_collection(path: String) -> Self {
        FileState {
            path,
            size: 0,
            modified: String::new(),
        }
    }
}
