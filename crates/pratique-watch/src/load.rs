//! What is loaded: the one thing that a user of this crate brings along.

use std::fmt;
use std::path::Path;
use std::time::Duration;

/// Loads a directory as a `T`.
///
/// It runs on the watcher's thread, one call at a time. It may keep what it likes between calls, so that it need not do
/// again what it did before: what it is given tells what is in use.
///
/// Closures `FnMut(&Path, Option<&Version<T>>) -> Result<Loaded<T>, E>` are loaders.
pub trait Load<T>: Send {
    /// Why it does not.
    type Error: fmt::Display;

    /// Loads the directory, or says that its content is that of the version in use.
    ///
    /// # Errors
    /// Why the directory cannot be used as it is. What is in use stays so.
    fn load(&mut self, directory: &Path, current: Option<&Version<T>>) -> Result<Loaded<T>, Self::Error>;
}

impl<T, E, F> Load<T> for F
where
    E: fmt::Display,
    F: FnMut(&Path, Option<&Version<T>>) -> Result<Loaded<T>, E> + Send,
{
    type Error = E;

    fn load(&mut self, directory: &Path, current: Option<&Version<T>>) -> Result<Loaded<T>, E> {
        self(directory, current)
    }
}

/// What loading came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loaded<T> {
    /// The content is that of the version in use.
    Unchanged,
    /// The content and its hash. If that is the hash of the version in use, this counts as unchanged.
    New {
        /// What the directory became.
        value: T,
        /// What tells this content from others; any text will do.
        hash: String,
    },
    /// The content may be unfinished, as that of a file that is being rewritten in place: the version in use stays, and
    /// the directory is to be loaded again after a while, or as soon as it changes. Not at the start.
    Unsettled {
        /// Why, for logs.
        reason: String,
        /// The while.
        again_in: Duration,
    },
}

/// A directory's content as it was at one time. It never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version<T> {
    /// What the directory became.
    pub value: T,
    /// The hash of its content.
    pub hash: String,
    /// How many versions came before.
    pub number: u64,
}
