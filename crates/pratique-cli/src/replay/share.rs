//! How much of the inputs was read.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::stream::progress::rate_and_rest;
use crate::stream::read::UserInputs;

/// How much of the inputs was read: the thread that reads counts, the one that collects shows it.
pub(crate) struct ReadShare {
    /// How much there is of all inputs, if that is known: bytes of files, or objects of a cluster.
    total: Option<u64>,
    done: AtomicU64,
}

impl ReadShare {
    /// The share of inputs of which nothing was read yet.
    pub(crate) fn new(inputs: &UserInputs) -> Arc<Self> {
        let sizes = inputs.files().map(|file| {
            let metadata = fs::metadata(file).ok().filter(fs::Metadata::is_file);
            metadata.map(|file_metadata| file_metadata.len())
        });
        ReadShare::of_total(sizes.sum())
    }

    /// The share of a total, if that is known, of which nothing was read yet.
    pub(crate) fn of_total(total: Option<u64>) -> Arc<Self> {
        Arc::new(ReadShare {
            total,
            done: AtomicU64::new(0),
        })
    }

    /// So much more was read.
    pub(crate) fn read(&self, more: u64) {
        self.done.fetch_add(more, Ordering::Relaxed);
    }

    /// How much was read.
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// The rate of what was counted in a time, the share that was read, and the time left: `, 500 a second, 25%, 30 s left`.
    pub(crate) fn line(&self, count: u64, duration: Duration) -> String {
        rate_and_rest(count, self.done(), self.total, duration)
    }
}
