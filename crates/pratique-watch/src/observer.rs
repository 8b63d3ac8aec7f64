//! Observation of load attempts, for metrics, readiness and tests.

use std::time::{Duration, SystemTime};

/// Is called after every attempt to load the directory, including the first one, on the thread that made it.
///
/// A new version is current before the observer is called.
pub trait LoadObserver: Send + Sync {
    /// Called after each attempt.
    fn attempted(&self, attempt: &LoadAttempt<'_>);

    /// Called at the start, and whenever it changes, with whether the directory is watched. Otherwise it is only polled,
    /// for example because the system is out of watches.
    fn watching(&self, is_watched: bool) {
        let _ = is_watched;
    }
}

/// Ignores everything.
impl LoadObserver for () {
    fn attempted(&self, _: &LoadAttempt<'_>) {}
}

impl<O: LoadObserver + ?Sized> LoadObserver for std::sync::Arc<O> {
    fn attempted(&self, attempt: &LoadAttempt<'_>) {
        (**self).attempted(attempt);
    }

    fn watching(&self, is_watched: bool) {
        (**self).watching(is_watched);
    }
}

/// An attempt to load the directory.
#[derive(Clone, Copy, Debug)]
pub struct LoadAttempt<'a> {
    /// Its outcome.
    pub outcome: Outcome<'a>,
    /// When it ended.
    pub ended: SystemTime,
    /// Its duration, without the time for changes to settle.
    pub took: Duration,
}

/// The outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// A new version is current.
    Loaded {
        /// The hash of its content.
        hash: &'a str,
    },
    /// The content is that of the current version.
    Unchanged {
        /// The hash of the content.
        hash: &'a str,
    },
    /// The content may be unfinished: the current version stays, and loading is retried.
    Unsettled {
        /// The reason.
        reason: &'a str,
    },
    /// Loading failed. A lasting error is reported for each attempt.
    Failed {
        /// The error.
        reason: &'a str,
    },
}
