//! Copies of inputs that can be read only once, for those who read them twice.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek as _};
use std::path::Path;

use super::open::{ObjectStream, decompressed, raw};

/// How much is copied of an input, in bytes, as it is given.
pub(crate) const LARGEST: u64 = 4 << 30;

/// A copy of a pipe, or of standard input, in a file without a name: nothing is left of it when the process ends.
pub(crate) struct SpooledPipe(File);

impl SpooledPipe {
    /// Copies an input.
    ///
    /// # Errors
    /// It cannot be read, or the copy not be written, or the input is larger than `limit`.
    pub(crate) fn copy_input(path: &Path, limit: u64) -> io::Result<Self> {
        let (input, _) = raw(path)?;
        SpooledPipe::copy(input, limit)
    }

    /// Copies what is read of something that is no file.
    ///
    /// # Errors
    /// As of an input.
    pub(crate) fn copy(input: impl Read, limit: u64) -> io::Result<Self> {
        let mut file = tempfile::tempfile()?;
        let copied = io::copy(&mut input.take(limit.saturating_add(1)), &mut file)?;
        if copied > limit {
            Err(ErrorKind::FileTooLarge.into())
        } else {
            Ok(SpooledPipe(file))
        }
    }

    /// Opens the copy, of which one reader can read at a time.
    pub(crate) fn open(&self) -> io::Result<ObjectStream> {
        let mut file = self.0.try_clone()?;
        file.rewind()?;
        decompressed(file, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_read_again() {
        let spool = SpooledPipe::copy(&b"kind: Pod\n"[..], 10).unwrap();
        for _ in 0..2 {
            let mut text = String::new();
            spool.open().unwrap().input.read_to_string(&mut text).unwrap();
            assert_eq!(text, "kind: Pod\n");
        }
    }

    #[test]
    fn copies_have_a_limit() {
        let copied = SpooledPipe::copy(&b"kind: Pod\n"[..], 9).map(drop);
        assert_eq!(copied.unwrap_err().kind(), ErrorKind::FileTooLarge);
        // An input that never ends.
        let copied = SpooledPipe::copy(io::repeat(b'a'), 1 << 16).map(drop);
        assert_eq!(copied.unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
