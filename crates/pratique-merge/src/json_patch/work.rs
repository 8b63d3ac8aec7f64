//! Whether to go on: asked after so much work.

use super::Error;

/// How much is done between two looks: a fraction of a millisecond.
const BETWEEN_LOOKS: usize = 32 * 1024;

/// What an operation costs beside the bytes that it moves, compares or copies.
const OPERATION: usize = 64;

/// The work that was done since the caller was asked whether to go on.
pub(super) struct Work<'i> {
    interrupted: &'i dyn Fn() -> bool,
    since: usize,
}

impl<'i> Work<'i> {
    pub(super) fn new(interrupted: &'i dyn Fn() -> bool) -> Self {
        Work {
            interrupted,
            since: 0,
        }
    }

    /// Counts an operation and as many bytes.
    ///
    /// # Errors
    /// The caller interrupts the patch.
    pub(super) fn count(&mut self, bytes: usize) -> Result<(), Error> {
        self.since += OPERATION + bytes;
        if self.since < BETWEEN_LOOKS {
            return Ok(());
        }
        self.since = 0;
        match (self.interrupted)() {
            true => Err(Error::Interrupted),
            false => Ok(()),
        }
    }
}
