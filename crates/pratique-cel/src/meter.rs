//! How long-running code accounts for what it does.

use crate::context::Context;
use crate::error::Fault;

/// Accounts for work and memory, on behalf of an evaluation or of nothing. An error is a stop.
pub(crate) trait Meter {
    /// So many units of [work](Context::work).
    fn work(&self, units: u64) -> Result<(), Fault>;

    /// So many bytes that are about to be [held](Context::reserve).
    fn reserve(&self, bytes: usize) -> Result<(), Fault>;
}

impl Meter for Context<'_> {
    #[inline]
    fn work(&self, units: u64) -> Result<(), Fault> {
        Context::work(self, units)
    }

    fn reserve(&self, bytes: usize) -> Result<(), Fault> {
        Context::reserve(self, bytes)
    }
}

/// No evaluation: everything takes as long as it takes.
pub(crate) struct Unmetered;

impl Meter for Unmetered {
    #[inline]
    fn work(&self, _: u64) -> Result<(), Fault> {
        Ok(())
    }

    fn reserve(&self, _: usize) -> Result<(), Fault> {
        Ok(())
    }
}
