//! The documents of a file before they are parsed.

use std::sync::Arc;

use pratique_gotext::strconv::quote;

use super::split::{self, BadSeparator, RawDocument};
use crate::position::{DocumentSource, DocumentStart, FileLines, file_lines};
use crate::problem::{Failure, Problem, Rule};
use crate::read::directory::ManifestFile;

/// A document before it is parsed.
#[derive(Clone)]
pub(crate) struct FileDocument {
    pub(crate) file: Arc<str>,
    pub(crate) index: usize,
    pub(crate) raw: RawDocument,
    pub(crate) file_lines: FileLines,
}

impl FileDocument {
    /// The document without its bytes.
    pub(crate) fn without_text(&self) -> Self {
        FileDocument {
            file: Arc::clone(&self.file),
            index: self.index,
            raw: RawDocument {
                bytes: Vec::new(),
                start: self.raw.start,
            },
            file_lines: self.file_lines.clone(),
        }
    }

    /// The text of the document with its place in the file.
    pub(crate) fn into_source(self) -> DocumentSource {
        let text = String::from_utf8_lossy(&self.raw.bytes).into_owned();
        DocumentSource::new(self.file, self.index, text, self.raw.start, self.file_lines)
    }
}

impl From<&DocumentSource> for FileDocument {
    fn from(source: &DocumentSource) -> Self {
        FileDocument {
            file: Arc::clone(source.file()),
            index: source.index(),
            raw: RawDocument {
                bytes: source.as_str().as_bytes().to_vec(),
                start: source.start(),
            },
            file_lines: source.file_lines().cloned(),
        }
    }
}

/// The failures of invalid separators.
pub(crate) fn bad_separators(file: &ManifestFile) -> Vec<Failure> {
    let errors = split::bad_separators(&file.content);
    if errors.is_empty() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&file.content).into_owned();
    let file_lines = file_lines(&file.content);
    let path = file.path.as_str().into();
    let source = DocumentSource::new(path, 0, text, DocumentStart::FILE, file_lines);
    errors.iter().map(|error| bad_separator(&source, error)).collect()
}

/// The documents of a file.
pub(crate) fn documents(file: &ManifestFile) -> impl Iterator<Item = FileDocument> + use<> {
    let path: Arc<str> = file.path.as_str().into();
    let file_lines = file_lines(&file.content);
    let split = split::split(&file.content).into_iter().enumerate();
    split.map(move |(index, raw)| FileDocument {
        file: Arc::clone(&path),
        index,
        raw,
        file_lines: file_lines.clone(),
    })
}

/// The failure of an invalid separator in a whole file's text.
fn bad_separator(source: &DocumentSource, error: &BadSeparator) -> Failure {
    let message = format!("invalid Yaml document separator: {}", error.rest);
    let location = source.location(source.line_span(error.line));
    let problem = Problem::new(Rule::DocumentSeparator, message.clone()).at(location);
    Failure::single(
        format!(
            "failed to split YAML documents in file {}: {message}",
            quote(source.file())
        ),
        problem,
    )
}
