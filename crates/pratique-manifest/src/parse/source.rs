//! The source of an object: where it and its fields stand in its file.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::scalar;
use crate::budget::Budget;
use crate::position::{DocumentSource, Location, Span};
use crate::tree::{NodeId, PathStep, Tree, TreeValue};
use crate::{json, yaml};

/// The place of an object and of its fields in its file.
#[derive(Clone, Debug)]
pub struct ObjectSource {
    document: Arc<ParsedDocument>,
    root: NodeId,
}

/// A document's text, and its values once a place in it is needed: a loaded directory takes hardly more memory than its text
/// and its objects.
#[derive(Debug)]
pub(crate) struct ParsedDocument {
    pub(crate) source: DocumentSource,
    is_json: bool,
    tree: OnceLock<Box<Tree>>,
}

impl ParsedDocument {
    pub(crate) fn new(source: DocumentSource, is_json: bool) -> Self {
        Self {
            source,
            is_json,
            tree: OnceLock::new(),
        }
    }

    /// Keeps the values that were parsed.
    pub(crate) fn keep(&self, tree: Tree) {
        // They may have been parsed again before.
        let _ = self.tree.set(Box::new(tree));
    }

    pub(crate) fn tree(&self) -> &Tree {
        // The text was parsed before, so it parses again, to the same nodes.
        self.tree
            .get_or_init(|| Box::new(parse(self.source.as_str(), self.is_json).unwrap_or_default()))
    }
}

impl ObjectSource {
    pub(crate) fn new(document: Arc<ParsedDocument>, root: NodeId) -> Self {
        Self { document, root }
    }

    /// The source of an object within the same document, such as an item of a list.
    #[must_use]
    pub fn at_node(&self, node: NodeId) -> Self {
        Self::new(Arc::clone(&self.document), node)
    }

    /// Whether the document is JSON, rather than YAML.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.document.is_json
    }

    /// Discards the document's text: every place is then the document's start.
    pub(crate) fn discard_text(&mut self) {
        if !self.document.source.as_str().is_empty() {
            let source = self.document.source.without_text();
            self.document = Arc::new(ParsedDocument::new(source, self.document.is_json));
        }
    }

    /// Whether both are of the same object, from the same load.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.document, &other.document) && self.root == other.root
    }

    /// The document that the object is in.
    #[must_use]
    pub fn document(&self) -> &DocumentSource {
        &self.document.source
    }

    /// The values as they were written, before defaulting.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        self.document.tree()
    }

    /// The object's node of [`tree`](Self::tree).
    #[must_use]
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// The place of a field, or of the nearest object around it if it is not given.
    #[must_use]
    pub fn locate(&self, path: &[PathStep]) -> Location {
        self.document
            .source
            .location(self.document.tree().nearest_span(self.root, path))
    }

    /// The place of a range of a string field's decoded text, as [`locate_in`](Self::locate_in) for one byte.
    #[must_use]
    pub fn locate_range(&self, path: &[PathStep], range: Range<usize>) -> Location {
        let mut location = self.locate_in(path, range.start);
        if let Some(last) = range.end.checked_sub(1).filter(|last| *last > range.start) {
            location.end = self.locate_in(path, last).end;
        }
        location
    }

    /// The place of a range of a string field's decoded text, if the field is written there as it is read: without escapes
    /// and folded lines.
    pub(crate) fn locate_verbatim(&self, path: &[PathStep], range: Range<usize>) -> Option<Location> {
        let tree = self.document.tree();
        let node = tree.get(tree.find(self.root, path)?);
        let TreeValue::String(text, _) = &node.value else {
            return None;
        };
        let wanted = text.get(range.clone()).filter(|wanted| !wanted.is_empty())?;
        let (last, _) = wanted.char_indices().next_back()?;
        let place = |offset| scalar::span_at(&self.document.source, node, offset);
        let span = Span {
            start: place(range.start).start,
            end: place(range.start + last).end,
        };
        (self.document.source.slice(span) == wanted).then(|| self.document.source.location(span))
    }

    /// The byte offsets of a string field's decoded text at which a line of its source begins, without the first.
    #[must_use]
    pub fn line_starts(&self, path: &[PathStep]) -> Vec<usize> {
        let tree = self.document.tree();
        let node = tree.find(self.root, path).map(|id| tree.get(id));
        node.map_or_else(Vec::new, |node| scalar::line_starts(&self.document.source, node))
    }

    /// The place of a byte of a string field's decoded text, through quotes, escapes and folded lines.
    #[must_use]
    pub fn locate_in(&self, path: &[PathStep], offset: usize) -> Location {
        let Some(id) = self.document.tree().find(self.root, path) else {
            return self.locate(path);
        };
        let span = scalar::span_at(&self.document.source, self.document.tree().get(id), offset);
        self.document.source.location(span)
    }
}

/// The values of a text that was parsed before.
fn parse(text: &str, is_json: bool) -> Option<Tree> {
    let budget = Budget::unlimited();
    if is_json {
        return json::parse(text.as_bytes(), &budget)
            .ok()
            .map(|document| document.tree);
    }
    yaml::parse_text(text, &budget).ok().map(|document| document.tree)
}
