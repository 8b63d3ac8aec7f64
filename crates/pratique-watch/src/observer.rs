//! Whoever wants to know of every attempt to load: metrics, readiness, tests.

use std::time::{Duration, SystemTime};

/// Hears of every attempt to load the directory, on the thread that made it. The first is the one at the start.
///
/// By the time that it hears of a new version, that version is in use.
pub trait Observer: Send + Sync {
    /// An attempt was made.
    fn attempted(&self, attempt: &Attempt<'_>);

    /// Whether the file system tells of changes: told at the start, and when it changes. Otherwise the directory is polled
    /// only, as where a system has no more watches to give.
    fn watching(&self, is_watched: bool) {
        let _ = is_watched;
    }
}

/// Nobody wants to know.
impl Observer for () {
    fn attempted(&self, _: &Attempt<'_>) {}
}

impl<O: Observer + ?Sized> Observer for std::sync::Arc<O> {
    fn attempted(&self, attempt: &Attempt<'_>) {
        (**self).attempted(attempt);
    }

    fn watching(&self, is_watched: bool) {
        (**self).watching(is_watched);
    }
}

/// An attempt to load the directory.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// What came of it.
    pub outcome: Outcome<'a>,
    /// When it ended.
    pub ended: SystemTime,
    /// How long it took, without the time for which changes were let come to rest.
    pub took: Duration,
}

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// There is a new version, of content with this hash.
    Loaded {
        /// The hash.
        hash: &'a str,
    },
    /// The content is that of the version in use.
    Unchanged {
        /// The hash.
        hash: &'a str,
    },
    /// The content may be unfinished: the version in use stays until it is looked at again.
    Unsettled {
        /// Why.
        reason: &'a str,
    },
    /// The content cannot be used. A reason is heard again at each attempt until it is mended.
    Failed {
        /// Why.
        reason: &'a str,
    },
}
