//! The background thread: waits for changes, updates the watches, loads, swaps, and reports the outcome.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwap;

use crate::debouncer::{ChangeDebouncer, ChangeKind, WorkerAction};
use crate::fs_watcher::FsWatcher;
use crate::load::{Load, LoadResult, Version};
use crate::observer::{LoadAttempt, LoadObserver, Outcome};
use crate::options::{LogMessages, WatchOptions};
use crate::versions::ChangeNotifier;
use crate::watch_paths::WatchPaths;

/// The state of the thread.
pub(crate) struct WatchWorker<T, L, O> {
    pub(crate) paths: WatchPaths,
    pub(crate) options: WatchOptions,
    pub(crate) loader: L,
    pub(crate) observer: O,
    pub(crate) current: Arc<ArcSwap<Version<T>>>,
    pub(crate) debouncer: Arc<ChangeDebouncer>,
    pub(crate) notifier: Arc<ChangeNotifier>,
    pub(crate) watcher: FsWatcher,
    pub(crate) log_state: LogState,
}

/// Hashes of the problems that were logged last, so that each is logged once.
#[derive(Default)]
pub(crate) struct LogState {
    /// A load error.
    failure: Option<u64>,
    /// Content that may be unfinished.
    unsettled: Option<u64>,
    /// A watch error.
    unwatched: Option<u64>,
    /// Whether the directory is watched, as last reported to the observer.
    is_watched: Option<bool>,
}

impl LogState {
    /// Records whether the directory is watched; `Some` if that changed.
    fn update_watched(&mut self, is_watched: bool) -> Option<bool> {
        let was_watched = self.is_watched.replace(is_watched);
        (was_watched != Some(is_watched)).then_some(is_watched)
    }
}

impl<T, L: Load<T>, O: LoadObserver> WatchWorker<T, L, O> {
    /// Runs until the debouncer is stopped.
    pub(crate) fn run(mut self) {
        let mut retry_at = None;
        let mut read_at = Instant::now();
        loop {
            // Counted from when everything was read last: events must not put off what they do not tell of.
            let poll_at = read_at.checked_add(self.options.poll_interval);
            let wait_until = [poll_at, retry_at].into_iter().flatten().min();
            match self.debouncer.wait(wait_until, &self.options) {
                WorkerAction::Stop => return,
                WorkerAction::Reload { reset } => {
                    if reset {
                        read_at = Instant::now();
                    }
                    // Watches are set first: later changes cause an event, earlier ones are read.
                    watch(
                        &mut self.watcher,
                        &self.paths,
                        reset,
                        (&self.options, &self.observer),
                        &mut self.log_state,
                    );
                    let retry_after = self.attempt(reset);
                    retry_at = retry_after.and_then(|after| Instant::now().checked_add(after));
                }
            }
        }
    }

    /// Loads the directory: everything, or what events told of. Returns when to retry even without a change.
    fn attempt(&mut self, everything: bool) -> Option<Duration> {
        let started = Instant::now();
        let current = self.current.load_full();
        let (loader, paths) = (&mut self.loader, &self.paths);
        let loaded = load_consistently(&mut self.watcher, paths, || {
            let load = AssertUnwindSafe(|| {
                if everything {
                    loader.load(paths.first(), Some(&current))
                } else {
                    loader.load_changed(paths.first(), &current)
                }
            });
            match catch_unwind(load) {
                Ok(loaded) => loaded.map_err(|error| error.to_string()),
                Err(_) => Err("loading panicked".to_owned()),
            }
        });
        let Ok(loaded) = loaded else {
            // The directory changed during each read: no read was consistent.
            self.debouncer.change(ChangeKind::Lost);
            return None;
        };
        if let Ok(LoadResult::Unsettled { reason, retry_after }) = loaded {
            self.unsettled(started, &reason);
            return Some(retry_after);
        }
        self.log_state.unsettled = None;
        match loaded {
            Err(reason) => self.failed(started, &reason),
            Ok(LoadResult::New { value, hash }) if hash != current.hash => {
                self.swap(started, value, hash, current.number + 1)
            }
            Ok(_) => {
                if self.log_state.failure.take().is_some() {
                    let (plugin, dir, messages) = self.log_fields();
                    tracing::info!(plugin, %dir, "{}", messages.recovered);
                }
                self.report(started, Outcome::Unchanged { hash: &current.hash });
            }
        }
        None
    }

