//! Measuring time, on platforms that have a clock.

use std::time::Duration;

use pratique_expression::Cache;

/// Measures the time since it was started. On `wasm32-unknown-unknown`, where `std` has no clock, it measures zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    began: std::time::Instant,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Stopwatch {
            #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
            began: std::time::Instant::now(),
        }
    }

    pub(crate) fn elapsed(self) -> Duration {
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        return self.began.elapsed();
        #[cfg(all(target_family = "wasm", target_os = "unknown"))]
        Duration::ZERO
    }
}

/// A cache that reports the time of each compilation, if the platform has a clock.
pub(crate) fn timed_cache(report: impl Fn(Duration) + Send + Sync + 'static) -> Cache {
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    return Cache::timed(std::time::Instant::now, report);
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    {
        drop(report);
        Cache::new()
    }
}
