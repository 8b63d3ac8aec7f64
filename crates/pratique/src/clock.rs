//! How long things take, where the platform has a clock.

use std::time::Duration;

use pratique_expression::Cache;

/// Measures from when it was started. In a browser, where `std` has no clock, nothing takes any time.
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

/// A cache whose compilations are measured, if they can be.
pub(crate) fn timed_cache(tell: impl Fn(Duration) + Send + Sync + 'static) -> Cache {
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    return Cache::timed(std::time::Instant::now, tell);
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    {
        drop(tell);
        Cache::new()
    }
}
