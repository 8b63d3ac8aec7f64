//! The folders that the client works in: definitions of custom resources, and objects that others name.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::InitializeParams;
use pratique_lint::CustomTypes;
use pratique_manifest::convert::objects;
use pratique_manifest::{
    Location, ManifestFile, MappingFields, ObjectSource, PathStep, is_manifest, read_documents, read_regular,
};
use pratique_schema::Release;
use pratique_suite::Roots;

use crate::documents::{OpenDocuments, path_of};
use crate::files::LARGEST;

/// Entries of folders that are looked at, at most.
const MOST_ENTRIES: usize = 50_000;
/// How deep folders may nest.
const DEPTH: usize = 32;
/// Folders of what others wrote, and of what programs make.
const SKIPPED: [&str; 3] = ["node_modules", "target", "vendor"];
/// The text that every file with definitions contains.
const DEFINITION: &str = "CustomResourceDefinition";

/// The folders of the client, and the definitions in them.
#[derive(Debug)]
pub(crate) struct WorkspaceFiles {
    /// The release of the server whose custom resources these define.
    release: &'static Release,
    folders: Vec<PathBuf>,
    was_walked: bool,
    /// The files with definitions of custom resources, as they are on the disk or in the client.
    definitions: BTreeMap<PathBuf, Vec<u8>>,
    has_changed: bool,
}

/// An object that another one names.
#[derive(Debug)]
pub(crate) struct ObjectReference {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    /// Any, if it is not said.
    pub(crate) namespace: Option<String>,
}

impl WorkspaceFiles {
    /// The folders of a client, and the release of the server that it writes for.
    #[allow(deprecated, reason = "older clients have one folder")]
    pub(crate) fn new(release: &'static Release, params: &InitializeParams) -> Self {
        let folders = params.workspace_folders.iter().flatten();
        let mut folders: Vec<PathBuf> = folders.filter_map(|folder| path_of(&folder.uri)).collect();
        if folders.is_empty() {
            folders.extend(params.root_uri.as_ref().and_then(path_of));
        }
        WorkspaceFiles {
            release,
            folders,
            was_walked: false,
            definitions: BTreeMap::new(),
            has_changed: false,
        }
    }

    /// The directories below which suites can name files: the folders, with the texts of open documents.
    pub(crate) fn roots(&self, documents: &OpenDocuments) -> Roots {
        let roots = Roots::new(self.folders.iter().cloned()).unwrap_or_default();
        roots.with_unsaved(documents.contents())
    }

    /// Updates the definitions of a file to its content; `None` if it was removed.
    pub(crate) fn update(&mut self, path: &Path, content: Option<&[u8]>) {
        let defines = |content: &&[u8]| String::from_utf8_lossy(content).contains(DEFINITION);
        self.has_changed |= match content.filter(defines) {
            Some(content) => {
                let known = self.definitions.insert(path.to_owned(), content.to_vec());
                known.as_deref() != Some(content)
            }
            None => self.definitions.remove(path).is_some(),
        };
    }

    /// The types of all definitions, if they are others than before. The first time, the folders are looked through.
    pub(crate) fn changed_types(&mut self, documents: &OpenDocuments) -> Option<Arc<CustomTypes>> {
        if !self.was_walked {
            self.was_walked = true;
            for path in self.files() {
                let is_open = documents.is_open(&path);
                if let Some(content) = read(&path).filter(|_| !is_open) {
                    self.update(&path, Some(&content));
                }
            }
        }
        if !std::mem::take(&mut self.has_changed) {
            return None;
        }
        let mut definitions = Vec::new();
        for (path, content) in &self.definitions {
            let file = ManifestFile {
                path: path.to_string_lossy().into_owned(),
                content: content.clone(),
            };
            // What cannot be read, such as a definition that is being written, has no types.
            definitions.extend(objects(&file).unwrap_or_default());
        }
        Some(Arc::new(CustomTypes::new(self.release, &definitions)))
    }

    /// Where the name of an object is.
    pub(crate) fn find(&self, reference: &ObjectReference, documents: &OpenDocuments) -> Option<Location> {
        let open = documents.contents();
        let closed = self.files().into_iter().filter(|path| !documents.is_open(path));
        let closed = closed.filter_map(|path| read(&path).map(|content| (path, content)));
        open.chain(closed)
            .find_map(|(path, content)| named(reference, &path, content))
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut left = MOST_ENTRIES;
        let mut files = Vec::new();
        for folder in &self.folders {
            walk(folder, 0, &mut left, &mut files);
        }
        files
    }
}

/// The manifests below a folder. Recursion is safe: its depth is bounded.
fn walk(folder: &Path, depth: usize, left: &mut usize, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<_> = entries.take(*left).collect();
    *left -= entries.len();
    entries.sort_unstable_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let path = entry.path();
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        match entry.file_type().is_ok_and(|of| of.is_dir()) {
            _ if is_hidden => {}
            true if depth < DEPTH && !SKIPPED.iter().any(|skipped| name == *skipped) => {
                walk(&path, depth + 1, left, files);
            }
            false if is_manifest(&path) => files.push(path),
            _ => {}
        }
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    read_regular(path, LARGEST).ok()
}

/// Where the name of an object is in a file.
fn named(reference: &ObjectReference, path: &Path, content: Vec<u8>) -> Option<Location> {
    let text = String::from_utf8_lossy(&content);
    if !text.contains(&reference.name) || !text.contains(&reference.kind) {
        return None;
    }
    let file = ManifestFile {
        path: path.to_str()?.to_owned(),
        content,
    };
    let documents = read_documents(&file).unwrap_or_default();
    let document = documents.iter().find(|document| {
        let is = |path: &[&str], value: &str| text_at(&document.source, path).as_deref() == Some(value);
        let namespace = reference.namespace.as_deref();
        is(&["apiVersion"], &reference.api_version)
            && is(&["kind"], &reference.kind)
            && is(&["metadata", "name"], &reference.name)
            && namespace.is_none_or(|namespace| is(&["metadata", "namespace"], namespace))
    })?;
    Some(document.source.locate(&steps(&["metadata", "name"])))
}

/// The path of a field.
pub(crate) fn steps(names: &[&str]) -> Vec<PathStep> {
    names
        .iter()
        .map(|name| PathStep::Field((*name).to_owned()))
        .collect()
}

/// The text of a field, if it is one.
pub(crate) fn text_at(source: &ObjectSource, path: &[&str]) -> Option<String> {
    let tree = source.tree();
    let id = tree.find(source.root(), &steps(path))?;
    MappingFields { tree, id }.as_text()
}
