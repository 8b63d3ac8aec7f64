//! Quantiles of the durations of the last five hours.
//!
//! Each hour has a histogram; the oldest is cleared when a new hour begins.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::snapshot::SampleQuantiles;

const SLOTS: usize = 5;
const SLOT: Duration = Duration::from_hours(1);
const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];
/// The range of the histograms: from a microsecond to a quarter of an hour, with two significant digits.
const LOWEST: u64 = 1_000;
const HIGHEST: u64 = 900_000_000_000;

/// A summary of durations.
#[derive(Debug)]
pub(crate) struct DurationSummary(Mutex<SlidingWindow>);

#[derive(Debug)]
struct SlidingWindow {
    /// `None` only if the range above were invalid.
    slots: [Option<Histogram<u32>>; SLOTS],
    current: usize,
    since: Instant,
    sum: Duration,
    count: u64,
}

impl DurationSummary {
    pub(crate) fn new() -> Self {
        DurationSummary(Mutex::new(SlidingWindow {
            slots: std::array::from_fn(|_| Histogram::new_with_bounds(LOWEST, HIGHEST, 2).ok()),
            current: 0,
            since: Instant::now(),
            sum: Duration::ZERO,
            count: 0,
        }))
    }

    pub(crate) fn observe(&self, elapsed: Duration) {
        self.observe_at(elapsed, Instant::now());
    }

    pub(crate) fn read(&self) -> SampleQuantiles {
        self.read_at(Instant::now())
    }

    fn observe_at(&self, elapsed: Duration, now: Instant) {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        window.advance(now);
        window.count += 1;
        window.sum = window.sum.saturating_add(elapsed);
        let nanoseconds = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let current = window.current;
        if let Some(Some(slot)) = window.slots.get_mut(current) {
            slot.saturating_record(nanoseconds);
        }
    }

    fn read_at(&self, now: Instant) -> SampleQuantiles {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        window.advance(now);
        let mut slots = window.slots.iter().flatten();
        let mut merged = slots.next().cloned();
        if let Some(merged) = &mut merged {
            for slot in slots {
                // Fails only for histograms of another range.
                let _ = merged.add(slot);
            }
        }
        let merged = merged.filter(|merged| !merged.is_empty());
        let value = |quantile| match &merged {
            Some(merged) => Duration::from_nanos(merged.value_at_quantile(quantile)).as_secs_f64(),
            None => f64::NAN,
        };
        let quantiles = QUANTILES
            .iter()
            .map(|quantile| (*quantile, value(*quantile)))
            .collect();
        SampleQuantiles {
            quantiles,
            sum: window.sum.as_secs_f64(),
            count: window.count,
        }
    }
}

impl SlidingWindow {
    /// Clears the slots of hours that have passed.
    fn advance(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.since).as_secs() / SLOT.as_secs();
        if elapsed == 0 {
            return;
        }
        let hours = u32::try_from(elapsed).unwrap_or(u32::MAX);
        self.since = self.since.checked_add(SLOT.saturating_mul(hours)).unwrap_or(now);
        for _ in 0..elapsed.min(SLOTS as u64) {
            self.current = (self.current + 1) % SLOTS;
            let current = self.current;
            if let Some(Some(slot)) = self.slots.get_mut(current) {
                slot.reset();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{DurationSummary, SLOT};

    #[test]
    fn old_observations_only_count() {
        let (summary, start) = (DurationSummary::new(), Instant::now());
        let quantiles = |hours: u32| summary.read_at(start + SLOT * hours).quantiles;
        assert!(quantiles(0).iter().all(|(_, value)| value.is_nan()));
        (1..=100).for_each(|millis| summary.observe_at(Duration::from_millis(millis), start));
        for ((quantile, value), expected) in quantiles(1).into_iter().zip([0.050, 0.090, 0.099]) {
            assert!((value - expected).abs() < expected / 100.0, "{quantile}: {value}");
        }
        summary.observe_at(Duration::from_millis(7), start + SLOT * 3);
        assert!(quantiles(4)[0].1 > 0.04);
        assert!((quantiles(6)[0].1 - 0.007).abs() < 0.0001);
        let late = summary.read_at(start + SLOT * 40);
        assert!(late.quantiles.iter().all(|(_, value)| value.is_nan()));
        assert_eq!((late.count, late.sum), (101, 5.057));
    }
}
