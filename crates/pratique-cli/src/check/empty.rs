//! Files without policies that are no error of theirs: empty ones, and empty lists, which are valid but have no plugin.

use std::path::Path;

use pratique_json::Value;
use pratique_manifest::convert::convert;
use pratique_manifest::is_manifest;
use pratique_manifest::{SourceDocument, ManifestFile, read_documents};

use crate::input::{read_directory, read_regular};
use crate::memory;

/// Whether a file has nothing but comments and separators.
pub(super) fn has_no_document(path: &str, content: &[u8]) -> bool {
    let file = ManifestFile {
        path: path.to_owned(),
        content: content.to_vec(),
    };
    let is_null = |document: &SourceDocument| {
        let source = &document.source;
        convert(source.tree(), source.root()).is_null()
    };
    read_documents(&file).is_ok_and(|documents| documents.iter().all(is_null))
}

/// Whether a file has only empty lists.
pub(super) fn is_empty_list(path: &str, content: Vec<u8>) -> bool {
    let file = ManifestFile {
        path: path.to_owned(),
        content,
    };
    let documents = read_documents(&file).unwrap_or_default();
    let is_empty = |object: Value<'_>| {
        let text = |name| object.get(name).and_then(Value::as_str);
        let items = match object.get("items") {
            None | Some(Value::Null) => 0,
            Some(Value::Array(items)) => items.len(),
            Some(_) => return false,
        };
        text("kind") == Some("List") && text("apiVersion") == Some("v1") && items == 0
    };
    !documents.is_empty()
        && documents
            .iter()
            .all(|document| is_empty(convert(document.source.tree(), document.source.root())))
}

/// Whether a directory has manifests, and all of them are empty lists.
pub(super) fn holds_only_empty_lists(path: &str) -> bool {
    let entries = read_directory(path).into_iter().flatten().flatten();
    let mut files = entries
        .map(|entry| entry.path())
        .filter(|path| is_manifest(path))
        .peekable();
    let is_empty = |file: &Path| {
        let content = read_regular(file, memory::manifests()).unwrap_or_default();
        is_empty_list(&file.to_string_lossy(), content)
    };
    files.peek().is_some() && files.all(|file| is_empty(&file))
}
