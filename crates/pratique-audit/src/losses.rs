//! What is lost or delayed: counted, and told while it happens.

use std::fmt::{self, Debug, Formatter};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How often losses are told while they go on.
const INTERVAL: Duration = Duration::from_secs(10);

/// Is told of what becomes of events as it happens, to count it.
pub trait Observer: Send + Sync {
    /// Events were lost: the queue was full, or the log ended before they were written.
    fn lost(&self, events: u64);

    /// Writing failed, and is tried again.
    fn failed(&self) {}
}

/// What was lost so far, and how much of that was told.
#[derive(Default)]
pub(crate) struct Losses {
    events: AtomicU64,
    failures: AtomicU64,
    told: Mutex<Told>,
    observer: OnceLock<Box<dyn Observer>>,
}

#[derive(Debug, Default)]
struct Told {
    events: u64,
    at: Option<Instant>,
}

impl Losses {
    /// Has an observer told from now on, unless there is one.
    pub(crate) fn observe(&self, observer: Box<dyn Observer>) {
        // There is one set of metrics.
        let _ = self.observer.set(observer);
    }

    pub(crate) fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Events are lost.
    pub(crate) fn lose(&self, events: u64) {
        if events == 0 {
            return;
        }
        self.events.fetch_add(events, Ordering::Relaxed);
        if let Some(observer) = self.observer.get() {
            observer.lost(events);
        }
        self.tell();
    }

    /// Writing failed.
    pub(crate) fn fail(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        if let Some(observer) = self.observer.get() {
            observer.failed();
        }
    }

    /// Tells what was not told, unless something was told a moment ago.
    pub(crate) fn tell(&self) {
        let mut told = self.told();
        if told.at.is_none_or(|at| at.elapsed() >= INTERVAL)
            && let Some(events) = told.rest(self.events())
        {
            tracing::error!(plugin = "log", events, "Audit events are lost");
        }
    }

    /// What was not told; the caller tells it.
    pub(crate) fn take_untold(&self) -> u64 {
        self.told().rest(self.events()).unwrap_or(0)
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Told {
    /// How many of all that were lost are not told yet: they are now.
    fn rest(&mut self, all: u64) -> Option<u64> {
        let rest = all.checked_sub(self.events).filter(|rest| *rest > 0)?;
        (self.events, self.at) = (all, Some(Instant::now()));
        Some(rest)
    }
}

impl Debug for Losses {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_struct("Losses")
            .field("events", &self.events)
            .field("failures", &self.failures)
            .finish_non_exhaustive()
    }
}
