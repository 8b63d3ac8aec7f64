//! The live value and its background thread.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use arc_swap::{ArcSwap, Guard};

use crate::debouncer::ChangeDebouncer;
use crate::fs_watcher::FsWatcher;
use crate::load::{Load, LoadResult, Version};
use crate::observer::{LoadObserver, Outcome};
use crate::options::WatchOptions;
use crate::priority::lower_priority;
use crate::versions::{ChangeNotifier, CloseOnDrop, Versions};
use crate::watch_paths::WatchPaths;
use crate::worker::{self, LogState, WatchWorker};

/// The last version of a directory that could be loaded, kept current by a background thread.
///
/// Dropping it stops the thread and waits for it to end.
#[derive(Debug)]
pub struct Watched<T> {
    current: Arc<ArcSwap<Version<T>>>,
    debouncer: Arc<ChangeDebouncer>,
    notifier: Arc<ChangeNotifier>,
    thread: Option<JoinHandle<()>>,
}

/// An error of [`Watched::start`].
#[derive(Debug, thiserror::Error)]
pub enum StartError<E> {
    /// The directory cannot be loaded.
    #[error("{0}")]
    Load(E),
    /// The loader returned no value: [`LoadResult::Unchanged`].
    #[error("nothing was loaded")]
    Nothing,
    /// The thread cannot be started, or the current directory is not known.
    #[error("{0}")]
    System(#[from] io::Error),
}

impl<T: Send + Sync + 'static> Watched<T> {
    /// Loads a directory on the calling thread, and starts a background thread that loads it again after each change. While
    /// the loader says that the first content is [unfinished](LoadResult::Unsettled), it is called again after the delay.
    ///
    /// # Errors
    /// If the directory cannot be loaded. Later load errors are logged and reported to the observer.
    pub fn start<L, O>(
        directory: impl AsRef<Path>,
        options: WatchOptions,
        loader: L,
        observer: O,
    ) -> Result<Self, StartError<L::Error>>
    where
        L: Load<T> + 'static,
        O: LoadObserver + 'static,
    {
        let paths = WatchPaths::directory(std::path::absolute(directory)?);
        Self::start_paths(paths, options, loader, observer)
    }

    /// As [`start`](Self::start), for files and directories that are loaded together, and all below these directories but
    /// what is in hidden ones. The loader gets the first path.
    ///
    /// # Errors
    /// If they cannot be loaded. Later load errors are logged and reported to the observer.
    pub fn start_all<L, O>(
        paths: impl IntoIterator<Item = PathBuf>,
        options: WatchOptions,
        loader: L,
        observer: O,
    ) -> Result<Self, StartError<L::Error>>
    where
        L: Load<T> + 'static,
        O: LoadObserver + 'static,
    {
        let paths = paths.into_iter().map(std::path::absolute);
        let paths = WatchPaths::trees(paths.collect::<Result<_, _>>()?);
        Self::start_paths(paths, options, loader, observer)
    }

    fn start_paths<L, O>(
        paths: WatchPaths,
        options: WatchOptions,
        mut loader: L,
        observer: O,
    ) -> Result<Self, StartError<L::Error>>
    where
        L: Load<T> + 'static,
        O: LoadObserver + 'static,
    {
        let debouncer = Arc::new(ChangeDebouncer::default());
        let mut watcher = FsWatcher::new(Arc::clone(&debouncer));
        let mut log_state = LogState::default();
        worker::watch(&mut watcher, &paths, false, (&options, &observer), &mut log_state);
        let (started, loaded) = loop {
            let started = Instant::now();
            let loaded = worker::load_consistently(&mut watcher, &paths, || loader.load(paths.first(), None));
            match loaded.unwrap_or_else(|loaded| loaded) {
                Ok(LoadResult::Unsettled { reason, retry_after }) => {
                    let plugin = options.log_messages.plugin.as_str();
                    tracing::info!(reason, plugin, dir = %paths, "waiting for content that may be unfinished");
                    thread::sleep(retry_after);
                }
                loaded => break (started, loaded),
            }
        };
        let first = first(loaded, &observer, started)?;
        let current = Arc::new(ArcSwap::from_pointee(first));
        worker::report(
            &observer,
            started,
            Outcome::Loaded {
                hash: &current.load().hash,
            },
        );
        let notifier = Arc::new(ChangeNotifier::default());
        let close = CloseOnDrop(Arc::clone(&notifier));
        let stack_size = options.stack_size;
        let worker = WatchWorker {
            paths,
            options,
            loader,
            observer,
            current: Arc::clone(&current),
            debouncer: Arc::clone(&debouncer),
            notifier: Arc::clone(&notifier),
            watcher,
            log_state,
        };
        let builder = thread::Builder::new().name("pratique-watch".to_owned());
        let builder = match stack_size {
            Some(size) => builder.stack_size(size),
            None => builder,
        };
        let thread = builder.spawn(move || {
            let _close = close;
            lower_priority();
            worker.run();
        })?;
        Ok(Watched {
            current,
            debouncer,
            notifier,
            thread: Some(thread),
        })
    }
}

impl<T> Watched<T> {
    /// The current version, for short use: takes no lock and no reference count.
    pub fn current(&self) -> CurrentVersion<T> {
        CurrentVersion(self.current.load())
    }

    /// The current version, to be kept.
    pub fn snapshot(&self) -> Arc<Version<T>> {
        self.current.load_full()
    }

    /// A handle to wait for versions after the current one.
    pub fn versions(&self) -> Versions<T> {
        Versions::new(Arc::clone(&self.current), Arc::clone(&self.notifier))
    }

    /// Requests a reload, without waiting for it.
    pub fn reload(&self) {
        self.debouncer.request();
    }

    /// Whether the thread runs: false after a panic of the observer, and after [`stop`].
    ///
    /// [`stop`]: Self::stop
    pub fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Stops watching, and waits for the thread to finish a reload in progress. The current version stays available.
    pub fn stop(&mut self) {
        self.debouncer.stop();
        if let Some(thread) = self.thread.take() {
            // Only a panic of the observer ends it with an error.
            let _ = thread.join();
        }
    }
}

impl<T> Drop for Watched<T> {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A borrow of the version that was current.
#[derive(Debug)]
pub struct CurrentVersion<T>(Guard<Arc<Version<T>>>);

impl<T> std::ops::Deref for CurrentVersion<T> {
    type Target = Version<T>;

    fn deref(&self) -> &Version<T> {
        &self.0
    }
}

fn first<T, E: Display>(
    loaded: Result<LoadResult<T>, E>,
    observer: &impl LoadObserver,
    started: Instant,
) -> Result<Version<T>, StartError<E>> {
    match loaded {
        Ok(LoadResult::New { value, hash }) => Ok(Version {
            value,
            hash,
            number: 0,
        }),
        Ok(LoadResult::Unchanged | LoadResult::Unsettled { .. }) => Err(StartError::Nothing),
        Err(error) => {
            let reason = error.to_string();
            worker::report(observer, started, Outcome::Failed { reason: &reason });
            Err(StartError::Load(error))
        }
    }
}
