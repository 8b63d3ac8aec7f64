//! Loading a directory repeatedly: unchanged files are not loaded again.

use super::content_hash::ContentHash;
use super::document_validator::{DocumentValidator, ManifestScope};
use super::file_cache::FileCache;
use super::options::{LoadOptions, SourceTexts};
use super::rewrites::{FileContent, RewriteDelays, RewriteDetector, UnstableFile};
use super::set::ManifestSet;
use super::{finish, read, readable};
use crate::budget::Budget;
use crate::plugin::ManifestPlugin;
use crate::problem::{Failure, LoadErrors};
use crate::read::directory::ReadManifest;

/// Loads a plugin's directory repeatedly.
///
/// The result is always that of [`Loader::load_directory`](crate::Loader::load_directory). Unchanged files are not parsed, validated or
/// compiled again, and their objects are the very same.
#[derive(Debug)]
pub struct Reloader {
    plugin: ManifestPlugin,
    cache: FileCache,
    rewrites: RewriteDetector,
}

/// The result of loading a directory that may just be written to.
#[derive(Debug)]
pub enum ReloadOutcome {
    /// The content has the hash that is in use.
    Unchanged,
    /// The objects of the directory.
    New(ManifestSet),
    /// The files may be incomplete, as while one of them is written or several are changed.
    Unstable(UnstableFile),
}

impl Reloader {
    /// Loads directories of this plugin.
    #[must_use]
    pub fn new(plugin: ManifestPlugin) -> Self {
        Self {
            plugin,
            cache: FileCache::default(),
            rewrites: RewriteDetector::default(),
        }
    }

    /// Sets how long [`load_stable`](Self::load_stable) waits for files that are rewritten in place.
    #[must_use]
    pub fn with_rewrite_delays(self, delays: RewriteDelays) -> Self {
        Self {
            rewrites: RewriteDetector::new(delays),
            ..self
        }
    }

    /// Loads the directory, unless its content has the hash that is in use. The compiler of the options should be the same
    /// each time: objects of unchanged files are not compiled again.
    ///
    /// # Errors
    /// As [`Loader::load_directory`](crate::Loader::load_directory).
    pub fn load(
        &mut self,
        path: &str,
        in_use: Option<&str>,
        options: &LoadOptions<'_>,
    ) -> Result<Option<ManifestSet>, LoadErrors> {
        let budget = options.budget();
        let files = read(path, &budget)?;
        match changed_hash(&files, in_use) {
            None => Ok(None),
            Some(hash) => self.finish(files, hash, &budget, options).map(Some),
        }
    }

    /// Loads the directory as [`load`](Self::load) does, unless a file was rewritten in place a moment ago: such a file has to
    /// stay the same for a while, and longer if it is shorter than before or objects of it are missing. The caller is
    /// expected to call again after the delay that is returned. Files that were renamed into place or swapped by links are
    /// loaded at once. Of the first content, where `in_use` is `None`, files that were written to a moment ago are waited
    /// for, also if they do not load; see [`RewriteDetector`] for the rest.
    ///
    /// # Errors
    /// As [`Loader::load_directory`](crate::Loader::load_directory).
    pub fn load_stable(
        &mut self,
        path: &str,
        in_use: Option<&str>,
        options: &LoadOptions<'_>,
    ) -> Result<ReloadOutcome, LoadErrors> {
        let budget = options.budget();
        let files = read(path, &budget)?;
        let Some(hash) = changed_hash(&files, in_use) else {
            self.rewrites.keep(contents(&files));
            return Ok(ReloadOutcome::Unchanged);
        };
        let contents = contents(&files);
        let loaded = self.finish(files, hash.clone(), &budget, options);
        if in_use.is_none() {
            let sets = loaded.as_ref().map(|set| [set]).ok();
            let sets = sets.as_ref().map(|sets| &sets[..]);
            return match self.rewrites.admit_first(contents, sets, &hash) {
                Err(file) => Ok(ReloadOutcome::Unstable(file)),
                Ok(()) => loaded.map(ReloadOutcome::New),
            };
        }
        let set = loaded?;
        let admitted = self.rewrites.admit(contents, &[&set], &set.hash);
        Ok(match admitted {
            Ok(()) => ReloadOutcome::New(set),
            Err(file) => ReloadOutcome::Unstable(file),
        })
    }

    /// Loads the first content of the directory, and as often again as a file of it may be incomplete, each time after `pause`.
    pub(super) fn load_first(
        &mut self,
        path: &str,
        options: &LoadOptions<'_>,
        pause: impl Fn(&UnstableFile),
    ) -> Result<ManifestSet, LoadErrors> {
        loop {
            match self.load_stable(path, None, options)? {
                ReloadOutcome::New(set) => return Ok(set),
                ReloadOutcome::Unstable(file) => pause(&file),
                // Nothing is in use that it could be the same as.
                ReloadOutcome::Unchanged => {}
            }
        }
    }

    fn finish(
        &mut self,
        files: Vec<Result<ReadManifest, Failure>>,
        hash: String,
        budget: &Budget,
        options: &LoadOptions<'_>,
    ) -> Result<ManifestSet, LoadErrors> {
        let scope = ManifestScope::Plugin(self.plugin);
        let validator = DocumentValidator::new(scope, options, SourceTexts::Kept, budget);
        let set = finish(readable(files), validator, Some(&mut self.cache))?;
        Ok(ManifestSet { hash, ..set })
    }
}

fn contents(files: &[Result<ReadManifest, Failure>]) -> Vec<FileContent> {
    let files = files.iter().flatten();
    files.map(|(file, state)| FileContent::new(file, state)).collect()
}

/// The hash of files, unless it is in use; files that cannot be read count as changed.
fn changed_hash(files: &[Result<ReadManifest, Failure>], in_use: Option<&str>) -> Option<String> {
    let mut hash = ContentHash::default();
    files.iter().flatten().for_each(|(file, _)| hash.add(file));
    let hash = hash.finish();
    let is_unchanged = files.iter().all(Result::is_ok) && in_use == Some(hash.as_str());
    (!is_unchanged).then_some(hash)
}
