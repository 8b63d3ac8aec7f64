//! How much of the inputs was read.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::review::progress::rate_and_rest;
use crate::review::read::Inputs;

/// How much of the inputs was read: the thread that reads counts, the one that collects shows it.
pub(in crate::review) struct ReadShare {
    /// The bytes of all inputs, if these are files.
    total: Option<u64>,
    done: AtomicU64,
}

impl ReadShare {
    /// Nothing of the inputs yet.
    pub(in crate::review) fn of(inputs: &Inputs) -> Arc<Self> {
        let sizes = inputs.files().map(|file| {
            let found = fs::metadata(file).ok().filter(fs::Metadata::is_file);
            found.map(|found| found.len())
        });
        Arc::new(ReadShare {
            total: sizes.sum(),
            done: AtomicU64::new(0),
        })
    }

    /// So many more bytes were read.
    pub(in crate::review) fn read(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }

    /// How many bytes were read.
    pub(in crate::review) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// The rate of what was counted in a time, the share that was read, and the time left: `, 500 a second, 25%, 30 s left`.
    pub(in crate::review) fn line(&self, count: u64, taken: Duration) -> String {
        rate_and_rest(count, self.done(), self.total, taken)
    }
}
