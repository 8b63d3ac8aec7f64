//! Reads whole what the user names, up to a limit: files, and pipes such as `<(command)`.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use pratique_stream::to_utf8;

use super::open::{is_compressed, open, plain};
use super::{STDIN, read_regular};
use crate::project::permit;

/// Reads a file, a pipe, a socket or a device of at most `limit` bytes; `-` is standard input. A pipe is waited for. What is
/// compressed with gzip is decompressed, and the limit is that of its content.
///
/// # Errors
/// It cannot be read; it is a directory; it has more ([`ErrorKind::FileTooLarge`]), or is a device that has more than any
/// input.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    if path != Path::new(STDIN) {
        // Nothing is told of what a link leads to that is not read.
        permit(path)?;
        let metadata = fs::metadata(path)?;
        if metadata.is_file() || metadata.is_dir() {
            return plain_content(read_regular(path, limit)?, limit);
        }
    }
    bounded(open(path)?.input, limit)
}

/// Content, decompressed if it is compressed with gzip, and as UTF-8 if its byte order mark is that of another encoding: at most
/// `limit` bytes before that.
pub(crate) fn plain_content(content: Vec<u8>, limit: u64) -> io::Result<Vec<u8>> {
    let content = if is_compressed(&content) {
        bounded(plain(content.as_slice()), limit)?
    } else {
        content
    };
    Ok(to_utf8(content))
}

fn bounded(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut content)?;
    match u64::try_from(content.len()) {
        Ok(length) if length <= limit => Ok(content),
        _ => Err(io::Error::new(
            ErrorKind::FileTooLarge,
            format!("larger than {} MiB", limit >> 20),
        )),
    }
}
