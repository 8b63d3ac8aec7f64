//! YAML as the server reads it: YAML 1.1 types, merge keys, an alias budget, one document.
//!
//! [`parse`] turns a document into a [`Tree`], by stages: `encoding` to characters, `scanner` to tokens,
//! `grammar` to nodes with anchors, and `convert` to values with JSON's types. The scanner and the grammar
//! follow those of the server: no library accepts and refuses the same texts and names the same lines. The server reads
//! YAML 1.1, and finds some errors later than the specification has them.

mod block_scalar;
mod budget;
mod convert;
mod cursor;
mod encoding;
mod error;
mod flow_scalar;
mod go_syntax;
mod grammar;
mod graph;
mod mapping;
mod names;
mod number;
mod resolve;
mod scanner;
mod token;

use std::fmt::{self, Display, Formatter};

pub use encoding::EncodingError;

use crate::budget::{Budget, BudgetExceeded};
use crate::position::Span;
use crate::tree::{NodeId, Tree};

/// A YAML document's values and its duplicate keys.
#[derive(Debug)]
pub struct Document {
    /// The values.
    pub tree: Tree,
    /// The document's value.
    pub root: NodeId,
    /// The duplicate keys of mappings.
    pub duplicates: Vec<Duplicate>,
    /// The cost of its values.
    pub cost: u64,
    /// The start of text after the document, which the server does not read.
    pub rest: Option<usize>,
}

/// A key that the mapping already has.
#[derive(Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The server's message, without line.
    pub message: String,
    /// The line of the document that the server names, from 1.
    pub line: usize,
    /// The second occurrence.
    pub span: Span,
    /// Whether one of the two comes of a merge key: the mapping is written to override it.
    pub is_merged: bool,
}

/// Why the server does not read a document.
#[derive(Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The server's message.
    pub message: String,
    /// The text at fault.
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

    /// The values exceed the budget at this one.
    fn exceeded(budget: &Budget, span: Span) -> impl FnOnce(BudgetExceeded) -> Self {
        move |_| Self::new(format!("yaml: {}", budget.message()), span)
    }
}

/// A document's text.
#[derive(Debug)]
pub struct Text {
    /// The characters.
    pub text: String,
    /// The length of the byte order mark that was removed.
    pub mark_len: usize,
    /// The first byte that does not decode.
    pub error: Option<EncodingError>,
}

/// Decodes a document's bytes. Invalid bytes are replaced in the text.
pub fn decode(bytes: Vec<u8>) -> Text {
    encoding::decode(bytes)
}

/// Parses a decoded document, whose values are spent of a budget.
///
/// # Errors
/// The first error, or that the values exceed the budget.
pub fn parse(decoded: &Text, budget: &Budget) -> Result<Document, SyntaxError> {
    let Some(error) = &decoded.error else {
        return parse_text(&decoded.text, budget);
    };
    // The server decodes a document in chunks as it reads it, so a syntax error in an earlier chunk comes first, and
    // text after the document's end is not decoded.
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

fn converted(composed: grammar::ComposedText<'_>, budget: &Budget) -> Result<Document, SyntaxError> {
    let document = convert::convert(&composed.graph?, budget)?;
    Ok(Document {
        rest: composed.rest,
        ..document
    })
}

/// How many characters the server's scanner reads ahead.
const LOOKAHEAD: usize = 4;
