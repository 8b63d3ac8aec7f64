//! Objects in files of columns: Parquet and Arrow IPC.

use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use pratique_arrow::{JsonLines, OpenError, has_columns};

use super::open_regular;

/// How many bytes identify a format.
const HEAD: u64 = 8;

/// The objects of a regular file of columns, as lines of JSON; `None` of any other file.
pub(super) fn open(path: &Path) -> io::Result<Option<JsonLines>> {
    // What cannot be opened is reported by who reads it otherwise.
    let Ok(Some(mut file)) = open_regular(path) else {
        return Ok(None);
    };
    let mut head = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut head)?;
    if !has_columns(&head) {
        return Ok(None);
    }
    match JsonLines::open(file) {
        Ok(lines) => Ok(Some(lines)),
        Err(OpenError::Read(error)) => Err(error),
        Err(error) => Err(io::Error::new(ErrorKind::InvalidData, error)),
    }
}
