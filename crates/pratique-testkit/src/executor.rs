//! An executor that counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pratique_workers::Workers;

/// Runs work on a few threads, however small it is, and counts the calls. A clone has the same count.
#[derive(Clone, Debug)]
pub struct CountingExecutor {
    min_parallel_cost: Duration,
    asked: Arc<AtomicUsize>,
}

impl CountingExecutor {
    /// Threads for work that takes at least so long.
    pub fn new(min_parallel_cost: Duration) -> Self {
        CountingExecutor {
            min_parallel_cost,
            asked: Arc::default(),
        }
    }

    /// The number of calls.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Workers for CountingExecutor {
    fn run_on(&self, _: usize, work: &(dyn Fn() + Sync)) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(work);
            }
        });
    }

    fn min_parallel_cost(&self) -> Duration {
        self.min_parallel_cost
    }
}
