//! Faults of syntax in the server's words.

use super::SyntaxError;
use super::cursor::Mark;
use crate::position::Span;

/// The stage of reading that finds a fault. The server names lines from 1 in one and from 0 in the other, and never
/// the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// From characters to tokens.
    Scanner,
    /// From tokens to nodes.
    Grammar,
}

/// A fault at a place.
pub(super) fn fault(stage: Stage, at: Mark, problem: &str) -> SyntaxError {
    let message = match (stage, at.line) {
        (_, 0) => format!("yaml: {problem}"),
        (Stage::Scanner, line) => format!("yaml: line {}: {problem}", line + 1),
        (Stage::Grammar, line) => format!("yaml: line {line}: {problem}"),
    };
    SyntaxError::new(message, Span::new(at.offset, at.offset + 1))
}
