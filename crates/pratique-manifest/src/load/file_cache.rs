//! The files of the previous load with their objects: a reload takes those whose content is unchanged.

use std::collections::HashMap;
use std::sync::Arc;

use super::set::ManifestSet;
use crate::read::directory::ManifestFile;

/// The files of the previous load that had no errors, by path.
#[derive(Debug, Default)]
pub(crate) struct FileCache {
    files: HashMap<Box<str>, CachedFile>,
}

/// The text of a file and its objects.
#[derive(Clone, Debug)]
pub(crate) struct CachedFile {
    text: Arc<String>,
    objects: Arc<ManifestSet>,
    cost: u64,
}

/// The path of a file and its content.
pub(crate) type CacheEntry = (Box<str>, CachedFile);

impl CachedFile {
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

    /// The cost of its documents in the budget of their load.
    pub(crate) fn cost(&self) -> u64 {
        self.cost
    }

    pub(crate) fn share_text(&self) -> &Arc<String> {
        &self.text
    }

    /// The file as it was read.
    pub(crate) fn to_file(&self, path: &str) -> ManifestFile {
        ManifestFile {
            path: path.to_owned(),
            content: self.text.as_bytes().to_vec(),
        }
    }
}

impl FileCache {
    /// The entry of a file, if its content is unchanged.
    pub(crate) fn get(&self, file: &ManifestFile) -> Option<CachedFile> {
        let cached = self.files.get(file.path.as_str());
        cached
            .filter(|cached| cached.text.as_bytes() == file.content)
            .cloned()
    }

    /// Replaces all entries.
    pub(crate) fn replace(&mut self, files: impl IntoIterator<Item = CacheEntry>) {
        self.files = files.into_iter().collect();
    }
}
