//! Loading a directory again and again: what did not change is taken from the time before.

use std::collections::HashMap;
use std::sync::Arc;

use crate::directory::ManifestFile;
use crate::examine::{Examiner, Home};
use crate::load::{ContentHash, Options, Texts, finish, read};
use crate::plugin::Plugin;
use crate::problem::LoadErrors;
use crate::set::ManifestSet;

/// Loads a plugin's directory whenever it may have changed.
///
/// The result is always that of [`load_directory`](crate::load_directory). Files that are the same as before are not
/// parsed, validated or compiled again, and their objects are the very same.
#[derive(Debug)]
pub struct Reloader {
    plugin: Plugin,
    memory: Memory,
}

impl Reloader {
    /// Loads directories of this plugin.
    #[must_use]
    pub fn new(plugin: Plugin) -> Self {
        Self {
            plugin,
            memory: Memory::default(),
        }
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
        let mut hash = ContentHash::default();
        files.iter().flatten().for_each(|file| hash.add(file));
        let hash = hash.finish();
        if files.iter().all(Result::is_ok) && in_use == Some(hash.as_str()) {
            return Ok(None);
        }
        let examiner = Examiner::new(Home::Plugin(self.plugin), options, Texts::Kept, &budget);
        let set = finish(files, examiner, Some(&mut self.memory))?;
        Ok(Some(ManifestSet { hash, ..set }))
    }
}

/// What the files of the time before came to, by path; of those without a fault.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    files: HashMap<Box<str>, Known>,
}

/// A file and its objects.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    text: Arc<String>,
    objects: Arc<ManifestSet>,
    cost: u64,
}

/// A file, by its path.
pub(crate) type KnownFile = (Box<str>, Known);

impl Known {
    pub(crate) fn new(text: Arc<String>, objects: ManifestSet, cost: u64) -> Self {
        Self {
            text,
            objects: Arc::new(objects),
            cost,
        }
    }

    pub(crate) fn objects(&self) -> &ManifestSet {
        &self.objects
    }

    /// What its documents took of the budget of their load.
    pub(crate) fn cost(&self) -> u64 {
        self.cost
    }

    pub(crate) fn text(&self) -> &Arc<String> {
        &self.text
    }

    /// The file that it was.
    pub(crate) fn file(&self, path: &str) -> ManifestFile {
        ManifestFile {
            path: path.to_owned(),
            content: self.text.as_bytes().to_vec(),
        }
    }
}

impl Memory {
    /// A file's objects, if the file is what it was.
    pub(crate) fn recall(&self, file: &ManifestFile) -> Option<Known> {
        let known = self.files.get(file.path.as_str());
        known
            .filter(|known| known.text.as_bytes() == file.content)
            .cloned()
    }

    /// Puts other files in the place of those before.
    pub(crate) fn replace(&mut self, files: impl IntoIterator<Item = KnownFile>) {
        self.files = files.into_iter().collect();
    }
}
