//! Having the file system tell of changes: watches on all directories of a route, kept up as the route changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher};

use crate::route::Route;
use crate::signal::{Change, Signal};

/// Watches on the directories of a route.
pub(crate) struct Eyes {
    signal: Arc<Signal>,
    route: Arc<ArcSwap<Route>>,
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
}

/// A way that changes while it is found is found again, but not for ever: the next change calls again.
const MAX_ROUNDS: usize = 4;

impl Eyes {
    pub(crate) fn new(signal: Arc<Signal>) -> Self {
        Eyes {
            signal,
            route: Arc::default(),
            watcher: None,
            watched: BTreeSet::new(),
        }
    }

    /// Watches the way to a directory; from now on, changes are told. With `anew`, watches that are there are set
    /// again: what they are on may be gone, and something of the same name may be in its place.
    ///
    /// An error means that some changes may not be told.
    pub(crate) fn look(&mut self, directory: &Path, anew: bool) -> Result<(), notify::Error> {
        if anew {
            self.close();
        }
        // Without eyes, too, the way is known.
        let opened = self.open();
        let mut ended = Ok(());
        for _ in 0..MAX_ROUNDS {
            let route = Arc::new(Route::find(directory));
            let before = self.route.swap(Arc::clone(&route));
            if before == route && self.watched == *route.directories() {
                break;
            }
            before
                .replaced(&route)
                .for_each(|directory| self.unwatch(directory));
            // What was gone in between is not on the way the next time.
            ended = self.watch(&route);
        }
        opened.and(ended)
    }

    /// Whether the way to a directory is the one that is watched. While it is, all that was read was read on it.
    pub(crate) fn is_steady(&self, directory: &Path) -> bool {
        self.route.load().agrees(&Route::find(directory))
    }

    /// Has the file system tell of changes.
    fn open(&mut self) -> Result<(), notify::Error> {
        if self.watcher.is_some() {
            return Ok(());
        }
        let (signal, route) = (Arc::clone(&self.signal), Arc::clone(&self.route));
        let tell = move |event: Result<Event, notify::Error>| {
            let change = event.map_or(Some(Change::Lost), |event| route.load().judge(&event));
            if let Some(change) = change {
                signal.change(change);
            }
        };
        self.watcher = Some(RecommendedWatcher::new(tell, Config::default())?);
        Ok(())
    }

    fn close(&mut self) {
        for directory in self.watched.clone() {
            self.unwatch(&directory);
        }
    }

    fn unwatch(&mut self, directory: &Path) {
        if self.watched.remove(directory)
            && let Some(watcher) = &mut self.watcher
        {
            // What is gone is not watched any more.
            let _ = watcher.unwatch(directory);
        }
    }

    fn watch(&mut self, route: &Route) -> Result<(), notify::Error> {
        let gone: Vec<_> = self.watched.difference(route.directories()).cloned().collect();
        gone.iter().for_each(|directory| self.unwatch(directory));
        let Some(watcher) = &mut self.watcher else {
            return Ok(());
        };
        let mut first = Ok(());
        for directory in route.directories() {
            if self.watched.contains(directory) {
                continue;
            }
            match watcher.watch(directory, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.watched.insert(directory.clone());
                }
                // Directories above may be closed to us; what is in them seldom changes.
                Err(error) if !route.leads_to(directory) && is_denied(&error) => {
                    self.watched.insert(directory.clone());
                    tracing::debug!(err = %error, "watching directory on the way");
                }
                Err(error) => first = first.and(Err(error)),
            }
        }
        first
    }
}

fn is_denied(error: &notify::Error) -> bool {
    matches!(&error.kind, notify::ErrorKind::Io(error) if error.kind() == std::io::ErrorKind::PermissionDenied)
}
