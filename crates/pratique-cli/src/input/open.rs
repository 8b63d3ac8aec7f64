//! Opens inputs as streams.

use std::fs::{File, FileType};
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use pratique_stream::Utf8Reader;

use super::{STDIN, columns, open_file, open_regular};
use crate::claimed_outputs::permit_stdin;

/// The maximum number of bytes that are read from a device: some never end.
const DEVICE: u64 = 16 << 20;

/// The beginning of gzip files.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A stream of objects.
pub(crate) struct ObjectStream {
    pub(crate) input: Box<dyn Read + Send>,
    /// Whether it can be opened again.
    pub(crate) is_file: bool,
    /// Whether it is decompressed or converted while it is read.
    pub(crate) is_compressed: bool,
}

/// Opens a file, a pipe, a socket or a device; `-` is standard input. What is compressed with gzip is decompressed, and of files
/// of columns the objects are read.
pub(crate) fn open(path: &Path) -> io::Result<ObjectStream> {
    if let Some(lines) = columns::open(path)? {
        return Ok(ObjectStream {
            input: Box::new(lines),
            is_file: true,
            is_compressed: true,
        });
    }
    let (file, is_file) = raw(path)?;
    decompressed(file, is_file)
}

/// Opens a file once more, which was a regular one before.
pub(crate) fn reopen(path: &Path) -> io::Result<File> {
    let not_regular = || io::Error::new(ErrorKind::InvalidInput, "not a regular file any more");
    open_regular(path)?.ok_or_else(not_regular)
}

/// Opens a path as it is, and gives whether it is a file.
pub(super) fn raw(path: &Path) -> io::Result<(impl Read + Send + 'static, bool)> {
    let (file, is_file) = if path == Path::new(STDIN) {
        permit_stdin()?;
        (stdin()?, false)
    } else {
        match open_regular(path)? {
            Some(file) => (file, true),
            // Who names a pipe wants it to be waited for.
            None => (open_file(path)?, false),
        }
    };
    let limit = if is_device(file.metadata()?.file_type()) {
        DEVICE
    } else {
        u64::MAX
    };
    Ok((LimitedFile(file, limit), is_file))
}

/// A stream, decompressed if it is compressed with gzip, and as UTF-8 if its byte order mark is that of another encoding.
pub(super) fn decompressed(mut file: impl Read + Send + 'static, is_file: bool) -> io::Result<ObjectStream> {
    let mut head = Vec::with_capacity(GZIP.len());
    file.by_ref().take(GZIP.len() as u64).read_to_end(&mut head)?;
    let is_compressed = is_compressed(&head);
    let whole = Cursor::new(head).chain(file);
    let input: Box<dyn Read + Send> = if is_compressed {
        Box::new(plain(BufReader::new(whole)))
    } else {
        Box::new(whole)
    };
    let input = Utf8Reader::new(input)?;
    Ok(ObjectStream {
        is_file,
        is_compressed: is_compressed || input.is_converted(),
        input: Box::new(input),
    })
}

/// Whether content is compressed with gzip.
pub(super) fn is_compressed(content: &[u8]) -> bool {
    content.starts_with(&GZIP)
}

/// The plain content of a gzip file, which may have several members.
pub(super) fn plain<R: BufRead>(compressed: R) -> MultiGzDecoder<R> {
    MultiGzDecoder::new(compressed)
}

#[cfg(unix)]
fn stdin() -> io::Result<File> {
    use std::os::fd::AsFd;

    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn stdin() -> io::Result<File> {
    use std::os::windows::io::AsHandle;

    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}

#[cfg(unix)]
fn is_device(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;

    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: FileType) -> bool {
    false
}

/// A file of which no more than a number of bytes are read.
struct LimitedFile(File, u64);

impl Read for LimitedFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(into)?;
        self.1 = self.1.saturating_sub(count as u64);
        if self.1 == 0 {
            let text = format!("a device, of which no more than {} MiB are read", DEVICE >> 20);
            return Err(io::Error::new(ErrorKind::InvalidInput, text));
        }
        Ok(count)
    }
}
