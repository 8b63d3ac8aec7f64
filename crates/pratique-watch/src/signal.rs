//! What happened since somebody last looked, in a few words, however much it was: this is where a flood of events ends.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::options::Options;

/// What calls the thread that loads.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    state: Mutex<State>,
    called: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// When the first and the last change were that nobody looked at yet.
    changes: Option<(Instant, Instant)>,
    is_writing: bool,
    /// Whether something else happened than that files are being written.
    is_done: bool,
    is_lost: bool,
    is_asked: bool,
    is_stopped: bool,
}

/// What a change tells of changes to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Something is as it shall be: renamed, removed, closed.
    Done,
    /// A file is being written.
    Writing,
    /// The way to the directory is another, or there were more changes than could be told.
    Lost,
}

/// Why to do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// The directory may have changed.
    Look {
        /// What is watched must be watched anew.
        lost: bool,
    },
    /// It is over.
    Stop,
}

impl Signal {
    pub(crate) fn change(&self, change: Change) {
        self.change_at(change, Instant::now());
    }

    fn change_at(&self, change: Change, now: Instant) {
        let mut state = self.lock();
        let first = state.changes.map_or(now, |(first, _)| first);
        // Whoever waits for quiet wakes up by itself, unless it may now be earlier.
        let wakes = state.changes.is_none() || (state.is_writing && change != Change::Writing);
        state.changes = Some((first, now));
        state.is_writing = change == Change::Writing;
        state.is_done |= change != Change::Writing;
        state.is_lost |= change == Change::Lost;
        drop(state);
        if wakes {
            self.called.notify_one();
        }
    }

    /// Calls for a look without a change.
    pub(crate) fn ask(&self) {
        self.lock().is_asked = true;
        self.called.notify_one();
    }

    pub(crate) fn stop(&self) {
        self.lock().is_stopped = true;
        self.called.notify_one();
    }

    /// Waits until changes have come to rest, or have not for long, or it is time to look anyway.
    pub(crate) fn wait(&self, poll_at: Option<Instant>, options: &Options) -> Call {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let due = state.due(now, poll_at, options);
            if state.is_stopped {
                return Call::Stop;
            }
            state = match due.map(|due| due.saturating_duration_since(now)) {
                Some(Duration::ZERO) => return state.take(),
                None => self.called.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) => {
                    let waited = self.called.wait_timeout(state, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Nothing that holds the lock panics.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// When to look; `None` is never.
    fn due(&self, now: Instant, poll_at: Option<Instant>, options: &Options) -> Option<Instant> {
        let rest = if self.is_writing {
            options.writing
        } else {
            options.quiet
        };
        let patience = match self.is_done {
            true => options.patience,
            false => options.writing_patience,
        };
        let settled = self
            .changes
            .map(|(first, last)| (last + rest).min(first + patience));
        let asked = self.is_asked.then_some(now);
        [settled, asked, poll_at].into_iter().flatten().min()
    }

    fn take(&mut self) -> Call {
        // A poll is for what was not told, so nothing that was told counts on it.
        let lost = self.is_lost || self.changes.is_none();
        *self = State::default();
        Call::Look { lost }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Options {
        Options {
            quiet: Duration::from_millis(2),
            writing: Duration::from_millis(30),
            patience: Duration::from_millis(50),
            writing_patience: Duration::from_millis(80),
            ..Options::default()
        }
    }

    /// After how many milliseconds changes at some milliseconds are looked at.
    #[track_caller]
    fn check(changes: &[(u64, Change)], expected: u64) {
        let signal = Signal::default();
        let start = Instant::now();
        for (at, change) in changes {
            signal.change_at(*change, start + Duration::from_millis(*at));
        }
        let due = signal.lock().due(start, None, &options()).unwrap();
        assert_eq!((due - start).as_millis(), u128::from(expected));
    }

    #[test]
    fn changes_come_to_rest() {
        check(&[(0, Change::Done)], 2);
        check(&[(0, Change::Done), (1, Change::Done)], 3);
        check(&[(0, Change::Writing)], 30);
        check(&[(0, Change::Writing), (5, Change::Done)], 7);
        check(&[(0, Change::Lost), (1, Change::Writing)], 31);
    }

    #[test]
    fn changes_without_end_are_looked_at() {
        let flood: Vec<_> = (0..100).map(|at| (at, Change::Done)).collect();
        check(&flood, 50);
        let writing: Vec<_> = (0..100).map(|at| (at, Change::Writing)).collect();
        check(&writing, 80);
        // What is done beside that has not to wait for it.
        let mut both = writing.clone();
        both.insert(30, (30, Change::Done));
        check(&both, 50);
    }

    #[test]
    fn whoever_waits_is_called() {
        let signal = Signal::default();
        signal.change(Change::Done);
        assert_eq!(signal.wait(None, &options()), Call::Look { lost: false });
        signal.change(Change::Lost);
        signal.change(Change::Done);
        assert_eq!(signal.wait(None, &options()), Call::Look { lost: true });
        signal.ask();
        assert_eq!(signal.wait(None, &options()), Call::Look { lost: true });
        assert_eq!(
            signal.wait(Some(Instant::now()), &options()),
            Call::Look { lost: true }
        );
        signal.change(Change::Done);
        signal.stop();
        assert_eq!(signal.wait(None, &options()), Call::Stop);
    }
}
