//! Loading a directory repeatedly: unchanged files are not loaded again.

use std::time::Instant;

use super::content_hash::ContentHash;
use super::document_validator::{DocumentValidator, ManifestScope};
use super::file_cache::FileCache;
use super::options::{Options, SourceTexts};
use super::rewrites::{FileContent, RewriteDelays, RewriteDetector, UnstableFile};
use super::set::ManifestSet;
use super::{finish, read, readable};
use crate::budget::Budget;
use crate::plugin::Plugin;
use crate::problem::{Failure, LoadErrors};
use crate::read::directory::Identified;

/// Loads a plugin's directory repeatedly.
///
/// The result is always that of [`load_directory`](crate::load_directory). Unchanged files are not parsed, validated or
/// compiled again, and their objects are the very same.
#[derive(Debug)]
pub struct Reloader {
    plugin: Plugin,
    cache: FileCache,
    delays: RewriteDelays,
    rewrites: RewriteDetector,
}

/// The result of loading a directory that may just be written to.
#[derive(Debug)]
pub enum Reloaded {
    /// The content has the hash that is in use.
    Unchanged,
    /// The objects of the directory.
    New(ManifestSet),
    /// A file was rewritten in place a moment ago, and may be incomplete.
    Unstable(UnstableFile),
}

impl Reloader {
    /// Loads directories of this plugin.
    #[must_use]
    pub fn new(plugin: Plugin) -> Self {
        Self {
            plugin,
            cache: FileCache::default(),
            delays: RewriteDelays::default(),
            rewrites: RewriteDetector::default(),
        }
    }

    /// Sets how long [`load_stable`](Self::load_stable) waits for files that are rewritten in place.
    #[must_use]
    pub fn with_rewrite_delays(self, delays: RewriteDelays) -> Self {
        Self { delays, ..self }
    }

    /// Loads the directory, unless its content has the hash that is in use. The compiler of the options should be the same
    /// each time: objects of unchanged files are not compiled again.
    ///
    /// # Errors
    /// As [`load_directory`](crate::load_directory).
    pub fn load(
        &mut self,
        path: &str,
        in_use: Option<&str>,
        options: &Options<'_>,
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
    /// expected to call again after the delay that is returned. Files that were renamed into place, removed, or
    /// swapped by links are loaded at once, and so is the first content.
    ///
    /// # Errors
    /// As [`load_directory`](crate::load_directory).
    pub fn load_stable(
        &mut self,
        path: &str,
        in_use: Option<&str>,
        options: &Options<'_>,
    ) -> Result<Reloaded, LoadErrors> {
        let budget = options.budget();
        let files = read(path, &budget)?;
        let Some(hash) = changed_hash(&files, in_use) else {
            self.rewrites.unchanged(files.iter().flatten());
            return Ok(Reloaded::Unchanged);
        };
        let contents: Vec<_> = files.iter().flatten().map(FileContent::new).collect();
        let set = self.finish(files, hash, &budget, options)?;
        if in_use.is_some() {
            let loaded = (&set, set.hash.as_str());
            let unstable = self
                .rewrites
                .unstable_file(&contents, loaded, &self.delays, Instant::now());
            if let Some(file) = unstable {
                return Ok(Reloaded::Unstable(file));
            }
        }
        self.rewrites.accept(contents, &set);
        Ok(Reloaded::New(set))
    }

    fn finish(
        &mut self,
        files: Vec<Result<Identified, Failure>>,
        hash: String,
        budget: &Budget,
        options: &Options<'_>,
    ) -> Result<ManifestSet, LoadErrors> {
        let scope = ManifestScope::Plugin(self.plugin);
        let validator = DocumentValidator::new(scope, options, SourceTexts::Kept, budget);
        let set = finish(readable(files), validator, Some(&mut self.cache))?;
        Ok(ManifestSet { hash, ..set })
    }
}

/// The hash of files, unless it is in use; files that cannot be read count as changed.
fn changed_hash(files: &[Result<Identified, Failure>], in_use: Option<&str>) -> Option<String> {
    let mut hash = ContentHash::default();
    files.iter().flatten().for_each(|(file, _)| hash.add(file));
    let hash = hash.finish();
    let is_unchanged = files.iter().all(Result::is_ok) && in_use == Some(hash.as_str());
    (!is_unchanged).then_some(hash)
}
