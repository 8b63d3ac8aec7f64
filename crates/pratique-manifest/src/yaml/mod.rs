//! YAML as the server reads it: YAML 1.1 types, merge keys, an alias budget, one document.
//!
//! [`parse`] turns a document into a [`Tree`], by stages: [`encoding`] to characters, [`reader`] to events,
//! [`graph`] to nodes with anchors, and [`convert`] to values with JSON's types.

mod convert;
mod diagnosis;
mod dialect;
mod encoding;
mod flow;
mod graph;
mod mapping;
mod number;
mod patch;
mod reader;
mod resolve;

use crate::position::Span;
use crate::tree::{NodeId, Tree};

/// A YAML document's values, and the keys that it gives twice.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) tree: Tree,
    pub(crate) root: NodeId,
    pub(crate) duplicates: Vec<Duplicate>,
}

impl Document {
    fn map_spans(&mut self, map: impl Fn(Span) -> Span) {
        self.tree.map_spans(&map);
        for duplicate in &mut self.duplicates {
            duplicate.span = map(duplicate.span);
        }
    }
}

/// A key that a mapping has already.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Duplicate {
    /// The server's words, without line.
    pub(crate) message: String,
    /// The line of the document that the server names, from 1.
    pub(crate) line: usize,
    pub(crate) span: Span,
}

/// Why a document is no YAML that the server reads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// The server's words, with `yaml: ` where it has that.
    pub(crate) message: String,
    pub(crate) span: Span,
    /// What makes the parser read what the server reads here.
    patch: Option<patch::Patch>,
}

impl SyntaxError {
    fn new(message: impl Into<String>, span: Span) -> Self {
        Self {
            message: message.into(),
            span,
            patch: None,
        }
    }
}

/// A document's text, and how many bytes of a byte order mark were taken off it.
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) mark_len: usize,
    pub(crate) error: Option<encoding::EncodingError>,
}

/// Decodes a document's bytes. Where they are at fault, the text is what can be shown of them.
pub(crate) fn decode(bytes: &[u8]) -> Text {
    encoding::decode(bytes)
}

/// Parses a decoded document.
pub(crate) fn parse(decoded: &Text) -> Result<Document, SyntaxError> {
    if let Some(error) = &decoded.error {
        return Err(first_error(&decoded.text, error));
    }
    let attempt = |text: &str| convert::convert(&graph::compose(&mut reader::Granit::new(text))?, text);
    let text = &decoded.text;
    let first = match attempt(text) {
        Err(error) if error.patch.is_some() => error,
        result => return result,
    };
    let mut patched = patch::Patched::new(text);
    let mut error = first;
    for _ in 0..max_patches(text) {
        let Some(patch) = error.patch else { break };
        patched.apply(patch);
        match attempt(&patched.text) {
            Ok(mut document) => {
                document.map_spans(|span| patched.original(span));
                return Ok(document);
            }
            Err(found) => error = found,
        }
    }
    Err(SyntaxError {
        span: patched.original(error.span),
        ..error
    })
}

/// How often a text is changed to suit the parser before it is given up, so that reading a long one stays quick.
fn max_patches(text: &str) -> usize {
    const BYTES: usize = 64 << 20;
    (BYTES / text.len().max(1)).clamp(1, 32)
}

/// The server decodes a document in chunks as it reads it, so a fault of syntax in an earlier chunk comes first.
fn first_error(text: &str, error: &encoding::EncodingError) -> SyntaxError {
    const CHUNK: usize = 512;
    let before = text.get(..error.offset / CHUNK * CHUNK).unwrap_or_default();
    let syntax = graph::compose(&mut reader::Granit::new(before)).err();
    syntax
        .filter(|found| (found.span.start as usize) + 4 < before.len())
        .unwrap_or_else(|| {
            SyntaxError::new(
                format!("yaml: {}", error.message),
                Span::new(error.offset, error.offset + 1),
            )
        })
}
