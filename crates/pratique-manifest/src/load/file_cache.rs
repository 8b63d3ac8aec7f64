//! The files of the previous load with their objects: a reload takes those whose content is unchanged.

use std::sync::Arc;

use foldhash::HashMap;

use super::set::ManifestSet;
use crate::read::directory::{ManifestFile, ReadContent, ReadManifest};
use crate::read::stamp::FileStamp;

/// The files of the previous load that had no errors, by path.
#[derive(Debug, Default)]
pub(crate) struct FileCache {
    files: HashMap<Box<str>, CachedFile>,
}

/// The text of a file and its objects.
#[derive(Clone, Debug)]
pub(crate) struct CachedFile {
    text: Arc<String>,
    /// By what the text is known to be the file's, if the file is not read again.
    stamp: Option<FileStamp>,
    objects: Arc<ManifestSet>,
    cost: u64,
}

/// The path of a file and its content.
pub(crate) type CacheEntry = (Box<str>, CachedFile);

impl CachedFile {
    pub(crate) fn new(text: Arc<String>, stamp: Option<FileStamp>, objects: ManifestSet, cost: u64) -> Self {
        Self {
            text,
            stamp,
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
    /// What is known of a file before it is read again.
    pub(crate) fn find_known(&self, path: &str) -> Option<(&FileStamp, &Arc<String>)> {
        let cached = self.files.get(path)?;
        Some((cached.stamp.as_ref()?, &cached.text))
    }

    /// Gives the entry of a file that was read again the stamp of now, and returns it, if its content is unchanged.
    pub(crate) fn renew(&mut self, file: &ReadManifest) -> Option<&CachedFile> {
        let cached = self.files.get_mut(file.path.as_str())?;
        match &file.content {
            ReadContent::Known(text) => Arc::ptr_eq(text, &cached.text).then_some(cached),
            ReadContent::Read(content) if *content == cached.text.as_bytes() => {
                cached.stamp.clone_from(&file.state.stamp);
                Some(cached)
            }
            ReadContent::Read(_) => None,
        }
    }

    /// Replaces all entries.
    pub(crate) fn replace(&mut self, files: impl IntoIterator<Item = CacheEntry>) {
        self.files = files.into_iter().collect();
    }

    /// Has the only entry whose path ends in a name have another text than its file.
    #[cfg(test)]
    pub(super) fn forge(&mut self, name: &str) {
        let mut files = self.files.iter_mut();
        let (_, cached) = files.find(|(path, _)| path.ends_with(name)).unwrap();
        cached.text = Arc::new(format!("# forged\n{}", cached.text));
    }
}
