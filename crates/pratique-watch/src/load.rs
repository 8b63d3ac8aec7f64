//! The loader, which the caller provides, and its results.

use std::fmt;
use std::path::Path;
use std::time::Duration;

/// Loads a directory as a `T`.
///
/// It runs on the background thread, one call at a time, and may keep state between calls to avoid repeated work.
///
/// Closures `FnMut(&Path, Option<&Version<T>>) -> Result<Loaded<T>, E>` are loaders.
pub trait Load<T>: Send {
    /// The load error.
    type Error: fmt::Display;

    /// Loads the directory, or the first of [several paths](crate::Watched::start_all) and the others. `current` is the current
    /// version, except for the first load.
    ///
    /// # Errors
    /// If the directory cannot be loaded. The current version stays.
    fn load(&mut self, directory: &Path, current: Option<&Version<T>>) -> Result<LoadResult<T>, Self::Error>;

    /// Loads the directory after events that told of changes. A loader may take it that a file which looks the same, by its
    /// times and its length, is the same: what it misses is seen by [`load`](Self::load), which is called where anything may
    /// have changed: for each [poll](crate::WatchOptions::poll_interval), also while there are events, after a
    /// [request](crate::Watched::reload), after lost events, and to retry. By default, it is `load`.
    ///
    /// # Errors
    /// As of [`load`](Self::load).
    fn load_changed(&mut self, directory: &Path, current: &Version<T>) -> Result<LoadResult<T>, Self::Error> {
        self.load(directory, Some(current))
    }
}

impl<T, E, F> Load<T> for F
where
    E: fmt::Display,
    F: FnMut(&Path, Option<&Version<T>>) -> Result<LoadResult<T>, E> + Send,
{
    type Error = E;

    fn load(&mut self, directory: &Path, current: Option<&Version<T>>) -> Result<LoadResult<T>, E> {
        self(directory, current)
    }
}

/// The result of loading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadResult<T> {
    /// The content is that of the current version.
    Unchanged,
    /// The value and the hash of the content. If the hash is that of the current version, this counts as unchanged.
    New {
        /// The loaded value.
        value: T,
        /// A text that identifies the content.
        hash: String,
    },
    /// The content may be unfinished, as that of a file that is being rewritten in place. The current version stays, and
    /// the directory is loaded again after `retry_after` or the next change. The first load is waited for.
    Unsettled {
        /// The reason, for logs.
        reason: String,
        /// The delay before the next load.
        retry_after: Duration,
    },
}

/// An immutable version of a directory's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version<T> {
    /// The loaded value.
    pub value: T,
    /// The hash of the content.
    pub hash: String,
    /// The number of earlier versions.
    pub number: u64,
}
