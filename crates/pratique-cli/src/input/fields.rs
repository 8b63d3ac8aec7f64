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
    texts: RefCell<Option<Texts>>,
}

/// A document, and where the text begins of which it was read.
struct PlacedDocument {
    document: Document,
    shift: Shift,
}

impl<'p> PieceFields<'p> {
    /// The fields of a piece of an input.
    pub(crate) fn new(path: &'p Arc<str>, piece: &'p Piece) -> Self {
        PieceFields {
            path,
            piece,
            documents: OnceCell::new(),
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
