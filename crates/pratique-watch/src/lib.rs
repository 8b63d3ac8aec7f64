//! A directory as a live value: watched and polled, loaded on a background thread, swapped as a whole.
//!
//! For programs whose configuration is a directory of files. [`Watched`] loads the directory when it starts, which fails
//! if the directory cannot be loaded, and again after each change, on a background thread. Readers get the version that
//! was loaded last and never wait. Content that cannot be loaded is logged and reported to the [`LoadObserver`], and the
//! current version stays. The caller provides a loader, [`Load`].
//!
//! ```
//! use std::{fs, io, path::Path};
//!
//! use pratique_watch::{LoadResult, Version, WatchOptions, Watched};
//!
//! fn read(directory: &Path, current: Option<&Version<u32>>) -> io::Result<LoadResult<u32>> {
//!     let text = fs::read_to_string(directory.join("limit"))?;
//!     if current.is_some_and(|current| current.hash == text) {
//!         return Ok(LoadResult::Unchanged);
//!     }
//!     let value = text.trim().parse().map_err(io::Error::other)?;
//!     Ok(LoadResult::New { value, hash: text })
//! }
//!
//! let directory = tempfile::tempdir()?;
//! fs::write(directory.path().join("limit"), "100\n")?;
//! let limit = Watched::start(directory.path(), WatchOptions::default(), read, ())?;
//! assert_eq!(limit.current().value, 100);
//! let mut versions = limit.versions();
//!
//! fs::write(directory.path().join("next"), "200\n")?;
//! fs::rename(directory.path().join("next"), directory.path().join("limit"))?;
//! // Takes a millisecond or two. In a task: `versions.next().await`.
//! while versions.wait(std::time::Duration::from_secs(10)).ok_or("not seen")?.value != 200 {}
//! assert_eq!(limit.current().value, 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What counts as a change
//!
//! Every entry that is looked up to resolve the path of the directory and of its entries is watched: the directory and its
//! entries, its parents, and the targets of symbolic links among them. So a file written in place, a file renamed over
//! another one, the swap of `..data` in a mounted ConfigMap, a change behind a link, and a directory that is removed and
//! created again are all noticed at once. In addition, the directory is loaded once a minute
//! ([`WatchOptions::poll_interval`]), for file systems without events and systems that are out of watches. A loader can tell
//! a load after events from one where anything may have changed: [`Load::load_changed`].
//!
//! Changes have to settle before the directory is loaded: [`WatchOptions::quiet_period`], or longer while a file is being
//! written, but at most [`WatchOptions::max_delay`], or [`WatchOptions::max_write_delay`] while files are only written. Any number
//! of changes causes one load and takes constant memory. Content with the same hash is not a change. A file that is
//! rewritten in place may be read before it is complete: a loader that notices returns [`LoadResult::Unsettled`], and is
//! called again.

mod debouncer;
mod fs_watcher;
mod load;
mod observer;
mod options;
mod priority;
mod resolved_path;
mod versions;
mod watch_paths;
mod watched_directory;
mod worker;

pub use load::{Load, LoadResult, Version};
pub use observer::{LoadAttempt, LoadObserver, Outcome};
pub use options::{LogMessages, WatchOptions};
pub use priority::lower_priority;
pub use versions::Versions;
pub use watched_directory::{CurrentVersion, StartError, Watched};
