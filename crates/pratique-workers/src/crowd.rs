//! Several threads, however little there is to do: for tests of those who share their work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::Workers;

/// A few threads that are asked for little, and how often they were: for tests. A copy is the same.
#[derive(Clone, Debug)]
pub struct Crowd {
    worthwhile: Duration,
    asked: Arc<AtomicUsize>,
}

impl Crowd {
    /// Threads for what takes that long.
    pub fn new(worthwhile: Duration) -> Self {
        Crowd {
            worthwhile,
            asked: Arc::default(),
        }
    }

    /// How often they were asked.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Workers for Crowd {
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
