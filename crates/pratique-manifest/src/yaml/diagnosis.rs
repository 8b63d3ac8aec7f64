//! Faults of syntax in the server's words.
//!
//! The parser tells faults apart by kind. What the server says of each, and which line it names, is put together here:
//! its scanner counts lines from 1, its parser from 0, and neither names the first line.

use granit_parser::{ErrorKind, ScanError};

use super::patch::Patch;
use super::reader::Open;
use super::{SyntaxError, flow};
use crate::position::Span;

/// The stage of the server's parser that finds a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// From characters to tokens.
    Scanner,
    /// The same, at the end of the text, which is on a line of its own.
    End,
    /// From tokens to events.
    Parser,
    /// From events to nodes, where no line is named.
    Loader,
}

/// A fault in the server's words. `open` are the collections around it.
pub(super) fn diagnose(text: &str, error: &ScanError, open: &[Open]) -> SyntaxError {
    let mark = error.marker();
    let offset = mark
        .byte_offset()
        .unwrap_or_else(|| byte_offset(text, mark.index()))
        .min(text.len());
    match error.kind() {
        ErrorKind::UnknownAnchor => {
            let name: String = text
                .get(offset..)
                .unwrap_or_default()
                .chars()
                .skip(1)
                .take_while(|c| is_word(*c))
                .collect();
            at(
                text,
                offset,
                Stage::Loader,
                &format!("unknown anchor '{name}' referenced"),
            )
        }
        ErrorKind::InvalidQuotedScalarIndent => {
            let line = line_start(text, offset);
            with_patch(
                at(text, offset, Stage::Scanner, "found unexpected end of stream"),
                Patch::Indent { at: line },
            )
        }
        ErrorKind::CommentNotSeparated => with_patch(
            at(text, offset, Stage::Parser, expected_in(open)),
            Patch::Separate { at: offset },
        ),
        ErrorKind::InvalidDocumentEnd => {
            let line = line_start(text, offset);
            let fault = at(
                text,
                offset,
                Stage::Parser,
                "did not find expected <document start>",
            );
            with_patch(fault, Patch::End { at: line })
        }
        ErrorKind::UnknownQuotedScalarEscape => {
            let escape = unknown_escape(text, offset);
            let fault = at(text, escape, Stage::Scanner, scanner_words(error.kind()));
            let is_apostrophe = text.get(escape..).is_some_and(|rest| rest.starts_with("\\'"));
            if is_apostrophe {
                with_patch(fault, Patch::Apostrophes { from: escape })
            } else {
                fault
            }
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            let next = next_token(text, offset);
            let stage = if next == text.len() {
                Stage::End
            } else {
                Stage::Scanner
            };
            at(text, next, stage, "could not find expected ':'")
        }
        ErrorKind::TabInIndentation => {
            let line = line_start(text, offset);
            with_patch(
                at(text, offset, Stage::Scanner, scanner_words(error.kind())),
                Patch::Indent { at: line },
            )
        }
        ErrorKind::TabInBlockIndentation
            if matches!(open.last(), Some(Open::FlowSequence | Open::FlowMapping)) =>
        {
            let fault = at(text, offset, Stage::Scanner, scanner_words(error.kind()));
            let line = line_start(text, offset);
            let tab = text
                .get(line..)
                .and_then(|rest| rest.find('\t'))
                .map_or(offset, |found| line + found);
            with_patch(fault, Patch::Blank { at: tab })
        }
        ErrorKind::TabAtBlockScalarStart => {
            let tab = text
                .get(offset..)
                .and_then(|rest| rest.find('\t'))
                .unwrap_or_default();
            at(text, offset + tab, Stage::Scanner, scanner_words(error.kind()))
        }
        ErrorKind::TabInBlockIndentation if !in_block_scalar(text, offset) => at(
            text,
            offset,
            Stage::Scanner,
            "found character that cannot start any token",
        ),
        ErrorKind::TabInPlainScalar => {
            let tab = text
                .get(offset..)
                .and_then(|rest| rest.find("\n").map(|found| found + 1));
            at(
                text,
                offset + tab.unwrap_or_default(),
                Stage::Scanner,
                scanner_words(error.kind()),
            )
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar
            if !matches!(open.last(), Some(Open::FlowSequence | Open::FlowMapping)) =>
        {
            at(text, offset, Stage::Parser, expected_in(open))
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar
        | ErrorKind::InvalidTrailingDoubleQuotedScalar
        | ErrorKind::BlockEntryInFlowCollection
        | ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::InvalidColonPlacement
        | ErrorKind::MismatchedFlowCollectionEnd { .. }
        | ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping
        | ErrorKind::FlowMappingValueAdjacentCollection
        | ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::ExpectedFlowSequenceSeparator => in_flow(text, offset),
        ErrorKind::MisplacedFlowCollectionEnd if awaits_value(text, offset) => {
            at(text, offset, Stage::Parser, "did not find expected node content")
        }
        ErrorKind::MisplacedFlowCollectionEnd => at(text, offset, Stage::Parser, expected_in(open)),
        ErrorKind::UnclosedQuotedScalar => {
            at(text, text.len(), Stage::Scanner, "found unexpected end of stream")
        }
        ErrorKind::ExpectedDocumentStart | ErrorKind::UnsupportedYamlMajorVersion => directives(text, offset),
        kind => {
            let (stage, problem) = words(kind);
            at(text, offset, stage, problem)
        }
    }
}

/// A fault at a byte of the text.
pub(super) fn at(text: &str, offset: usize, stage: Stage, problem: &str) -> SyntaxError {
    let before = text.get(..offset).unwrap_or(text);
    let mut line = before.bytes().filter(|byte| *byte == b'\n').count();
    if stage == Stage::Parser && offset >= text.len() && !text.ends_with('\n') {
        // The end of the text is on a line of its own.
        line += 1;
    }
    let place = match stage {
        Stage::Scanner if line > 0 => format!("line {}: ", line + 1),
        Stage::End => format!("line {}: ", line + 2),
        Stage::Parser if line > 0 => format!("line {line}: "),
        _ => String::new(),
    };
    let end = text
        .get(offset..)
        .and_then(|rest| rest.chars().next())
        .map_or(offset, |c| offset + c.len_utf8());
    SyntaxError::new(format!("yaml: {place}{problem}"), Span::new(offset, end))
}

/// The first escape from a place on that YAML does not know.
fn unknown_escape(text: &str, offset: usize) -> usize {
    let mut rest = text.get(offset..).unwrap_or_default();
    while let Some(found) = rest.find('\\') {
        rest = rest.get(found..).unwrap_or_default();
        let code = rest.chars().nth(1).unwrap_or_default();
        if !"0abtnvfre \"/\\N_LPxuU\t\n\r".contains(code) {
            return text.len() - rest.len();
        }
        rest = rest.get(1 + code.len_utf8()..).unwrap_or_default();
    }
    offset
}

fn line_start(text: &str, offset: usize) -> usize {
    text.get(..offset)
        .and_then(|before| before.rfind('\n'))
        .map_or(0, |at| at + 1)
}

fn with_patch(error: SyntaxError, patch: Patch) -> SyntaxError {
    SyntaxError {
        patch: Some(patch),
        ..error
    }
}

/// Whether what comes before a place is a key or a dash, whose value is to follow.
fn awaits_value(text: &str, offset: usize) -> bool {
    let before = text.get(..offset).unwrap_or_default().trim_end();
    before.ends_with([':', '-', '?'])
}

/// Where the server notices that a scalar is no key: after the lines that it goes on over.
fn next_token(text: &str, offset: usize) -> usize {
    let column = text
        .get(..offset)
        .unwrap_or_default()
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .len();
    let mut lines = text.get(offset..).unwrap_or_default().split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    let mut goes_on = !first.contains(" #");
    let mut at = offset + first.len();
    for line in lines {
        let content = line.trim_start();
        let indent = line.len() - content.len();
        let continues =
            goes_on && indent > column && !content.contains(": ") && !content.trim_end().ends_with(':');
        if content.starts_with('#') && goes_on
            || !content.is_empty() && !content.starts_with('#') && !continues
        {
            return at + indent;
        }
        goes_on &= !content.contains(" #");
        at += line.len();
    }
    text.len()
}

/// Whether a line with a place in it belongs to a block scalar, as far as indentation tells.
fn in_block_scalar(text: &str, offset: usize) -> bool {
    let before = text.get(..offset).unwrap_or_default();
    let mut least = usize::MAX;
    for line in before
        .lines()
        .rev()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
    {
        let indent = line.len() - line.trim_start().len();
        let header = line
            .trim_end()
            .trim_end_matches(['+', '-'])
            .trim_end_matches(|c: char| c.is_ascii_digit());
        if header.ends_with(['|', '>']) && indent < least {
            return true;
        }
        least = least.min(indent);
        if least == 0 {
            return false;
        }
    }
    false
}

fn byte_offset(text: &str, index: usize) -> usize {
    text.char_indices().nth(index).map_or(text.len(), |(at, _)| at)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

/// What a block collection, or the document, expects where something else stands.
fn expected_in(open: &[Open]) -> &'static str {
    match open.last() {
        Some(Open::BlockMapping) => "did not find expected key",
        Some(Open::BlockSequence) => "did not find expected '-' indicator",
        Some(Open::FlowMapping) => "did not find expected ',' or '}'",
        Some(Open::FlowSequence) => "did not find expected ',' or ']'",
        None => "did not find expected <document start>",
    }
}

/// A fault within brackets: the parser names the bracket, the server where it lost track.
fn in_flow(text: &str, offset: usize) -> SyntaxError {
    let fault = flow::find_fault(text, offset);
    at(text, fault.offset, Stage::Parser, fault.problem)
}

/// A document of directives and nothing else.
fn directives(text: &str, offset: usize) -> SyntaxError {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let directive = line
            .strip_prefix('%')
            .map(|rest| rest.split_whitespace().collect::<Vec<_>>());
        match directive.as_deref() {
            Some(["YAML", "1.1", ..] | ["TAG", ..]) | None => {}
            Some(["YAML", ..]) => return at(text, start, Stage::Parser, "found incompatible YAML document"),
            Some(_) => return at(text, start, Stage::Scanner, "found unknown directive name"),
        }
        start += line.len();
    }
    at(
        text,
        offset,
        Stage::Parser,
        "did not find expected <document start>",
    )
}

/// What the server says of a kind of fault.
fn words(kind: &ErrorKind) -> (Stage, &'static str) {
    match kind {
        ErrorKind::ExpectedNodeContent
        | ErrorKind::UnexpectedEof
        | ErrorKind::UnexpectedEofBlockSequence
        | ErrorKind::UnexpectedEofBlockMapping => (Stage::Parser, "did not find expected node content"),
        ErrorKind::ExpectedBlockMappingKey => (Stage::Parser, "did not find expected key"),
        ErrorKind::ExpectedBlockSequenceEntry => (Stage::Parser, "did not find expected '-' indicator"),
        ErrorKind::UndeclaredTagHandle => (Stage::Parser, "found undefined tag handle"),
        ErrorKind::DuplicateVersionDirective => (Stage::Parser, "found duplicate %YAML directive"),
        ErrorKind::DuplicateTagDirective => (Stage::Parser, "found duplicate %TAG directive"),
        ErrorKind::MissingDocumentEndBeforeDirective => {
            (Stage::Parser, "did not find expected <document start>")
        }
        other => (Stage::Scanner, scanner_words(other)),
    }
}

fn scanner_words(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::MappingValueNotAllowed => "mapping values are not allowed in this context",
        ErrorKind::MappingKeyNotAllowed => "mapping keys are not allowed in this context",
        ErrorKind::BlockSequenceEntryNotAllowed => "block sequence entries are not allowed in this context",
        ErrorKind::UnknownQuotedScalarEscape => "found unknown escape character",
        ErrorKind::InvalidQuotedScalarHexEscape | ErrorKind::InvalidLowSurrogateHexEscape => {
            "did not find expected hexdecimal number"
        }
        ErrorKind::InvalidUnicodeEscape
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate
        | ErrorKind::InvalidLowSurrogate => "found invalid Unicode character escape code",
        ErrorKind::DocumentIndicatorInQuotedScalar => "found unexpected document indicator",
        ErrorKind::ZeroBlockScalarIndent => "found an indentation indicator equal to 0",
        ErrorKind::InvalidBlockScalarHeader | ErrorKind::InvalidDirectiveTerminator => {
            "did not find expected comment or line break"
        }
        ErrorKind::TabAtBlockScalarStart | ErrorKind::TabInBlockIndentation => {
            "found a tab character where an indentation space is expected"
        }
        ErrorKind::TabInPlainScalar => "found a tab character that violates indentation",
        ErrorKind::MissingAnchorOrAliasName => "did not find expected alphabetic or numeric character",
        ErrorKind::ExpectedTagBang | ErrorKind::ExpectedTagDirectiveBang => "did not find expected '!'",
        ErrorKind::MissingTagUri => "did not find expected tag URI",
        ErrorKind::UnclosedVerbatimTag => "did not find the expected '>'",
        ErrorKind::InvalidTagTerminator => "did not find expected whitespace or line break",
        ErrorKind::InvalidTagEscape => "did not find URI escaped octet",
        ErrorKind::MissingDirectiveName => "could not find expected directive name",
        ErrorKind::InvalidDirectiveName => "found unexpected non-alphabetical character",
        ErrorKind::MissingYamlVersion => "did not find expected version number",
        ErrorKind::MissingYamlVersionSeparator => "did not find expected digit or '.' character",
        ErrorKind::YamlVersionTooLong => "found extremely long version number",
        ErrorKind::RecursionLimitExceeded => "exceeded max depth of 10000",
        _ => "found character that cannot start any token",
    }
}
