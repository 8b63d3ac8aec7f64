//! The fields of the objects of a piece of a stream, at their places.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use pratique_manifest::convert::{items, items_of};
use pratique_manifest::{Document, Location, ManifestFile, read_contents};
use pratique_review::FieldPath;
use pratique_stream::{Form, Piece};

use super::place::{Shift, saturated};
use super::{piece, quick};
use crate::output::excerpt::Texts;
use crate::output::text::Text;
use crate::style::{Style, Tone};

/// Where the fields of the objects of a piece are. Nothing is read before a field is looked for.
pub(crate) struct PieceFields<'p> {
    path: &'p Arc<str>,
    piece: &'p Piece,
    documents: OnceCell<Vec<PlacedDocument>>,
    /// Where the lines of the piece begin.
    lines: OnceCell<Vec<usize>>,
    texts: RefCell<Option<Texts>>,
}

/// A document, and where the text begins of which it was read.
struct PlacedDocument {
    document: Document,
    shift: Shift,
}

/// The lines of a document.
pub(super) struct DocumentLines<'t> {
    /// The number of the first one in the input, from 1.
    pub(super) first: u32,
    pub(super) all: Vec<&'t str>,
    /// How many of them stand above the object.
    pub(super) above: usize,
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
    pub(crate) fn locate(&self, object: &Location, field: &FieldPath) -> Option<Location> {
        let documents = self.documents.get_or_init(|| self.read());
        documents
            .iter()
            .find_map(|document| self.locate_in(document, object, field))
    }

    fn locate_in(&self, placed: &PlacedDocument, object: &Location, field: &FieldPath) -> Option<Location> {
        let source = &placed.document.source;
        let items = match &self.piece.form {
            Form::Items(list) => items_of(source, quick::implied(list)),
            Form::Documents | Form::ListEnd(_) => items(source),
        };
        let tree = source.tree();
        items.objects.iter().find_map(|item| {
            let mut location = source.document().location(tree.get(item.node).span);
            placed.shift.location(&mut location);
            if location.start != object.start {
                return None;
            }
            let span = field.nearest_span(tree, item.node);
            let mut location = source.document().location(span);
            placed.shift.location(&mut location);
            Some(location)
        })
    }

    /// The lines of the document that has the object at a location; `None` of JSON, which has no comments.
    pub(super) fn document_lines(&self, object: &Location) -> Option<DocumentLines<'_>> {
        if !self.piece.values.is_empty() || !matches!(self.piece.form, Form::Documents) {
            return None;
        }
        let text = self.piece.text.as_slice();
        let starts = self.lines.get_or_init(|| {
            let breaks = memchr::memchr_iter(b'\n', text).map(|at| at + 1);
            let begun = std::iter::once(0).chain(breaks);
            begun.filter(|start| *start < text.len()).collect()
        });
        let line = |index: usize| {
            let end = starts.get(index + 1).copied().unwrap_or(text.len());
            let line = text.get(*starts.get(index)?..end)?;
            Some(std::str::from_utf8(line).ok()?.trim_end())
        };
        let is_within = |index: &usize| line(*index).is_some_and(|line| !line.starts_with("---"));
        let start = saturated(self.piece.start.line);
        let at = usize::try_from(object.start.line.checked_sub(start)?).ok()?;
        let above = (0..at).rev().take_while(is_within).count();
        let below = (at..starts.len()).take_while(is_within).count();
        let begin = at.saturating_sub(above);
        Some(DocumentLines {
            first: start.saturating_add(saturated(begin)),
            all: (begin..at.saturating_add(below)).filter_map(line).collect(),
            above,
        })
    }

    /// The line of a location, with the range underlined.
    pub(crate) fn excerpt(&self, location: &Location, style: Style) -> Option<Text> {
        let mut texts = self.texts.borrow_mut();
        let texts = texts.get_or_insert_with(|| {
            let mut texts = Texts::default();
            let line = saturated(self.piece.start.line);
            let lead = " ".repeat(self.piece.start.column).into_bytes();
            texts.insert_part(self.path, &[lead, self.piece.text.clone()].concat(), line);
            texts
        });
        texts.excerpt(location, Tone::Bad, style)
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
