//! The thread that loads: waits for a call, looks, loads, swaps, and says what came of it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwap;

use crate::eyes::Eyes;
use crate::load::{Load, Loaded, Version};
use crate::observer::{Attempt, Observer, Outcome};
use crate::options::Options;
use crate::signal::{Call, Change, Signal};
use crate::versions::Notices;

/// All that the thread has.
pub(crate) struct Worker<T, L, O> {
    pub(crate) directory: PathBuf,
    pub(crate) options: Options,
    pub(crate) loader: L,
    pub(crate) observer: O,
    pub(crate) current: Arc<ArcSwap<Version<T>>>,
    pub(crate) signal: Arc<Signal>,
    pub(crate) notices: Arc<Notices>,
    pub(crate) eyes: Eyes,
    pub(crate) said: Said,
}

/// What was said last of what is wrong, so that it is said once.
#[derive(Default)]
pub(crate) struct Said {
    /// Of the content.
    failure: Option<u64>,
    /// Of content that may be unfinished.
    unsettled: Option<u64>,
    /// Of the file system.
    unwatched: Option<u64>,
    /// Whether the file system tells of changes, as the observer was told.
    is_watched: Option<bool>,
}

impl Said {
    /// Takes whether the file system tells of changes; gives it where that is news.
    fn news(&mut self, is_watched: bool) -> Option<bool> {
        let before = self.is_watched.replace(is_watched);
        (before != Some(is_watched)).then_some(is_watched)
    }
}

impl<T, L: Load<T>, O: Observer> Worker<T, L, O> {
    /// Works until it is told to stop.
    pub(crate) fn run(mut self) {
        let mut again_in = None;
        loop {
            let wait = again_in.map_or(self.options.poll, |again_in| self.options.poll.min(again_in));
            let poll_at = Instant::now().checked_add(wait);
            match self.signal.wait(poll_at, &self.options) {
                Call::Stop => return,
                Call::Look { lost } => {
                    // Watches come first: a change after the look is told, a change before it is seen.
                    watch(
                        &mut self.eyes,
                        &self.directory,
                        lost,
                        (&self.options, &self.observer),
                        &mut self.said,
                    );
                    again_in = self.attempt();
                }
            }
        }
    }

    /// Loads. Gives when to do so again, though nothing may change.
    fn attempt(&mut self) -> Option<Duration> {
        let began = Instant::now();
        let current = self.current.load_full();
        let (loader, directory) = (&mut self.loader, &self.directory);
        let loaded = load_steadily(&mut self.eyes, directory, || {
            let load = AssertUnwindSafe(|| loader.load(directory, Some(&current)));
            match catch_unwind(load) {
                Ok(loaded) => loaded.map_err(|error| error.to_string()),
                Err(_) => Err("loading panicked".to_owned()),
            }
        });
        let Ok(loaded) = loaded else {
            // It goes on changing; what was read is of no one time.
            self.signal.change(Change::Lost);
            return None;
        };
        if let Ok(Loaded::Unsettled { reason, again_in }) = loaded {
            self.unsettled(began, &reason);
            return Some(again_in);
        }
        self.said.unsettled = None;
        match loaded {
            Err(reason) => self.failed(began, &reason),
            Ok(Loaded::New { value, hash }) if hash != current.hash => {
                self.swap(began, value, hash, current.number + 1)
            }
            Ok(_) => {
                if self.said.failure.take().is_some() {
                    let (plugin, dir) = (self.options.wording.plugin.as_str(), self.directory.display());
                    tracing::info!(plugin, %dir, "{}", self.options.wording.recovered);
                }
                self.tell(began, Outcome::Unchanged { hash: &current.hash });
            }
        }
        None
    }

    fn unsettled(&mut self, began: Instant, reason: &str) {
        if is_new(&mut self.said.unsettled, reason) {
            let (plugin, dir) = (self.options.wording.plugin.as_str(), self.directory.display());
            tracing::warn!(reason, plugin, %dir, "{}", self.options.wording.unsettled);
        }
        self.tell(began, Outcome::Unsettled { reason });
    }

    fn swap(&mut self, began: Instant, value: T, hash: String, number: u64) {
        let version = Arc::new(Version { value, hash, number });
        self.current.store(Arc::clone(&version));
        self.notices.notify();
        self.said.failure = None;
        let (plugin, dir) = (self.options.wording.plugin.as_str(), self.directory.display());
        tracing::info!(plugin, %dir, "{}", self.options.wording.reloaded);
        self.tell(began, Outcome::Loaded { hash: &version.hash });
    }

    fn failed(&mut self, began: Instant, reason: &str) {
        if is_new(&mut self.said.failure, reason) {
            let (plugin, dir) = (self.options.wording.plugin.as_str(), self.directory.display());
            tracing::error!(err = reason, plugin, %dir, "{}", self.options.wording.failed);
        }
        self.tell(began, Outcome::Failed { reason });
    }

    fn tell(&self, began: Instant, outcome: Outcome<'_>) {
        tell(&self.observer, began, outcome);
    }
}

/// How often to read what changes while it is read.
const MAX_READS: usize = 8;

/// Loads until the way to the directory was the same before and after, so that a swap of all files is never half seen.
/// An error is what was read last, while it changed.
pub(crate) fn load_steadily<R>(
    eyes: &mut Eyes,
    directory: &Path,
    mut load: impl FnMut() -> R,
) -> Result<R, R> {
    let mut loaded = load();
    for _ in 1..MAX_READS {
        if eyes.is_steady(directory) {
            return Ok(loaded);
        }
        // What cannot be watched is told when it is looked at next.
        let _ = eyes.look(directory, false);
        loaded = load();
    }
    Err(loaded)
}

/// Tells the observer of an attempt that ends now.
pub(crate) fn tell(observer: &impl Observer, began: Instant, outcome: Outcome<'_>) {
    observer.attempted(&Attempt {
        outcome,
        ended: SystemTime::now(),
        took: began.elapsed(),
    });
}

/// Watches the way to the directory. Where that cannot be done, polling is what is left.
pub(crate) fn watch(
    eyes: &mut Eyes,
    directory: &Path,
    anew: bool,
    (options, observer): (&Options, &impl Observer),
    said: &mut Said,
) {
    let looked = eyes.look(directory, anew);
    if let Some(is_watched) = said.news(looked.is_ok()) {
        observer.watching(is_watched);
    }
    match looked {
        Ok(()) => said.unwatched = None,
        Err(error) => {
            let (plugin, dir) = (options.wording.plugin.as_str(), directory.display());
            if is_new(&mut said.unwatched, &error.to_string()) {
                let poll = options.poll;
                tracing::error!(err = %error, plugin, %dir, fallback = "poll", ?poll, "{}", options.wording.unwatched);
            }
        }
    }
}

/// Whether something was not said before; of long texts, too, only a few bytes are kept.
fn is_new(said: &mut Option<u64>, text: &str) -> bool {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let digest = Some(hasher.finish());
    std::mem::replace(said, digest) != digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_watched_is_told_when_it_changes() {
        let mut said = Said::default();
        let told = [true, true, false, false, true].map(|is_watched| said.news(is_watched));
        assert_eq!(told, [Some(true), None, Some(false), None, Some(true)]);
    }
}
