//! Coalesces any number of events into one reload, in constant memory.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::options::WatchOptions;

/// Pending changes, and the thread that waits for them to settle.
#[derive(Debug, Default)]
pub(crate) struct ChangeDebouncer {
    state: Mutex<DebounceState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct DebounceState {
    /// The times of the first and the last pending change.
    changes: Option<(Instant, Instant)>,
    /// Whether the last change was a write.
    is_writing: bool,
    /// Whether a pending change is complete, as opposed to writes only.
    is_done: bool,
    is_lost: bool,
    is_requested: bool,
    is_stopped: bool,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    /// A complete change: a file was renamed, removed or closed.
    Done,
    /// A file is being written.
    Writing,
    /// The path to the directory changed, or events were reset.
    Lost,
}

/// The next action of the worker thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkerAction {
    /// The directory may have changed.
    Reload {
        /// Whether anything may have changed: watches have to be set again, and everything be read.
        reset: bool,
    },
    /// Stop the thread.
    Stop,
}

impl ChangeDebouncer {
    pub(crate) fn change(&self, change: ChangeKind) {
        self.change_at(change, Instant::now());
    }

    fn change_at(&self, change: ChangeKind, now: Instant) {
        let mut state = self.lock();
        let first = state.changes.map_or(now, |(first, _)| first);
        // The waiting thread has a timeout; it needs a wakeup only if the reload may now be due earlier.
        let wakes = state.changes.is_none() || (state.is_writing && change != ChangeKind::Writing);
        state.changes = Some((first, now));
        state.is_writing = change == ChangeKind::Writing;
        state.is_done |= change != ChangeKind::Writing;
        state.is_lost |= change == ChangeKind::Lost;
        drop(state);
        if wakes {
            self.changed.notify_one();
        }
    }

    /// Requests a reload without a change.
    pub(crate) fn request(&self) {
        self.lock().is_requested = true;
        self.changed.notify_one();
    }

    pub(crate) fn stop(&self) {
        self.lock().is_stopped = true;
        self.changed.notify_one();
    }

    /// Waits until changes have settled or reached the maximum delay, a reload is requested, or `poll_at`.
    pub(crate) fn wait(&self, poll_at: Option<Instant>, options: &WatchOptions) -> WorkerAction {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let due = state.due(now, poll_at, options);
            if state.is_stopped {
                return WorkerAction::Stop;
            }
            state = match due.map(|due| due.saturating_duration_since(now)) {
                Some(Duration::ZERO) => return state.take(poll_at.is_some_and(|poll_at| poll_at <= now)),
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) => {
                    let waited = self.changed.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// No code panics while it holds the lock.
    fn lock(&self) -> MutexGuard<'_, DebounceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DebounceState {
    /// When the reload is due; `None` is never.
    fn due(&self, now: Instant, poll_at: Option<Instant>, options: &WatchOptions) -> Option<Instant> {
        let quiet = if self.is_writing {
            options.write_quiet_period
        } else {
            options.quiet_period
        };
        let max_delay = if self.is_done {
            options.max_delay
        } else {
            options.max_write_delay
        };
        let settled = self
            .changes
            .map(|(first, last)| (last + quiet).min(first + max_delay));
        let requested = self.is_requested.then_some(now);
        [settled, requested, poll_at].into_iter().flatten().min()
    }

    fn take(&mut self, polls: bool) -> WorkerAction {
        // A poll is for changes without events, so watches may be missing or stale. So may be a request.
        let reset = polls || self.is_requested || self.is_lost;
        *self = DebounceState::default();
        WorkerAction::Reload { reset }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> WatchOptions {
        WatchOptions {
            quiet_period: Duration::from_millis(2),
            write_quiet_period: Duration::from_millis(30),
            max_delay: Duration::from_millis(50),
            max_write_delay: Duration::from_millis(80),
            ..WatchOptions::default()
        }
    }

    /// Checks after how many milliseconds changes at these milliseconds are due.
    #[track_caller]
    fn check(changes: &[(u64, ChangeKind)], expected: u64) {
        let debouncer = ChangeDebouncer::default();
        let start = Instant::now();
        for (at, change) in changes {
            debouncer.change_at(*change, start + Duration::from_millis(*at));
        }
        let due = debouncer.lock().due(start, None, &options()).unwrap();
        assert_eq!((due - start).as_millis(), u128::from(expected));
    }

    #[test]
    fn changes_settle() {
        check(&[(0, ChangeKind::Done)], 2);
        check(&[(0, ChangeKind::Done), (1, ChangeKind::Done)], 3);
        check(&[(0, ChangeKind::Writing)], 30);
        check(&[(0, ChangeKind::Writing), (5, ChangeKind::Done)], 7);
        check(&[(0, ChangeKind::Lost), (1, ChangeKind::Writing)], 31);
    }

    #[test]
    fn the_delay_of_continuous_changes_is_bounded() {
        let flood: Vec<_> = (0..100).map(|at| (at, ChangeKind::Done)).collect();
        check(&flood, 50);
        let writing: Vec<_> = (0..100).map(|at| (at, ChangeKind::Writing)).collect();
        check(&writing, 80);
        // A complete change in between has the shorter maximum delay.
        let mut both = writing.clone();
        both.insert(30, (30, ChangeKind::Done));
        check(&both, 50);
    }

    #[test]
    fn waiting_threads_are_notified() {
        let debouncer = ChangeDebouncer::default();
        debouncer.change(ChangeKind::Done);
        assert_eq!(
            debouncer.wait(None, &options()),
            WorkerAction::Reload { reset: false }
        );
        debouncer.change(ChangeKind::Lost);
        debouncer.change(ChangeKind::Done);
        assert_eq!(
            debouncer.wait(None, &options()),
            WorkerAction::Reload { reset: true }
        );
        debouncer.request();
        debouncer.change(ChangeKind::Done);
        assert_eq!(
            debouncer.wait(None, &options()),
            WorkerAction::Reload { reset: true }
        );
        assert_eq!(
            debouncer.wait(Some(Instant::now()), &options()),
            WorkerAction::Reload { reset: true }
        );
        debouncer.change(ChangeKind::Done);
        debouncer.stop();
        assert_eq!(debouncer.wait(None, &options()), WorkerAction::Stop);
    }
}
