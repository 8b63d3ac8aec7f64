//! Quantiles of the durations of the last hours.
//!
//! Five hours are kept in five parts; the oldest is forgotten when a new one begins.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::snapshot::Quantiles;

const PARTS: usize = 5;
const PART: Duration = Duration::from_hours(1);
const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];
/// Durations are told apart from a microsecond to a quarter of an hour, to two digits.
const LOWEST: u64 = 1_000;
const HIGHEST: u64 = 900_000_000_000;

/// Takes in durations.
#[derive(Debug)]
pub(crate) struct Summary(Mutex<Window>);

#[derive(Debug)]
struct Window {
    /// `None` if the bounds above make no histogram, which they do.
    parts: [Option<Histogram<u32>>; PARTS],
    current: usize,
    since: Instant,
    sum: Duration,
    count: u64,
}

impl Summary {
    pub(crate) fn new() -> Self {
        let parts = std::array::from_fn(|_| Histogram::new_with_bounds(LOWEST, HIGHEST, 2).ok());
        let (since, sum) = (Instant::now(), Duration::ZERO);
        Summary(Mutex::new(Window {
            parts,
            current: 0,
            since,
            sum,
            count: 0,
        }))
    }

    pub(crate) fn observe(&self, elapsed: Duration) {
        self.observe_at(elapsed, Instant::now());
    }

    pub(crate) fn read(&self) -> Quantiles {
        self.read_at(Instant::now())
    }

    fn observe_at(&self, elapsed: Duration, now: Instant) {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        window.advance(now);
        window.count += 1;
        window.sum = window.sum.saturating_add(elapsed);
        let nanoseconds = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let current = window.current;
        if let Some(Some(part)) = window.parts.get_mut(current) {
            part.saturating_record(nanoseconds);
        }
    }

    fn read_at(&self, now: Instant) -> Quantiles {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        window.advance(now);
        let mut all = window.parts.iter().flatten();
        let mut merged = all.next().cloned();
        if let Some(merged) = &mut merged {
            for part in all {
                // Fails for other bounds only.
                let _ = merged.add(part);
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
        Quantiles {
            quantiles,
            sum: window.sum.as_secs_f64(),
            count: window.count,
        }
    }
}

impl Window {
    /// Forgets what is too old.
    fn advance(&mut self, now: Instant) {
        let parts = now.saturating_duration_since(self.since).as_secs() / PART.as_secs();
        if parts == 0 {
            return;
        }
        let elapsed = u32::try_from(parts).unwrap_or(u32::MAX);
        self.since = self
            .since
            .checked_add(PART.saturating_mul(elapsed))
            .unwrap_or(now);
        for _ in 0..parts.min(PARTS as u64) {
            self.current = (self.current + 1) % PARTS;
            let current = self.current;
            if let Some(Some(part)) = self.parts.get_mut(current) {
                part.reset();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{PART, Summary};

    #[test]
    fn what_is_old_is_forgotten_but_counted() {
        let (summary, start) = (Summary::new(), Instant::now());
        let quantiles = |hours: u32| summary.read_at(start + PART * hours).quantiles;
        assert!(quantiles(0).iter().all(|(_, value)| value.is_nan()));
        (1..=100).for_each(|millis| summary.observe_at(Duration::from_millis(millis), start));
        for ((quantile, value), expected) in quantiles(1).into_iter().zip([0.050, 0.090, 0.099]) {
            assert!((value - expected).abs() < expected / 100.0, "{quantile}: {value}");
        }
        summary.observe_at(Duration::from_millis(7), start + PART * 3);
        assert!(quantiles(4)[0].1 > 0.04);
        assert!((quantiles(6)[0].1 - 0.007).abs() < 0.0001);
        let late = summary.read_at(start + PART * 40);
        assert!(late.quantiles.iter().all(|(_, value)| value.is_nan()));
        assert_eq!((late.count, late.sum), (101, 5.057));
    }
}
