//! Syntax errors in the server's words.

use super::SyntaxError;
use super::cursor::TextMark;
use crate::position::Span;

/// The stage that finds an error. The server counts lines from 1 in the scanner and from 0 in the grammar, and never names
/// the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorStage {
    /// From characters to tokens.
    Scanner,
    /// From tokens to nodes.
    Grammar,
}

/// An error at a place.
// Upstream: go.yaml.in/yaml/v2/decode.go, parser.fail
pub(super) fn error_at(stage: ErrorStage, at: TextMark, problem: &str) -> SyntaxError {
    let message = match (stage, at.line) {
        (_, 0) => format!("yaml: {problem}"),
        (ErrorStage::Scanner, line) => format!("yaml: line {}: {problem}", line + 1),
        (ErrorStage::Grammar, line) => format!("yaml: line {line}: {problem}"),
    };
    SyntaxError::new(message, Span::new(at.offset, at.offset + 1))
}
