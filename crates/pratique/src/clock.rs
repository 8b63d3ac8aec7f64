//! Measures time, on platforms that have a clock, and generates the random suffixes of names.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use std::time::{SystemTime, UNIX_EPOCH};

use pratique_expression::Cache;

/// Measures the time since it was started. On `wasm32-unknown-unknown`, where `std` has no clock, it measures zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunStopwatch {
    /// `None` where nobody asks for the time.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    began: Option<std::time::Instant>,
}

impl RunStopwatch {
    pub(crate) fn start() -> Self {
        RunStopwatch::start_if(true)
    }

    /// Starts if somebody asks for the time, and measures zero otherwise.
    pub(crate) fn start_if(is_asked: bool) -> Self {
        #[cfg(all(target_family = "wasm", target_os = "unknown"))]
        let _ = is_asked;
        RunStopwatch {
            #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
            began: is_asked.then(std::time::Instant::now),
        }
    }

    pub(crate) fn elapsed(self) -> Duration {
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        return self.began.map_or(Duration::ZERO, |began| began.elapsed());
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

/// The time since the Unix epoch.
pub(crate) fn since_epoch() -> Duration {
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    return SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    Duration::ZERO
}

/// The suffix of a name that a server generates: five random characters, without those that look alike or form words.
// Upstream: apimachinery/pkg/util/rand/rand.go, String
pub(crate) fn generated_suffix() -> String {
    const CHARACTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut random = RandomState::new().hash_one(());
    let count = CHARACTERS.len() as u64;
    let mut next = || {
        let at = usize::try_from(random % count).unwrap_or_default();
        random /= count;
        char::from(CHARACTERS.get(at).copied().unwrap_or(b'x'))
    };
    std::array::from_fn::<char, 5, _>(|_| next()).iter().collect()
}
