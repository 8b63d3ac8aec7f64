//! An executor that counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pratique_workers::Workers;

/// A few threads, however little there is to do, and how often they were asked. A clone has the same count.
#[derive(Clone, Debug)]
pub struct CountingExecutor {
    worthwhile: Duration,
    asked: Arc<AtomicUsize>,
}

impl CountingExecutor {
    /// Threads for work that takes at least so long.
    pub fn new(worthwhile: Duration) -> Self {
        CountingExecutor {
            worthwhile,
            asked: Arc::default(),
        }
    }

    /// How often they were asked.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Workers for CountingExecutor {
    fn together(&self, _: usize, work: &(dyn Fn() + Sync)) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(work);
            }
        });
    }

    fn worthwhile(&self) -> Duration {
        self.worthwhile
    }
}
