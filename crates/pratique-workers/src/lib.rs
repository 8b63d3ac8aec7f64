//! Worker threads that a caller lends to the engines.
//!
//! The engines of Pratique start no threads. They load, compile and evaluate on the calling thread; work that is large
//! enough is divided among [`Workers`], whose threads belong to the caller: a thread pool, or [`ScopedThreads`] that live
//! only as long as the work.
//!
//! ```
//! use std::time::Duration;
//!
//! use pratique_workers::{ScopedThreads, map};
//!
//! let squares = map(&ScopedThreads, &[1, 2, 3, 4], |_| Duration::from_millis(4), |number| number * number);
//! assert_eq!(squares, [1, 4, 9, 16]);
//! ```

mod map;
mod scoped_threads;

use std::time::Duration;

pub use map::map;
pub use scoped_threads::ScopedThreads;

/// Runs work on several threads at the same time.
pub trait Workers: Send + Sync {
    /// Calls `work` on the calling thread and on up to `others` other threads, and returns when all calls have returned.
    ///
    /// Each call takes the next item that no other call has taken, so fewer threads only take longer.
    fn run_on(&self, others: usize, work: &(dyn Fn() + Sync));

    /// The minimum duration of work that is worth handing to another thread.
    fn min_parallel_cost(&self) -> Duration;
}

/// Estimates the total duration of `count` items that take `each`.
pub fn estimate(each: Duration, count: usize) -> Duration {
    each.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Runs all work on the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl Workers for Sequential {
    fn run_on(&self, _: usize, work: &(dyn Fn() + Sync)) {
        work();
    }

    fn min_parallel_cost(&self) -> Duration {
        Duration::MAX
    }
}
