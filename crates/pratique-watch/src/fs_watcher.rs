//! File system watches on all directories of a resolved path, updated as the path changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher};

use crate::debouncer::{ChangeDebouncer, ChangeKind};
use crate::resolved_path::ResolvedPath;
use crate::watch_paths::WatchPaths;

/// Watches on the directories of a [`ResolvedPath`].
pub(crate) struct FsWatcher {
    debouncer: Arc<ChangeDebouncer>,
    path: Arc<ArcSwap<ResolvedPath>>,
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
}

/// The maximum number of attempts to resolve a path that changes meanwhile. Later changes are events.
const MAX_ROUNDS: usize = 4;

impl FsWatcher {
    pub(crate) fn new(debouncer: Arc<ChangeDebouncer>) -> Self {
        FsWatcher {
            debouncer,
            path: Arc::default(),
            watcher: None,
            watched: BTreeSet::new(),
        }
    }

    /// Resolves paths and watches every directory on them. With `reset`, existing watches are set again:
    /// a watched directory may have been replaced by another one of the same name.
    ///
    /// # Errors
    /// Some changes may not be reported.
    pub(crate) fn update(&mut self, paths: &WatchPaths, reset: bool) -> Result<(), notify::Error> {
        if reset {
            self.unwatch_all();
        }
        // Without a watcher, the path is resolved nevertheless.
        let started = self.start();
        let mut watched = Ok(());
        for _ in 0..MAX_ROUNDS {
            let path = Arc::new(ResolvedPath::resolve(paths));
            let previous_path = self.path.swap(Arc::clone(&path));
            if previous_path == path && self.watched == *path.directories() {
                break;
            }
            previous_path
                .replaced(&path)
                .for_each(|directory| self.unwatch(directory));
            // A directory that was removed meanwhile is not on the path in the next round.
            watched = self.watch(&path);
        }
        started.and(watched)
    }

    /// Whether the paths still resolve as they did, so that everything was read from the same files.
    pub(crate) fn is_unchanged(&self, paths: &WatchPaths) -> bool {
        self.path.load().agrees(&ResolvedPath::resolve(paths))
    }

    fn start(&mut self) -> Result<(), notify::Error> {
        if self.watcher.is_some() {
            return Ok(());
        }
        let (debouncer, path) = (Arc::clone(&self.debouncer), Arc::clone(&self.path));
        let handle = move |event: Result<Event, notify::Error>| {
            let change = event.map_or(Some(ChangeKind::Lost), |event| path.load().classify(&event));
            if let Some(change) = change {
                debouncer.change(change);
            }
        };
        self.watcher = Some(RecommendedWatcher::new(handle, Config::default())?);
        Ok(())
    }

    fn unwatch_all(&mut self) {
        for directory in self.watched.clone() {
            self.unwatch(&directory);
        }
    }

    fn unwatch(&mut self, directory: &Path) {
        if self.watched.remove(directory)
            && let Some(watcher) = &mut self.watcher
        {
            // Fails if the directory was removed, which ends the watch as well.
            let _ = watcher.unwatch(directory);
        }
    }

    fn watch(&mut self, path: &ResolvedPath) -> Result<(), notify::Error> {
        let removed: Vec<_> = self.watched.difference(path.directories()).cloned().collect();
        removed.iter().for_each(|directory| self.unwatch(directory));
        let Some(watcher) = &mut self.watcher else {
            return Ok(());
        };
        let mut first = Ok(());
        for directory in path.directories() {
            if self.watched.contains(directory) {
                continue;
            }
            match watcher.watch(directory, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.watched.insert(directory.clone());
                }
                // Directories above may not be readable; their entries rarely change.
                Err(error) if !path.is_target(directory) && is_denied(&error) => {
                    self.watched.insert(directory.clone());
                    tracing::debug!(err = %error, "watching directory on the path");
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
