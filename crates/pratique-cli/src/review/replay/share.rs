//! How much of the inputs was read.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::review::read::Inputs;

/// How much of the inputs was read: whoever reads says so, and whoever counts shows it.
pub(in crate::review) struct ReadShare {
    /// The bytes of all inputs, if these are files.
    total: Option<u64>,
    done: AtomicU64,
}

impl ReadShare {
    /// Nothing of the inputs yet.
    pub(in crate::review) fn of(inputs: &Inputs) -> Arc<Self> {
        let files = inputs.all().iter().flat_map(|input| &input.files);
        let sizes = files.map(|file| {
            let found = fs::metadata(file).ok().filter(fs::Metadata::is_file);
            found.map(|found| found.len())
        });
        Arc::new(ReadShare {
            total: sizes.sum(),
            done: AtomicU64::new(0),
        })
    }

    /// So many more bytes were read.
    pub(in crate::review) fn read(&self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The rate of what was counted in a time, the share that was read, and the time left: `, 500 a second, 25%, 30 s left`.
    pub(in crate::review) fn line(&self, count: u64, taken: Duration) -> String {
        line(count, self.done.load(Ordering::Relaxed), self.total, taken)
    }
}

fn line(count: u64, done: u64, total: Option<u64>, taken: Duration) -> String {
    let milliseconds = u64::try_from(taken.as_millis()).unwrap_or(u64::MAX).max(1);
    let rate = count.saturating_mul(1000) / milliseconds;
    let left = match total {
        // What is compressed has more bytes than its file.
        Some(total) if done > 0 && done <= total => {
            let share = done.saturating_mul(100) / total;
            let left = u128::from(milliseconds) * u128::from(total - done) / u128::from(done) / 1000;
            format!(", {share}%, {left} s left")
        }
        _ => String::new(),
    };
    format!(", {rate} a second{left}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_the_share() {
        let taken = Duration::from_secs(10);
        assert_eq!(
            line(5000, 250, Some(1000), taken),
            ", 500 a second, 25%, 30 s left"
        );
        for (done, total) in [(250, None), (0, Some(10)), (11, Some(10))] {
            assert_eq!(line(5000, done, total, taken), ", 500 a second");
        }
    }
}
