//! How far a scan has come.

use std::time::Duration;

use crate::output::counted::counted;
use crate::review::progress::{Progress, rate_and_rest};

/// A line about progress, with the rate, the share and the time left.
pub(super) struct ScanProgress {
    line: Progress,
    /// How much there is of all inputs, if that is known: bytes, or objects.
    total: Option<u64>,
}

impl ScanProgress {
    pub(super) fn new(prints: bool, total: Option<u64>) -> Self {
        ScanProgress {
            line: Progress::new(prints),
            total: total.filter(|total| *total > 0),
        }
    }

    pub(super) fn clear(&mut self) {
        self.line.clear();
    }

    /// Shows how many objects were scanned, of which some are denied, and how much of the inputs was read.
    pub(super) fn show(&mut self, objects: u64, denied: u64, done: u64) {
        let total = self.total;
        self.line
            .show_line(|taken| line(objects, denied, done, total, taken));
    }
}

fn line(objects: u64, denied: u64, done: u64, total: Option<u64>, taken: Duration) -> String {
    let rest = rate_and_rest(objects, done, total, taken);
    format!(
        "{} scanned, {denied} denied{rest}",
        counted(objects, "object", "objects")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_the_share() {
        let taken = Duration::from_secs(10);
        assert_eq!(
            line(5000, 7, 250, Some(1000), taken),
            "5000 objects scanned, 7 denied, 500 a second, 25%, 30 s left"
        );
        for (done, total) in [(250, None), (0, Some(10)), (11, Some(10))] {
            assert_eq!(
                line(5000, 7, done, total, taken),
                "5000 objects scanned, 7 denied, 500 a second"
            );
        }
    }
}
