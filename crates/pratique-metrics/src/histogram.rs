//! Lock-free histograms of durations.
//!
//! The histogram of `prometheus-client` takes a lock for each observation, and cannot be read, as the text format needs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::snapshot::SampleDistribution;

/// The bounds for steps and controllers.
pub(crate) const STEP: &[f64] = &[0.005, 0.025, 0.1, 0.5, 1.0, 2.5];
/// The bounds for webhook calls.
pub(crate) const WEBHOOK: &[f64] = &[0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10.0, 25.0];
/// The bounds for match conditions.
pub(crate) const CONDITION: &[f64] = &[0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
/// The bounds for policy expressions.
pub(crate) const POLICY: &[f64] = &[0.000_000_5, 0.001, 0.01, 0.1, 1.0];
/// The bounds for CEL compilation and evaluation.
pub(crate) const CEL: &[f64] = &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// A histogram of durations.
#[derive(Debug)]
pub(crate) struct DurationHistogram {
    bounds: &'static [f64],
    /// One count for each bound, and one for durations beyond the last bound.
    counts: Box<[AtomicU64]>,
    nanoseconds: AtomicU64,
}

impl DurationHistogram {
    pub(crate) fn new(bounds: &'static [f64]) -> Self {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        DurationHistogram {
            bounds,
            counts,
            nanoseconds: AtomicU64::new(0),
        }
    }

    pub(crate) fn observe(&self, elapsed: Duration) {
        self.observe_each(elapsed, 1);
    }

    /// Observes the same duration `times` times.
    pub(crate) fn observe_each(&self, elapsed: Duration, times: u64) {
        let seconds = elapsed.as_secs_f64();
        let bucket = self.bounds.iter().take_while(|bound| seconds > **bound).count();
        if let Some(count) = self.counts.get(bucket) {
            count.fetch_add(times, Ordering::Relaxed);
        }
        let nanoseconds = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds
            .fetch_add(nanoseconds.saturating_mul(times), Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> SampleDistribution {
        let bounds = self.bounds.iter().copied().chain([f64::INFINITY]);
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed));
        let buckets: Vec<_> = bounds.zip(counts).collect();
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)).as_secs_f64();
        SampleDistribution { buckets, sum, count }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{CONDITION, DurationHistogram};

    #[test]
    fn bounds_are_inclusive() {
        let histogram = DurationHistogram::new(CONDITION);
        for millis in [0, 1, 5, 6, 250, 251, 9_000] {
            histogram.observe(Duration::from_millis(millis));
        }
        let read = histogram.read();
        let counts: Vec<u64> = read.buckets.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [2, 1, 1, 0, 0, 0, 1, 2]);
        assert_eq!((read.count, read.sum), (7, 9.513));
    }

    #[test]
    fn bounds_of_quantiles() {
        let histogram = DurationHistogram::new(CONDITION);
        assert!(histogram.read().bound_of(0.5).is_nan());
        (0..99).for_each(|_| histogram.observe(Duration::from_millis(1)));
        histogram.observe(Duration::from_millis(200));
        let read = histogram.read();
        assert_eq!(
            (read.bound_of(0.5), read.bound_of(0.99), read.bound_of(1.0)),
            (0.001, 0.001, 0.2)
        );
    }
}
