//! Directories of static manifests: each has a watcher and keeps its last valid set.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pratique_manifest::{LoadErrors, ManifestPlugin, ManifestSet, ReadExtent, ReloadOutcome, Reloader};
use pratique_watch::{Load, LoadAttempt, LoadResult, LogMessages, Outcome, Version, Watched};
use pratique_workers::Sequential;

use super::observer::{AdmissionObserver, DirectoryReload, ReloadResult};
use super::source::SourceNotifier;
use crate::admission_config::AdmissionConfig;
use crate::builder::WatchedDirectory;
use crate::cores::HelperWorkers;
use crate::expressions::Expressions;

/// The directories that are watched.
#[derive(Default)]
pub(super) struct WatchedDirectories(Mutex<Vec<(usize, Watched<Arc<ManifestSet>>)>>);

/// Starts watching directories, and loads each of them.
pub(super) fn watch(
    directories: Vec<WatchedDirectory>,
    expressions: &Expressions,
    helpers: &HelperWorkers,
    options: &pratique_watch::WatchOptions,
    changed: &SourceNotifier,
    observers: &[Arc<dyn AdmissionObserver>],
) -> Result<WatchedDirectories, pratique_watch::StartError<LoadErrors>> {
    let mut watched = Vec::new();
    let turn = Arc::new(Mutex::new(()));
    for directory in directories {
        let log_messages = if directory.plugin.is_policy() {
            LogMessages::policies(directory.plugin.name())
        } else {
            LogMessages::webhooks(directory.plugin.name())
        };
        let options = pratique_watch::WatchOptions {
            log_messages,
            ..options.clone()
        };
        let loaded = Arc::new(AtomicUsize::new(0));
        let loader = DirectoryLoader {
            loaded: loaded.clone(),
            path: directory.path.clone(),
            reloader: Reloader::new(directory.plugin),
            expressions: expressions.clone(),
            helpers: helpers.clone(),
            turn: turn.clone(),
        };
        let observer = WatchObserver {
            plugin: directory.plugin,
            path: directory.path.clone(),
            in_use: AtomicUsize::new(0),
            loaded,
            changed: changed.clone(),
            observers: observers.to_vec(),
        };
        let one = Watched::start(&directory.path, options, loader, observer)?;
        super::log::started(directory.plugin, &one.current().value);
        watched.push((directory.place, one));
    }
    Ok(WatchedDirectories(Mutex::new(watched)))
}

impl WatchedDirectories {
    /// Puts the current manifests of each directory into their places.
    pub(super) fn collect(&self, config: &mut AdmissionConfig) {
        for (place, watched) in &*self.lock() {
            if let Some(set) = config.sets.get_mut(*place) {
                set.clone_from(&watched.current().value);
            }
        }
    }

    /// Whether a watcher has ended although it was not stopped.
    pub(super) fn have_ended(&self) -> bool {
        self.lock().iter().any(|(_, watched)| !watched.is_running())
    }

    /// Ends watching, and waits for that.
    pub(super) fn stop(&self) {
        self.lock().iter_mut().for_each(|(_, watched)| watched.stop());
    }

    /// The list is consistent even after a panic: it is made once.
    fn lock(&self) -> MutexGuard<'_, Vec<(usize, Watched<Arc<ManifestSet>>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Loads a directory as its plugin does.
struct DirectoryLoader {
    /// As it was configured, for messages.
    path: String,
    /// How many policies and webhook configurations it loaded last.
    loaded: Arc<AtomicUsize>,
    reloader: Reloader,
    expressions: Expressions,
    helpers: HelperWorkers,
    /// One directory loads at a time: each load has a bound on its memory, several have none together.
    turn: Arc<Mutex<()>>,
}

impl Load<Arc<ManifestSet>> for DirectoryLoader {
    type Error = LoadErrors;

    fn load(
        &mut self,
        _: &Path,
        current: Option<&Version<Arc<ManifestSet>>>,
    ) -> Result<LoadResult<Arc<ManifestSet>>, LoadErrors> {
        self.reload(current, ReadExtent::All)
    }

    fn load_changed(
        &mut self,
        _: &Path,
        current: &Version<Arc<ManifestSet>>,
    ) -> Result<LoadResult<Arc<ManifestSet>>, LoadErrors> {
        self.reload(Some(current), ReadExtent::Changed)
    }
}

impl DirectoryLoader {
    fn reload(
        &mut self,
        current: Option<&Version<Arc<ManifestSet>>>,
        extent: ReadExtent,
    ) -> Result<LoadResult<Arc<ManifestSet>>, LoadErrors> {
        let in_use = current.map(|current| current.hash.as_str());
        let options = self.expressions.options();
        let options = match current {
            None => options.with_workers(&*self.helpers.starting),
            // The cores are there for requests now.
            Some(_) => options.with_workers(&Sequential),
        };
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded = self.reloader.load_stable(&self.path, in_use, extent, &options)?;
        Ok(match loaded {
            ReloadOutcome::Unchanged => LoadResult::Unchanged,
            ReloadOutcome::Unstable(unstable) => LoadResult::Unsettled {
                reason: unstable.to_string(),
                retry_after: unstable.retry_after,
            },
            ReloadOutcome::New(set) => {
                self.loaded.store(super::log::count(&set), Ordering::Relaxed);
                LoadResult::New {
                    hash: set.hash.clone(),
                    value: Arc::new(set),
                }
            }
        })
    }
}

/// Reports the results of loads.
struct WatchObserver {
    plugin: ManifestPlugin,
    path: String,
    /// How many policies and webhook configurations were loaded last, and how many there were before.
    loaded: Arc<AtomicUsize>,
    in_use: AtomicUsize,
    changed: SourceNotifier,
    observers: Vec<Arc<dyn AdmissionObserver>>,
}

impl pratique_watch::LoadObserver for WatchObserver {
    fn attempted(&self, attempt: &LoadAttempt<'_>) {
        let result = match attempt.outcome {
            Outcome::Loaded { hash } => ReloadResult::Loaded { hash },
            Outcome::Unchanged { .. } => ReloadResult::Unchanged,
            Outcome::Failed { reason } => ReloadResult::Failed { reason },
            // Neither a success nor a failure yet; only logged.
            Outcome::Unsettled { .. } => return,
        };
        if matches!(result, ReloadResult::Loaded { .. }) {
            let loaded = self.loaded.load(Ordering::Relaxed);
            let previous_count = self.in_use.swap(loaded, Ordering::Relaxed);
            if loaded == 0 && previous_count > 0 {
                super::log::emptied(self.plugin, &self.path, previous_count);
            }
            self.changed.notify();
        }
        let reload = DirectoryReload {
            plugin: self.plugin,
            directory: &self.path,
            result,
            at: attempt.ended,
            took: attempt.took,
        };
        self.observers
            .iter()
            .for_each(|observer| observer.reloaded(&reload));
    }

    fn watching(&self, is_watched: bool) {
        let observers = self.observers.iter();
        observers.for_each(|observer| observer.watching(self.plugin, &self.path, is_watched));
    }
}
