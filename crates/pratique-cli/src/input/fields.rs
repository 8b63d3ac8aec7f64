//! The fields of the objects of a piece of a stream, at their places.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use pratique_manifest::convert::{items, items_of};
use pratique_manifest::{Location, ManifestFile, SourceDocument, read_contents};
use pratique_review::FieldPath;
use pratique_stream::{Piece, PieceForm};

use super::place::{PlaceShift, saturated};
use super::rendering::template_lines::TemplateLines;
use super::{piece, quick};
use crate::output::excerpt::FileTexts;
use crate::output::text::PrintableText;
use crate::style::{StreamStyle, TextTone};

/// How Helm says which template an object is of.
// Upstream: helm's pkg/action/action.go, renderResources
const HELM_COMMENT: &str = "# Source: ";

/// Where the fields of the objects of a piece are. Nothing is read before a field is looked for.
pub(crate) struct PieceFields<'p> {
    path: &'p Arc<str>,
    piece: &'p Piece,
    documents: OnceCell<Vec<PlacedDocument>>,
    /// The lines of the piece, by documents: a list has many objects in one.
    lines: OnceCell<Vec<DocumentLines<'p>>>,
    texts: RefCell<Option<FileTexts>>,
}

/// The place of a field.
pub(crate) struct LocatedField {
    /// Where it is, or what should have it.
    pub(crate) location: Location,
    /// How many steps of its path there are.
    pub(super) depth: usize,
}

/// A document, and where the text begins of which it was read.
struct PlacedDocument {
    document: SourceDocument,
    shift: PlaceShift,
}

/// The lines of a document.
pub(super) struct DocumentLines<'t> {
    /// The number of the first one in the input, from 1.
    pub(super) first: u32,
    pub(super) all: Vec<&'t str>,
    /// The template that Helm names in a comment at the beginning.
    pub(super) template: Option<&'t str>,
    /// The lines of the template, once they were looked for: a list may have very many objects of it.
    pub(super) aligned: OnceCell<Option<Arc<TemplateLines>>>,
}

impl<'t> DocumentLines<'t> {
    /// The documents of a text with their lines; the number of the first line is `first`.
    fn split(text: &'t [u8], first: u32) -> Vec<Self> {
        let mut documents: Vec<Self> = Vec::new();
        let mut is_within = false;
        for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            // What cannot be read separates documents as well: no place in it is known.
            let line = std::str::from_utf8(line).ok().map(str::trim_end);
            let Some(line) = line.filter(|line| !line.starts_with("---")) else {
                is_within = false;
                continue;
            };
            match documents.last_mut() {
                Some(document) if is_within => document.all.push(line),
                _ => documents.push(DocumentLines {
                    first: first.saturating_add(saturated(index)),
                    all: vec![line],
                    template: None,
                    aligned: OnceCell::new(),
                }),
            }
            is_within = true;
        }
        for document in &mut documents {
            let lines = document.all.iter();
            let mut heading = lines.take_while(|line| line.is_empty() || line.starts_with('#'));
            document.template = heading.find_map(|line| line.strip_prefix(HELM_COMMENT));
        }
        documents
    }

    /// Whether a line of the input is one of the document.
    fn has_line(&self, line: u32) -> bool {
        let index = line.checked_sub(self.first);
        index.is_some_and(|index| usize::try_from(index).is_ok_and(|index| index < self.all.len()))
    }
}

impl<'p> PieceFields<'p> {
    /// The fields of a piece of an input.
    pub(crate) fn new(path: &'p Arc<str>, piece: &'p Piece) -> Self {
        PieceFields {
            path,
            piece,
            documents: OnceCell::new(),
            lines: OnceCell::new(),
            texts: RefCell::default(),
        }
    }

    /// Where a field of the object at a location is; of a field that is not there, what should have it.
    pub(crate) fn locate(&self, object: &Location, field: &FieldPath) -> Option<LocatedField> {
        let documents = self.documents.get_or_init(|| self.read());
        documents
            .iter()
            .find_map(|document| self.locate_in(document, object, field))
    }

    fn locate_in(
        &self,
        placed: &PlacedDocument,
        object: &Location,
        field: &FieldPath,
    ) -> Option<LocatedField> {
        let source = &placed.document.source;
        let items = match &self.piece.form {
            PieceForm::Items(list) => items_of(source, quick::implied(list)),
            PieceForm::Documents | PieceForm::ListEnd(_) => items(source),
        };
        let tree = source.tree();
        items.objects.iter().find_map(|item| {
            let mut location = source.document().location(tree.get(item.node).span);
            placed.shift.location(&mut location);
            if location.start != object.start {
                return None;
            }
            let mut location = field.locate(source, item.node);
            placed.shift.location(&mut location);
            Some(LocatedField {
                location,
                depth: field.depth(tree, item.node),
            })
        })
    }

    /// The lines of the document that has the object at a location; `None` of JSON, which has no comments.
    pub(super) fn document_lines(&self, object: &Location) -> Option<&DocumentLines<'p>> {
        if !self.piece.values.is_empty() || !matches!(self.piece.form, PieceForm::Documents) {
            return None;
        }
        let first = saturated(self.piece.start.line);
        let documents = self
            .lines
            .get_or_init(|| DocumentLines::split(&self.piece.text, first));
        let line = object.start.line;
        let end = documents.partition_point(|document| document.first <= line);
        documents
            .get(end.checked_sub(1)?)
            .filter(|document| document.has_line(line))
    }

    /// The line of a location, with the range underlined.
    pub(crate) fn excerpt(&self, location: &Location, style: StreamStyle) -> Option<PrintableText> {
        let mut texts = self.texts.borrow_mut();
        let texts = texts.get_or_insert_with(|| {
            let mut texts = FileTexts::default();
            let line = saturated(self.piece.start.line);
            let lead = " ".repeat(self.piece.start.column).into_bytes();
            texts.insert_part(self.path, &[lead, self.piece.text.clone()].concat(), line);
            texts
        });
        texts.excerpt(location, TextTone::Bad, style)
    }

    /// Reads the documents again, with the positions of all that is in them.
    fn read(&self) -> Vec<PlacedDocument> {
        let mut documents = Vec::new();
        for (text, shift) in piece::texts(self.piece) {
            let file = ManifestFile {
                path: self.path.to_string(),
                content: text.into_owned(),
            };
            let read = read_contents(&file).documents.into_iter();
            documents.extend(read.map(|document| PlacedDocument { document, shift }));
        }
        documents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_their_lines_and_the_template_of_their_heading() {
        let text = b"---\n# Source: a/b.yaml\n\nkind: List\nitems:\n# Source: c/d.yaml\n- {}\n--- # next\n---\nkind: Pod\n# Source: e/f.yaml\n\xff\n# more\n";
        let documents: Vec<_> = DocumentLines::split(text, 5)
            .into_iter()
            .map(|document| (document.first, document.all.len(), document.template))
            .collect();
        assert_eq!(
            documents,
            [(6, 6, Some("a/b.yaml")), (14, 2, None), (17, 1, None)]
        );
        let lines = DocumentLines::split(text, 5);
        let has: Vec<u32> = (0..20).filter(|line| lines[0].has_line(*line)).collect();
        assert_eq!(has, [6, 7, 8, 9, 10, 11]);
        assert!(DocumentLines::split(b"", 1).is_empty());
    }
}
