//! The documents that a client has open, and the files beside them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lsp_types::Uri;
use pratique_manifest::{ManifestFile, read_regular};
use url::Url;

use crate::text::Text;

/// Files beside a document that are looked at, at most.
const MOST_FILES: usize = 1_000;
/// The size of a file beside a document that is looked at, at most, in bytes.
const LARGEST: u64 = 4 << 20;

/// The open documents by their names: paths, or URIs of documents that are no files.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    open: BTreeMap<String, (Uri, Text)>,
}

impl Documents {
    /// Opens a document, or replaces its text.
    pub(crate) fn open(&mut self, uri: Uri, text: String) {
        self.open.insert(name_of(&uri), (uri, Text::new(text)));
    }

    pub(crate) fn close(&mut self, uri: &Uri) {
        self.open.remove(&name_of(uri));
    }

    pub(crate) fn text(&self, uri: &Uri) -> Option<&Text> {
        self.open.get(&name_of(uri)).map(|(_, text)| text)
    }

    pub(crate) fn text_mut(&mut self, uri: &Uri) -> Option<&mut Text> {
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
    pub(crate) fn read(&self, name: &str) -> Text {
        match self.open.get(name) {
            Some((_, text)) => text.clone(),
            None => Text::new(fs::read_to_string(name).unwrap_or_default()),
        }
    }

    /// The files that are looked at together with a document: those of its directory. What is open is taken from the client.
    pub(crate) fn beside(&self, uri: &Uri) -> Vec<ManifestFile> {
        let name = name_of(uri);
        let directory = Path::new(&name).parent().filter(|_| path_of(uri).is_some());
        let mut files = BTreeMap::new();
        for path in directory.into_iter().flat_map(listed) {
            let Some(path) = path.to_str() else { continue };
            if self.open.contains_key(path) {
                continue;
            }
            if let Ok(content) = read_regular(Path::new(path), LARGEST) {
                files.insert(path.to_owned(), content);
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

/// The manifests of a directory, by name.
fn listed(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_manifest(path))
        .collect();
    paths.sort_unstable();
    paths.truncate(MOST_FILES);
    paths
}

fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("yaml" | "yml" | "json"))
}

fn path_of(uri: &Uri) -> Option<PathBuf> {
    Url::parse(uri.as_str()).ok()?.to_file_path().ok()
}

/// The name of a document in messages and locations.
pub(crate) fn name_of(uri: &Uri) -> String {
    let path = path_of(uri).and_then(|path| path.to_str().map(str::to_owned));
    path.unwrap_or_else(|| uri.as_str().to_owned())
}
