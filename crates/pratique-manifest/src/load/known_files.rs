//! The files of the previous load and their objects, of which a reload takes those that are unchanged.

use std::collections::HashMap;
use std::sync::Arc;

use super::set::ManifestSet;
use crate::read::directory::ManifestFile;

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
