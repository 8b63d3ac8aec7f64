//! Lost and delayed events: counted, logged and reported to an observer.

use std::fmt::{self, Debug, Formatter};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The minimum interval of log lines about losses.
const INTERVAL: Duration = Duration::from_secs(10);

/// Is called when events are lost or delayed.
pub trait LossObserver: Send + Sync {
    /// Called when events are lost: the queue was full, or the log ended before they were written.
    fn lost(&self, events: u64);

    /// Called when a write fails; it is retried.
    fn failed(&self) {}
}

/// Counts of lost events and failed writes.
#[derive(Default)]
pub(crate) struct LossCounts {
    /// The audit plugin's name in log messages: `log`.
    plugin: &'static str,
    events: AtomicU64,
    failures: AtomicU64,
    logged: Mutex<LoggedLosses>,
    observer: OnceLock<Box<dyn LossObserver>>,
}

/// The losses that were logged, and when.
#[derive(Debug, Default)]
struct LoggedLosses {
    events: u64,
    at: Option<Instant>,
}

impl LossCounts {
    pub(crate) fn new(plugin: &'static str) -> Self {
        LossCounts {
            plugin,
            ..LossCounts::default()
        }
    }

    /// The audit plugin's name in log messages.
    pub(crate) fn plugin(&self) -> &'static str {
        self.plugin
    }

    /// Sets the observer, unless there is one.
    pub(crate) fn observe(&self, observer: Box<dyn LossObserver>) {
        let _ = self.observer.set(observer);
    }

    pub(crate) fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Counts lost events, and logs them.
    pub(crate) fn lose(&self, events: u64) {
        if events == 0 {
            return;
        }
        self.events.fetch_add(events, Ordering::Relaxed);
        if let Some(observer) = self.observer.get() {
            observer.lost(events);
        }
        self.log();
    }

    /// Counts a failed write.
    pub(crate) fn fail(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        if let Some(observer) = self.observer.get() {
            observer.failed();
        }
    }

    /// Logs losses that were not logged yet, at most once per interval.
    pub(crate) fn log(&self) {
        let mut logged = self.logged();
        if logged.at.is_none_or(|at| at.elapsed() >= INTERVAL)
            && let Some(events) = logged.update(self.events())
        {
            tracing::error!(plugin = self.plugin, events, "Audit events are lost");
        }
    }

    /// The number of losses that were not logged yet; the caller logs it.
    pub(crate) fn take_unlogged(&self) -> u64 {
        self.logged().update(self.events()).unwrap_or(0)
    }

    fn logged(&self) -> MutexGuard<'_, LoggedLosses> {
        self.logged.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LoggedLosses {
    /// Marks all losses as logged. Returns the number of those that were not.
    fn update(&mut self, total: u64) -> Option<u64> {
        let unlogged = total.checked_sub(self.events).filter(|events| *events > 0)?;
        (self.events, self.at) = (total, Some(Instant::now()));
        Some(unlogged)
    }
}

impl Debug for LossCounts {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_struct("Losses")
            .field("events", &self.events)
            .field("failures", &self.failures)
            .finish_non_exhaustive()
    }
}
