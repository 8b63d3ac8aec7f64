//! The documents that a client has open, and the other files of their directories.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::Uri;
use pratique_manifest::{ManifestFile, is_manifest, read_regular};
use url::Url;

use crate::files::{FileCache, LARGEST, listed};
use crate::text::IndexedText;

/// The open documents by their names: paths, or URIs of documents that are no files.
#[derive(Debug, Default)]
pub(crate) struct OpenDocuments {
    open: BTreeMap<String, (Uri, IndexedText)>,
    /// The files that were read in the directories of open documents.
    files: FileCache,
}

impl OpenDocuments {
    /// Opens a document, or replaces its text.
    pub(crate) fn open(&mut self, uri: Uri, text: String) {
        self.open.insert(name_of(&uri), (uri, IndexedText::new(text)));
    }

    pub(crate) fn close(&mut self, uri: &Uri) {
        self.open.remove(&name_of(uri));
        let open = &self.open;
        self.files.retain(|directory| {
            open.keys()
                .any(|name| Path::new(name).parent() == Some(directory))
        });
    }

    /// Reads a file again that the client says has changed.
    pub(crate) fn forget(&mut self, uri: &Uri) {
        self.files.forget(Path::new(&name_of(uri)));
    }

    /// A file as it is on the disk, if it is a manifest.
    pub(crate) fn on_disk(&mut self, path: &Path) -> Option<Arc<[u8]>> {
        self.files.content(path).filter(|_| is_manifest(path))
    }

    pub(crate) fn find_text(&self, uri: &Uri) -> Option<&IndexedText> {
        self.open.get(&name_of(uri)).map(|(_, text)| text)
    }

    pub(crate) fn text_mut(&mut self, uri: &Uri) -> Option<&mut IndexedText> {
        self.open.get_mut(&name_of(uri)).map(|(_, text)| text)
    }

    /// The URI of a file, as the client writes it if it is open.
    pub(crate) fn uri(&self, name: &str) -> Option<Uri> {
        match self.open.get(name) {
            Some((uri, _)) => Some(uri.clone()),
            None => Url::from_file_path(name).ok()?.as_str().parse().ok(),
        }
    }

    /// The text of a file that is open, or else as it is on the disk.
    pub(crate) fn read(&self, name: &str) -> IndexedText {
        match self.open.get(name) {
            Some((_, text)) => text.clone(),
            None => {
                let content = read_regular(name, LARGEST).unwrap_or_default();
                IndexedText::new(String::from_utf8(content).unwrap_or_default())
            }
        }
    }

    /// All that are open.
    pub(crate) fn to_files(&self) -> Vec<ManifestFile> {
        let open = self.open.iter().map(|(name, (_, text))| ManifestFile {
            path: name.clone(),
            content: text.content().as_bytes().to_vec(),
        });
        open.collect()
    }

    /// Those that are files, with their paths and texts.
    pub(crate) fn contents(&self) -> impl Iterator<Item = (PathBuf, Vec<u8>)> {
        let files = self.open.values();
        files.filter_map(|(uri, text)| Some((path_of(uri)?, text.content().as_bytes().to_vec())))
    }

    pub(crate) fn is_open(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|name| self.open.contains_key(name))
    }

    pub(crate) fn uris(&self) -> impl Iterator<Item = &Uri> {
        self.open.values().map(|(uri, _)| uri)
    }

    /// The files that are analyzed together with a document: those of its directory. The texts of open documents are the client's.
    pub(crate) fn of_directory(&mut self, uri: &Uri) -> Vec<ManifestFile> {
        let name = name_of(uri);
        let directory = Path::new(&name).parent().filter(|_| path_of(uri).is_some());
        let mut files = BTreeMap::new();
        for path in directory.into_iter().flat_map(listed) {
            let Some(name) = path.to_str() else { continue };
            if self.open.contains_key(name) {
                continue;
            }
            if let Some(content) = self.files.content(&path) {
                files.insert(name.to_owned(), content.to_vec());
            }
        }
        for (other, (_, text)) in &self.open {
            if *other == name
                || (directory.is_some()
                    && Path::new(other).parent() == directory
                    && is_manifest(Path::new(other)))
            {
                files.insert(other.clone(), text.content().as_bytes().to_vec());
            }
        }
        let files = files.into_iter();
        files
            .map(|(path, content)| ManifestFile { path, content })
            .collect()
    }
}

/// The path of a document that is a file.
pub(crate) fn path_of(uri: &Uri) -> Option<PathBuf> {
    Url::parse(uri.as_str()).ok()?.to_file_path().ok()
}

/// The name of a document in messages and locations.
pub(crate) fn name_of(uri: &Uri) -> String {
    let path = path_of(uri).and_then(|path| path.to_str().map(str::to_owned));
    path.unwrap_or_else(|| uri.as_str().to_owned())
}

/// The key of the documents that are analyzed together: the directory of a file, or the URI of another document.
pub(crate) fn directory_of(uri: &Uri) -> String {
    let path = path_of(uri);
    let directory = path.as_deref().and_then(Path::parent).and_then(Path::to_str);
    directory.map_or_else(|| uri.as_str().to_owned(), str::to_owned)
}
