//! YAML as the server reads it: YAML 1.1 types, merge keys, an alias budget, one document.
//!
//! [`parse`] turns a document into a [`Tree`], by stages: `encoding` to characters, `scanner` to tokens,
//! `grammar` to nodes with anchors, and `convert` to values with JSON's types. The scanner and the grammar are our
//! own, for a server's reader accepts and refuses, and names lines, as no library here does: it reads YAML 1.1, and finds
//! some faults later than the specification has them.

mod block_scalar;
mod budget;
mod convert;
mod cursor;
mod encoding;
mod fault;
mod flow_scalar;
mod grammar;
mod graph;
mod mapping;
mod names;
mod number;
mod resolve;
mod scanner;
mod shown;
mod token;

use std::fmt::{self, Display, Formatter};

pub use encoding::EncodingError;

use crate::budget::{Budget, Exceeded};
use crate::position::Span;
use crate::tree::{NodeId, Tree};

/// A YAML document's values, and the keys that it gives twice.
#[derive(Debug)]
pub struct Document {
    /// The values.
    pub tree: Tree,
    /// That of the document.
    pub root: NodeId,
    /// The keys that mappings give twice.
    pub duplicates: Vec<Duplicate>,
    /// What its values took of the budget.
    pub cost: u64,
    /// Where text begins that follows the document, and that the server does not look at.
    pub rest: Option<usize>,
}

/// A key that a mapping has already.
#[derive(Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The server's words, without line.
    pub message: String,
    /// The line of the document that the server names, from 1.
    pub line: usize,
    /// Where the second one stands.
    pub span: Span,
}

/// Why a document is no YAML that the server reads.
#[derive(Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The server's words, with `yaml: ` where it has that.
    pub message: String,
    /// What is at fault.
    pub span: Span,
}

impl Display for SyntaxError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}

impl SyntaxError {
    fn new(message: impl Into<String>, span: Span) -> Self {
        Self {
            message: message.into(),
            span,
        }
    }

    /// The values are more than the budget allows, at this one.
    fn exceeded(budget: &Budget, span: Span) -> impl FnOnce(Exceeded) -> Self {
        move |_| Self::new(format!("yaml: {}", budget.message()), span)
    }
}

/// A document's text, and how many bytes of a byte order mark were taken off it.
#[derive(Debug)]
pub struct Text {
    /// The characters.
    pub text: String,
    /// How many bytes of the document a byte order mark took.
    pub mark_len: usize,
    /// The first byte that is no text.
    pub error: Option<EncodingError>,
}

/// Decodes a document's bytes. Where they are at fault, the text is what can be shown of them.
pub fn decode(bytes: Vec<u8>) -> Text {
    encoding::decode(bytes)
}

/// Parses a decoded document, whose values are spent of a budget.
///
/// # Errors
/// The first fault; that the values take more than the budget has.
pub fn parse(decoded: &Text, budget: &Budget) -> Result<Document, SyntaxError> {
    let Some(error) = &decoded.error else {
        return parse_text(&decoded.text, budget);
    };
    // The server decodes a document in chunks as it reads it, so a fault of syntax in an earlier chunk comes first, and
    // what is behind the document's end is not looked at.
    let readable = decoded.text.get(..error.readable).unwrap_or_default();
    let composed = grammar::compose(readable, budget);
    if composed.read + LOOKAHEAD < readable.len() {
        let document = converted(composed, budget)?;
        return Ok(Document {
            rest: document.rest.or(Some(readable.len())),
            ..document
        });
    }
    Err(SyntaxError::new(
        format!("yaml: {}", error.message),
        Span::new(error.offset, error.offset + 1),
    ))
}

/// Parses a document's characters.
///
/// # Errors
/// As [`parse`].
pub fn parse_text(text: &str, budget: &Budget) -> Result<Document, SyntaxError> {
    converted(grammar::compose(text, budget), budget)
}

fn converted(composed: grammar::Composed<'_>, budget: &Budget) -> Result<Document, SyntaxError> {
    let document = convert::convert(&composed.graph?, budget)?;
    Ok(Document {
        rest: composed.rest,
        ..document
    })
}

/// So many characters the server's scanner wants to have before it goes on.
const LOOKAHEAD: usize = 4;
