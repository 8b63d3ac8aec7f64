//! Accounting for the work and memory of patterns and searches.

use super::error::Error;

/// Accounts for work and memory on behalf of somebody who may stop it.
pub trait Meter {
    /// Why it was stopped. A pattern is compiled again for long texts: its error, which never comes up, becomes one.
    type Stop: From<Error>;

    /// So many units of work: about a nanosecond each, in which a byte is read.
    ///
    /// # Errors
    /// It is stopped.
    fn work(&self, units: u64) -> Result<(), Self::Stop>;

    /// So many bytes that are about to be held.
    ///
    /// # Errors
    /// It is stopped.
    fn reserve(&self, bytes: usize) -> Result<(), Self::Stop>;
}

/// Stops nothing: everything takes as long as it takes.
pub(super) struct NoMeter;

impl Meter for NoMeter {
    type Stop = Error;

    #[inline]
    fn work(&self, _: u64) -> Result<(), Error> {
        Ok(())
    }

    fn reserve(&self, _: usize) -> Result<(), Error> {
        Ok(())
    }
}
