//! Faults of syntax in the server's words.
//!
//! The parser tells faults apart by kind. What the server says of each, and which line it names, is put together here:
//! its scanner counts lines from 1, its parser from 0 and leaves line 0 out.

use granit_parser::{ErrorKind, ScanError};

use super::SyntaxError;
use crate::position::Span;

/// A fault in the server's words.
pub(super) fn diagnose(text: &str, error: &ScanError) -> SyntaxError {
    let mark = error.marker();
    let at = mark
        .byte_offset()
        .unwrap_or_else(|| byte_offset(text, mark.index()));
    let (stage, problem) = words(error.kind());
    let line = mark.line();
    let place = match stage {
        Stage::Scanner if line > 1 => format!("line {line}: "),
        Stage::Parser if line > 1 => format!("line {}: ", line - 1),
        _ => String::new(),
    };
    SyntaxError::new(
        format!("yaml: {place}{problem}"),
        Span::new(at, (at + 1).min(text.len().max(at))),
    )
}

fn byte_offset(text: &str, index: usize) -> usize {
    text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
}

enum Stage {
    Scanner,
    Parser,
    Loader,
}

fn words(kind: &ErrorKind) -> (Stage, String) {
    let (stage, problem) = match kind {
        ErrorKind::RecursionLimitExceeded => (Stage::Scanner, "exceeded max depth of 10000"),
        _ => (Stage::Loader, ""),
    };
    if problem.is_empty() {
        (Stage::Scanner, format!("{kind:?}"))
    } else {
        (stage, problem.to_owned())
    }
}