    fn unsettled(&mut self, started: Instant, reason: &str) {
        if is_new(&mut self.log_state.unsettled, reason) {
            let (plugin, dir, messages) = self.log_fields();
            tracing::warn!(reason, plugin, %dir, "{}", messages.unsettled);
        }
        self.report(started, Outcome::Unsettled { reason });
    }

    fn swap(&mut self, started: Instant, value: T, hash: String, number: u64) {
        let version = Arc::new(Version { value, hash, number });
        self.current.store(Arc::clone(&version));
        self.notifier.notify();
        self.log_state.failure = None;
        let (plugin, dir, messages) = self.log_fields();
        tracing::info!(plugin, %dir, "{}", messages.reloaded);
        self.report(started, Outcome::Loaded { hash: &version.hash });
    }

    fn failed(&mut self, started: Instant, reason: &str) {
        if is_new(&mut self.log_state.failure, reason) {
            let (plugin, dir, messages) = self.log_fields();
            tracing::error!(err = reason, plugin, %dir, "{}", messages.failed);
        }
        self.report(started, Outcome::Failed { reason });
    }

    fn report(&self, started: Instant, outcome: Outcome<'_>) {
        report(&self.observer, started, outcome);
    }

    fn log_fields(&self) -> (&str, &WatchPaths, &LogMessages) {
        let messages = &self.options.log_messages;
        (&messages.plugin, &self.paths, messages)
    }
}

/// The maximum number of reads of a directory that changes meanwhile.
const MAX_READS: usize = 8;

/// Loads until the path of the directory resolves to the same before and after, so that a swap of all files is never
/// read in part. `Err` has the last, inconsistent read.
pub(crate) fn load_consistently<R>(
    watcher: &mut FsWatcher,
    paths: &WatchPaths,
    mut load: impl FnMut() -> R,
) -> Result<R, R> {
    let mut loaded = load();
    for _ in 1..MAX_READS {
        if watcher.is_unchanged(paths) {
            return Ok(loaded);
        }
        // A watch error is reported by the next `watch`.
        let _ = watcher.update(paths, false);
        loaded = load();
    }
    Err(loaded)
}

/// Reports an attempt that ends now to the observer.
pub(crate) fn report(observer: &impl LoadObserver, started: Instant, outcome: Outcome<'_>) {
    observer.attempted(&LoadAttempt {
        outcome,
        ended: SystemTime::now(),
        took: started.elapsed(),
    });
}

/// Updates the watches on the path of the directory. If that fails, only polling is left.
pub(crate) fn watch(
    watcher: &mut FsWatcher,
    paths: &WatchPaths,
    reset: bool,
    (options, observer): (&WatchOptions, &impl LoadObserver),
    log_state: &mut LogState,
) {
    let updated = watcher.update(paths, reset);
    if let Some(is_watched) = log_state.update_watched(updated.is_ok()) {
        observer.watching(is_watched);
    }
    match updated {
        Ok(()) => log_state.unwatched = None,
        Err(error) => {
            let messages = &options.log_messages;
            let (plugin, dir) = (messages.plugin.as_str(), paths);
            if is_new(&mut log_state.unwatched, &error.to_string()) {
                let poll = options.poll_interval;
                tracing::error!(err = %error, plugin, %dir, fallback = "poll", ?poll, "{}", messages.unwatched);
            }
        }
    }
}

/// Whether a text differs from the last one. Only its hash is kept.
fn is_new(last: &mut Option<u64>, text: &str) -> bool {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let digest = Some(hasher.finish());
    std::mem::replace(last, digest) != digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watched_is_reported_when_it_changes() {
        let mut state = LogState::default();
        let reported = [true, true, false, false, true].map(|is_watched| state.update_watched(is_watched));
        assert_eq!(reported, [Some(true), None, Some(false), None, Some(true)]);
    }
}
