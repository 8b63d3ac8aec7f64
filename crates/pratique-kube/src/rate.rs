//! A rate limit of requests, with bursts.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A limit of requests: `qps` a second in the long run, and `burst` at once, as clients of API servers have it. A copy is the
/// same limit.
#[derive(Clone, Debug)]
pub struct RateLimit {
    interval: Duration,
    burst: u32,
    /// When the limit is fully available again, if there are no more requests.
    rested: Arc<Mutex<Option<Instant>>>,
}

impl RateLimit {
    /// Allows `qps` requests a second, and `burst` at once: at least one of each.
    pub fn new(qps: u32, burst: u32) -> Self {
        RateLimit {
            interval: Duration::from_secs(1) / qps.max(1),
            burst: burst.max(1),
            rested: Arc::default(),
        }
    }

    /// Blocks until there may be another request.
    pub fn wait(&self) {
        let pause = self.reserve(Instant::now());
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
    }

    /// Reserves a request; returns how long it has to wait from `now` on.
    fn reserve(&self, now: Instant) -> Duration {
        let mut rested = self.rested.lock().unwrap_or_else(PoisonError::into_inner);
        let next = rested.map_or(now, |rested| rested.max(now)) + self.interval;
        *rested = Some(next);
        next.saturating_duration_since(now)
            .saturating_sub(self.interval * self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_wait_once_there_were_too_many() {
        let limit = RateLimit::new(10, 3);
        let start = Instant::now();
        let after = |tenths: u64| start + Duration::from_millis(100 * tenths);
        let pauses = |tenths: u64, count: usize| -> Vec<u128> {
            let pauses = (0..count).map(|_| limit.reserve(after(tenths)).as_millis());
            pauses.collect()
        };
        assert_eq!(pauses(0, 5), [0, 0, 0, 100, 200]);
        // At 0.2 s, two of these were made, and the next one is that of 0.3 s.
        assert_eq!(pauses(2, 2), [100, 200]);
        // Unused requests are not saved beyond the burst.
        assert_eq!(pauses(1000, 4), [0, 0, 0, 100]);
        assert_eq!(RateLimit::new(0, 0).reserve(start), Duration::ZERO);
    }
}
