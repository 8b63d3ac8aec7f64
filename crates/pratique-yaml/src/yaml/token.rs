//! The tokens that the scanner makes of a document's characters, for the grammar.

use std::borrow::Cow;

use super::cursor::TextMark;
use crate::tree::StringStyle;

/// A token and its place.
#[derive(Clone, Debug)]
pub(super) struct ScannedToken<'text> {
    pub(super) kind: TokenKind<'text>,
    pub(super) start: TextMark,
    /// One past its last byte.
    pub(super) end: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind<'text> {
    StreamEnd,
    /// `%YAML 1.1`
    Version(u8, u8),
    /// `%TAG !e! tag:example.com,2000:`
    TagPrefix {
        handle: Cow<'text, str>,
        prefix: Cow<'text, str>,
    },
    /// `---`
    DocumentStart,
    /// `...`
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    /// `-`
    BlockEntry,
    /// `,`
    FlowEntry,
    /// `?`, or the start of a key without it.
    Key,
    /// `:`
    Value,
    Alias(&'text str),
    Anchor(&'text str),
    Tag {
        /// `!!`, `!`, `!e!`; empty if the suffix is all there is.
        handle: Cow<'text, str>,
        suffix: Cow<'text, str>,
    },
    /// A scalar, with its value unless that is the text itself.
    Scalar {
        decoded: Option<Box<str>>,
        style: StringStyle,
    },
}

impl<'text> ScannedToken<'text> {
    pub(super) fn new(kind: TokenKind<'text>, start: TextMark, end: usize) -> Self {
        Self { kind, start, end }
    }
}
