//! Reads what the user names, up to a limit: files, and pipes such as `<(command)`.

use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use pratique_manifest::read_regular;

use super::STDIN;

/// The maximum number of bytes that are read from a device: some never end.
const DEVICE: u64 = 16 << 20;

/// Reads a file, a pipe, a socket or a device of at most `limit` bytes; `-` is standard input. A pipe is waited for.
///
/// # Errors
/// It cannot be read; it is a directory; it has more ([`ErrorKind::FileTooLarge`]), or is a device that has more than any
/// input.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    if path == Path::new(STDIN) {
        return read_stdin(limit);
    }
    let found = fs::metadata(path)?;
    if found.is_file() || found.is_dir() {
        return read_regular(path, limit);
    }
    read_open(File::open(path)?, found.file_type(), limit)
}

#[cfg(unix)]
fn read_stdin(limit: u64) -> io::Result<Vec<u8>> {
    use std::os::fd::AsFd;

    let stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let kind = stdin.metadata()?.file_type();
    read_open(stdin, kind, limit)
}

#[cfg(not(unix))]
fn read_stdin(limit: u64) -> io::Result<Vec<u8>> {
    bounded(io::stdin().lock(), limit)
}

fn read_open(file: File, kind: FileType, limit: u64) -> io::Result<Vec<u8>> {
    if !is_device(kind) {
        return bounded(file, limit);
    }
    bounded(file, limit.min(DEVICE)).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => {
            let text = format!("a device, of which no more than {} MiB are read", DEVICE >> 20);
            io::Error::new(ErrorKind::InvalidInput, text)
        }
        _ => error,
    })
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

#[cfg(unix)]
pub(super) fn is_device(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;

    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
pub(super) fn is_device(_: FileType) -> bool {
    false
}
