//! Loading a directory again and again: what did not change is taken from the time before.

use std::borrow::Cow;
use std::time::Instant;

use super::content_hash::ContentHash;
use super::document_validator::{Examiner, Home};
use super::finish;
use super::known_files::Memory;
use super::options::{Options, Texts};
use super::set::ManifestSet;
use super::settling::{Seen, Settler, Settling, Unsettled};
use crate::budget::Budget;
use crate::plugin::Plugin;
use crate::problem::{Failure, LoadErrors};
use crate::read::directory::{self, Identified};

/// Loads a plugin's directory whenever it may have changed.
///
/// The result is always that of [`load_directory`](crate::load_directory). Files that are the same as before are not
/// parsed, validated or compiled again, and their objects are the very same.
#[derive(Debug)]
pub struct Reloader {
    plugin: Plugin,
    memory: Memory,
    settling: Settling,
    settler: Settler,
}

/// What loading a directory that may be being written came to.
#[derive(Debug)]
pub enum Reloaded {
    /// The content has the hash that is in use.
    Unchanged,
    /// What the directory holds.
    New(ManifestSet),
    /// A file was rewritten in place, and is not taken for whole yet.
    Unsettled(Unsettled),
}

impl Reloader {
    /// Loads directories of this plugin.
    #[must_use]
    pub fn new(plugin: Plugin) -> Self {
        Self {
            plugin,
            memory: Memory::default(),
            settling: Settling::default(),
            settler: Settler::default(),
        }
    }

    /// How long [`load_settled`](Self::load_settled) waits for files that are rewritten in place.
    #[must_use]
    pub fn with_settling(self, settling: Settling) -> Self {
        Self { settling, ..self }
    }

    /// Loads the directory, unless its content has the hash that is in use. The compiler of the options should be the
    /// same each time: it is not asked again of what it compiled.
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
        match is_in_use(&files, in_use) {
            Ok(()) => Ok(None),
            Err(hash) => self.finish(files, hash, &budget, options).map(Some),
        }
    }

    /// Loads the directory as [`load`](Self::load) does, and does not take files for whole that are being rewritten in
    /// place, as far as can be told: they have to stay the same for a while, and longer where objects are gone that
    /// were there or the file is shorter than before. To be asked again then; nothing is in use before it was given.
    /// Files that were renamed into place, removed, or swapped by links are taken at once.
    ///
    /// # Errors
    /// As [`load_directory`](crate::load_directory).
    pub fn load_settled(
        &mut self,
        path: &str,
        in_use: Option<&str>,
        options: &Options<'_>,
    ) -> Result<Reloaded, LoadErrors> {
        let budget = options.budget();
        let files = read(path, &budget)?;
        let hash = match is_in_use(&files, in_use) {
            Ok(()) => {
                self.settler.unchanged(files.iter().flatten());
                return Ok(Reloaded::Unchanged);
            }
            Err(hash) => hash,
        };
        let seen: Vec<_> = files.iter().flatten().map(Seen::new).collect();
        let set = self.finish(files, hash, &budget, options)?;
        if in_use.is_some() {
            let loaded = (&set, set.hash.as_str());
            let doubts = self.settler.doubts(&seen, loaded, &self.settling, Instant::now());
            if let Some(unsettled) = doubts {
                return Ok(Reloaded::Unsettled(unsettled));
            }
        }
        self.settler.take(seen, &set);
        Ok(Reloaded::New(set))
    }

    fn finish(
        &mut self,
        files: Vec<Result<Identified, Failure>>,
        hash: String,
        budget: &Budget,
        options: &Options<'_>,
    ) -> Result<ManifestSet, LoadErrors> {
        let examiner = Examiner::new(Home::Plugin(self.plugin), options, Texts::Kept, budget);
        let files = files
            .into_iter()
            .map(|file| file.map(|(file, _)| Cow::Owned(file)));
        let set = finish(files, examiner, Some(&mut self.memory))?;
        Ok(ManifestSet { hash, ..set })
    }
}

fn read(path: &str, budget: &Budget) -> Result<Vec<Result<Identified, Failure>>, LoadErrors> {
    directory::read(path, budget).map_err(|failure| LoadErrors::new(vec![failure]))
}

/// Whether files have the content that is in use; otherwise the hash that they have.
fn is_in_use(files: &[Result<Identified, Failure>], in_use: Option<&str>) -> Result<(), String> {
    let mut hash = ContentHash::default();
    files.iter().flatten().for_each(|(file, _)| hash.add(file));
    let hash = hash.finish();
    match files.iter().all(Result::is_ok) && in_use == Some(hash.as_str()) {
        true => Ok(()),
        false => Err(hash),
    }
}
