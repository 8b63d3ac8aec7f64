//! From tokens to nodes: which token may follow which, without recursion.

use std::borrow::Cow;
use std::collections::HashMap;

use super::SyntaxError;
use super::cursor::TextMark;
use super::error::{ErrorStage, error_at};
use super::graph::{GraphId, GraphKind, NodeGraph};
use super::scanner::TokenScanner;
use super::token::{ScannedToken, TokenKind};
use crate::budget::Budget;
use crate::position::Span;
use crate::tree::StringStyle;

/// The result of parsing a text.
pub(super) struct ComposedText<'text> {
    /// The first document's nodes, or the first error.
    pub(super) graph: Result<NodeGraph<'text>, SyntaxError>,
    /// How far the text was read for that.
    pub(super) read: usize,
    /// Where more than comments follows the document.
    pub(super) rest: Option<usize>,
}

/// Composes the first document of a text. What tags take that are longer than they are written is spent of the budget.
pub(super) fn compose<'text>(text: &'text str, budget: &'text Budget) -> ComposedText<'text> {
    let mut composer = GraphComposer {
        scanner: TokenScanner::new(text),
        graph: NodeGraph::new(text),
        budget,
        anchors: HashMap::new(),
        prefixes: Vec::new(),
        open: Vec::new(),
    };
    let result = composer.document();
    let read = composer.scanner.cursor.mark().offset;
    let rest = composer.rest(text);
    ComposedText {
        graph: result.map(|()| composer.graph),
        read,
        rest,
    }
}

/// Where something else than blanks, comments and separators stands in a text, from some byte on.
fn content_from(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    for line in text.get(from..)?.split_inclusive('\n') {
        let content = line.trim_start();
        let separates = ["...", "---"].contains(&line.trim_end());
        if !content.is_empty() && !content.starts_with('#') && !separates {
            return Some(at + line.len() - content.len());
        }
        at += line.len();
    }
    None
}

struct GraphComposer<'text> {
    scanner: TokenScanner<'text>,
    graph: NodeGraph<'text>,
    budget: &'text Budget,
    anchors: HashMap<&'text str, GraphId>,
    /// The handles of tags and their prefixes.
    prefixes: Vec<(Cow<'text, str>, Cow<'text, str>)>,
    /// The open collections and the part that comes next in each.
    open: Vec<(GraphId, NextPart)>,
}

/// The part that comes next in an open collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextPart {
    BlockItem,
    /// An item of a sequence that is not indented more than its key.
    FlatItem,
    BlockKey,
    BlockValue,
    FirstFlowItem,
    FlowItem,
    /// The parts of `[key: value]`, a mapping of one entry.
    PairKey,
    PairValue,
    PairEnd,
    FirstFlowKey,
    FlowKey,
    FlowValue,
    /// Nothing, for a key without a colon.
    NoValue,
}

/// Where a node is, which decides about the collections that it can be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NodePlace {
    Flow,
    Block,
    /// A key or a value of a block mapping, where sequences need no indentation.
    Entry,
}

/// A node's anchor and tag.
#[derive(Default)]
struct NodeProperties<'text> {
    anchor: Option<&'text str>,
    tag: Option<Box<str>>,
    start: Option<TextMark>,
}

impl<'text> GraphComposer<'text> {
    fn document(&mut self) -> Result<(), SyntaxError> {
        match self.kind()? {
            TokenKind::StreamEnd => return Ok(()),
            TokenKind::Version(..) | TokenKind::TagPrefix { .. } | TokenKind::DocumentStart => {
                self.directives()?;
                if !self.at(&TokenKind::DocumentStart)? {
                    return Err(self.unexpected("did not find expected <document start>"));
                }
                self.scanner.take();
                match self.kind()? {
                    TokenKind::Version(..)
                    | TokenKind::TagPrefix { .. }
                    | TokenKind::DocumentStart
                    | TokenKind::DocumentEnd
                    | TokenKind::StreamEnd => {
                        let mark = self.mark()?;
                        self.empty(mark)?;
                    }
                    _ => self.node(NodePlace::Block)?,
                }
            }
            _ => {
                self.directives()?;
                self.node(NodePlace::Block)?;
            }
        }
        while let Some((id, next)) = self.open.pop() {
            self.go_on(id, next)?;
        }
        // Text after the document is not read, except for the token that ends it.
        self.kind().map(|_| ())
    }

    /// Where more follows the document that has just been read.
    fn rest(&mut self, text: &str) -> Option<usize> {
        let token = self.scanner.peek().ok()?;
        match token.kind {
            TokenKind::StreamEnd => None,
            TokenKind::DocumentStart | TokenKind::DocumentEnd => content_from(text, token.end),
            _ => Some(token.start.offset),
        }
    }

    fn directives(&mut self) -> Result<(), SyntaxError> {
        let mut has_version = false;
        loop {
            match self.kind()? {
                TokenKind::Version(..) if has_version => {
                    return Err(self.unexpected("found duplicate %YAML directive"));
                }
                TokenKind::Version(1, 1) => has_version = true,
                TokenKind::Version(..) => {
                    return Err(self.unexpected("found incompatible YAML document"));
                }
                TokenKind::TagPrefix { handle, prefix } => {
                    let (handle, prefix) = (handle.clone(), prefix.clone());
                    if self.prefix(&handle).is_some() {
                        return Err(self.unexpected("found duplicate %TAG directive"));
                    }
                    self.prefixes.push((handle, prefix));
                }
                _ => break,
            }
            self.scanner.take();
        }
        for (handle, prefix) in [("!", "!"), ("!!", "tag:yaml.org,2002:")] {
            if self.prefix(handle).is_none() {
                self.prefixes.push((handle.into(), prefix.into()));
            }
        }
        Ok(())
    }

    fn prefix(&self, handle: &str) -> Option<&str> {
        let prefix = self.prefixes.iter().find(|(other, _)| other == handle);
        prefix.map(|(_, prefix)| &**prefix)
    }

    fn kind(&mut self) -> Result<&TokenKind<'text>, SyntaxError> {
        Ok(&self.scanner.peek()?.kind)
    }

    fn at(&mut self, kind: &TokenKind<'text>) -> Result<bool, SyntaxError> {
        Ok(self.kind()? == kind)
    }

    fn mark(&mut self) -> Result<TextMark, SyntaxError> {
        Ok(self.scanner.peek()?.start)
    }

    /// The error that the next token is unexpected, unless the scanner finds an error first.
    fn unexpected(&mut self, problem: &str) -> SyntaxError {
        match self.mark() {
            Ok(mark) => error_at(ErrorStage::Grammar, mark, problem),
            Err(error) => error,
        }
    }

    /// Adds an empty node.
    fn empty(&mut self, mark: TextMark) -> Result<(), SyntaxError> {
        let span = Span::new(mark.offset, mark.offset);
        let kind = GraphKind::Scalar(StringStyle::Plain);
        self.graph.add(kind, span, mark.line, None).map(|_| ())
    }

    /// Reads a node; of a collection only its beginning.
    fn node(&mut self, place: NodePlace) -> Result<(), SyntaxError> {
        if let TokenKind::Alias(name) = *self.kind()? {
            return self.alias(name);
        }
        let mut properties = self.properties()?;
        let mark = self.mark()?;
        let (kind, next) = match self.kind()? {
            TokenKind::BlockEntry if place == NodePlace::Entry => (GraphKind::Sequence, NextPart::FlatItem),
            TokenKind::Scalar { .. } => return self.scalar(properties),
            TokenKind::FlowSequenceStart => (GraphKind::Sequence, NextPart::FirstFlowItem),
            TokenKind::FlowMappingStart => (GraphKind::Mapping, NextPart::FirstFlowKey),
            TokenKind::BlockSequenceStart if place != NodePlace::Flow => {
                (GraphKind::Sequence, NextPart::BlockItem)
            }
            TokenKind::BlockMappingStart if place != NodePlace::Flow => {
                (GraphKind::Mapping, NextPart::BlockKey)
            }
            _ => {
                let Some(start) = properties.start else {
                    return Err(self.unexpected("did not find expected node content"));
                };
                let tag = properties.tag.take();
                let span = Span::new(mark.offset, mark.offset);
                let id = self
                    .graph
                    .add(GraphKind::Scalar(StringStyle::Plain), span, start.line, tag)?;
                self.anchor(&properties, id);
                return Ok(());
            }
        };
        if next != NextPart::FlatItem {
            self.scanner.take();
        }
        let line = properties.start.unwrap_or(mark).line;
        let tag = properties.tag.take();
        let id = self
            .graph
            .add(kind, Span::new(mark.offset, mark.offset), line, tag)?;
        self.anchor(&properties, id);
        self.open.push((id, next));
        Ok(())
    }

    fn anchor(&mut self, properties: &NodeProperties<'text>, id: GraphId) {
        if let Some(name) = properties.anchor {
            self.anchors.insert(name, id);
        }
    }

    fn alias(&mut self, name: &'text str) -> Result<(), SyntaxError> {
        let Some(ScannedToken { start, end, .. }) = self.scanner.take() else {
            return Ok(());
        };
        let span = Span::new(start.offset, end);
        let Some(target) = self.anchors.get(name).copied() else {
            let message = format!("yaml: unknown anchor '{name}' referenced");
            return Err(SyntaxError::new(message, span));
        };
        let id = self.graph.add(GraphKind::Alias, span, start.line, None)?;
        self.graph.set_target(id, target);
        Ok(())
    }

    fn scalar(&mut self, mut properties: NodeProperties<'text>) -> Result<(), SyntaxError> {
        let Some(ScannedToken { kind, start, end }) = self.scanner.take() else {
            return Ok(());
        };
        let TokenKind::Scalar { decoded, style } = kind else {
            return Ok(());
        };
        let line = properties.start.unwrap_or(start).line;
        let from = match style {
            StringStyle::Literal | StringStyle::Folded => {
                start.offset + content_at(self.graph.source_text(), start.offset, end)
            }
            _ => start.offset,
        };
        let span = Span::new(from, end);
        let tag = properties.tag.take();
        let id = self.graph.add(GraphKind::Scalar(style), span, line, tag)?;
        if let Some(text) = decoded {
            self.graph.set_decoded(id, text);
        }
        self.anchor(&properties, id);
        Ok(())
    }

    /// An anchor and a tag, at most one of each.
    fn properties(&mut self) -> Result<NodeProperties<'text>, SyntaxError> {
        let mut properties = NodeProperties::default();
        let mut tag = None;
        loop {
            let mark = self.mark()?;
            match self.kind()? {
                TokenKind::Anchor(name) if properties.anchor.is_none() => properties.anchor = Some(*name),
                TokenKind::Tag { handle, suffix } if tag.is_none() => {
                    tag = Some((handle.clone(), suffix.clone(), mark));
                }
                _ => break,
            }
            properties.start.get_or_insert(mark);
            self.scanner.take();
        }
        if let Some((handle, suffix, mark)) = tag {
            properties.tag = Some(self.full_tag(&handle, &suffix, mark)?);
        }
        Ok(properties)
    }

    fn full_tag(&self, handle: &str, suffix: &str, mark: TextMark) -> Result<Box<str>, SyntaxError> {
        if handle.is_empty() {
            return Ok(suffix.into());
        }
        match self.prefix(handle) {
            Some(prefix) => {
                let tag = format!("{prefix}{suffix}");
                let length = u64::try_from(tag.len()).unwrap_or(u64::MAX);
                let span = Span::new(mark.offset, mark.offset + 1);
                self.budget
                    .spend(length)
                    .map_err(SyntaxError::exceeded(self.budget, span))?;
                Ok(tag.into())
            }
            None => Err(error_at(ErrorStage::Grammar, mark, "found undefined tag handle")),
        }
    }

    /// Reads the next part of a collection.
    fn go_on(&mut self, id: GraphId, next: NextPart) -> Result<(), SyntaxError> {
        match next {
            NextPart::BlockItem => self.block_item(id),
            NextPart::FlatItem => self.flat_item(id),
            NextPart::BlockKey => self.block_key(id),
            NextPart::BlockValue => self.block_value(id),
            NextPart::FirstFlowItem => self.flow_item(id, true),
            NextPart::FlowItem => self.flow_item(id, false),
            NextPart::PairKey => self.pair_key(id),
            NextPart::PairValue => self.flow_value(id, NextPart::PairEnd, &TokenKind::FlowSequenceEnd),
            NextPart::PairEnd => {
                self.graph.close(id, None);
                Ok(())
            }
            NextPart::FirstFlowKey => self.flow_key(id, true),
            NextPart::FlowKey => self.flow_key(id, false),
            NextPart::FlowValue => self.flow_value(id, NextPart::FlowKey, &TokenKind::FlowMappingEnd),
            NextPart::NoValue => {
                self.open.push((id, NextPart::FlowKey));
                let mark = self.mark()?;
                self.empty(mark)
            }
        }
    }

    /// A node after a token that announced it, or nothing where the collection goes on.
    fn node_or_empty(
        &mut self,
        place: NodePlace,
        is_absent: fn(&TokenKind<'text>) -> bool,
        at: TextMark,
    ) -> Result<(), SyntaxError> {
        if is_absent(self.kind()?) {
            self.empty(at)
        } else {
            self.node(place)
        }
    }

    fn close(&mut self, id: GraphId, is_bracket: bool) -> Result<(), SyntaxError> {
        let end = self.scanner.peek()?.end;
        self.scanner.take();
        self.graph.close(id, is_bracket.then_some(end));
        Ok(())
    }

    /// Takes a token and returns where it ended.
    fn take_end(&mut self) -> Result<TextMark, SyntaxError> {
        let token = self.scanner.peek()?;
        let end = TextMark {
            offset: token.end,
            ..token.start
        };
        self.scanner.take();
        Ok(end)
    }

    fn block_item(&mut self, id: GraphId) -> Result<(), SyntaxError> {
        match self.kind()? {
            TokenKind::BlockEntry => {
                let end = self.take_end()?;
                self.open.push((id, NextPart::BlockItem));
                let is_absent =
                    |kind: &TokenKind<'_>| matches!(kind, TokenKind::BlockEntry | TokenKind::BlockEnd);
                self.node_or_empty(NodePlace::Block, is_absent, end)
            }
            TokenKind::BlockEnd => self.close(id, false),
            _ => Err(self.unexpected("did not find expected '-' indicator")),
        }
    }

    fn flat_item(&mut self, id: GraphId) -> Result<(), SyntaxError> {
        if !self.at(&TokenKind::BlockEntry)? {
            self.graph.close(id, None);
            return Ok(());
        }
        let end = self.take_end()?;
        self.open.push((id, NextPart::FlatItem));
        let is_absent = |kind: &TokenKind<'_>| {
            matches!(
                kind,
                TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd
            )
        };
        self.node_or_empty(NodePlace::Block, is_absent, end)
    }

    fn block_key(&mut self, id: GraphId) -> Result<(), SyntaxError> {
        match self.kind()? {
            TokenKind::Key => {
                let end = self.take_end()?;
                self.open.push((id, NextPart::BlockValue));
                self.node_or_empty(NodePlace::Entry, ends_block_entry, end)
            }
            TokenKind::BlockEnd => self.close(id, false),
            _ => Err(self.unexpected("did not find expected key")),
        }
    }

    fn block_value(&mut self, id: GraphId) -> Result<(), SyntaxError> {
        self.open.push((id, NextPart::BlockKey));
        if self.at(&TokenKind::Value)? {
            let end = self.take_end()?;
            self.node_or_empty(NodePlace::Entry, ends_block_entry, end)
        } else {
            let mark = self.mark()?;
            self.empty(mark)
        }
    }

    fn flow_item(&mut self, id: GraphId, is_first: bool) -> Result<(), SyntaxError> {
        if self.at(&TokenKind::FlowSequenceEnd)? {
            return self.close(id, true);
        }
        self.flow_separator(is_first, "did not find expected ',' or ']'")?;
        match self.kind()? {
            TokenKind::Key => {
                let mark = self.mark()?;
                self.scanner.take();
                self.open.push((id, NextPart::FlowItem));
                let span = Span::new(mark.offset, mark.offset);
                let pair = self.graph.add(GraphKind::Mapping, span, mark.line, None)?;
                self.open.push((pair, NextPart::PairKey));
                Ok(())
            }
            TokenKind::FlowSequenceEnd => self.close(id, true),
            _ => {
                self.open.push((id, NextPart::FlowItem));
                self.node(NodePlace::Flow)
            }
        }
    }

    /// Takes the comma before every entry of a flow collection but the first.
    fn flow_separator(&mut self, is_first: bool, missing: &'static str) -> Result<(), SyntaxError> {
        if !is_first {
            if !self.at(&TokenKind::FlowEntry)? {
                return Err(self.unexpected(missing));
            }
            self.scanner.take();
        }
        Ok(())
    }

    fn pair_key(&mut self, id: GraphId) -> Result<(), SyntaxError> {
        self.open.push((id, NextPart::PairValue));
        match self.kind()? {
            TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowSequenceEnd => {
                // The server drops the token, too, and with it the value's colon or the sequence's end.
                let end = self.take_end()?;
                self.empty(end)
            }
            _ => self.node(NodePlace::Flow),
        }
    }

    /// The value of an entry within brackets, or nothing where one of two tokens follows.
    fn flow_value(&mut self, id: GraphId, then: NextPart, end: &TokenKind<'text>) -> Result<(), SyntaxError> {
        self.open.push((id, then));
        if self.at(&TokenKind::Value)? {
            self.scanner.take();
            if !self.at(&TokenKind::FlowEntry)? && !self.at(end)? {
                return self.node(NodePlace::Flow);
            }
        }
        let mark = self.mark()?;
        self.empty(mark)
    }

    fn flow_key(&mut self, id: GraphId, is_first: bool) -> Result<(), SyntaxError> {
        if self.at(&TokenKind::FlowMappingEnd)? {
            return self.close(id, true);
        }
        self.flow_separator(is_first, "did not find expected ',' or '}'")?;
        match self.kind()? {
            TokenKind::Key => {
                self.scanner.take();
                self.open.push((id, NextPart::FlowValue));
                let mark = self.mark()?;
                let is_absent = |kind: &TokenKind<'_>| {
                    matches!(
                        kind,
                        TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd
                    )
                };
                self.node_or_empty(NodePlace::Flow, is_absent, mark)
            }
            TokenKind::FlowMappingEnd => self.close(id, true),
            _ => {
                self.open.push((id, NextPart::NoValue));
                self.node(NodePlace::Flow)
            }
        }
    }
}

/// Where the text of a block scalar begins after its header; the header itself if it has none.
fn content_at(text: &str, start: usize, end: usize) -> usize {
    let written = text.get(start..end).unwrap_or_default();
    let header = written.find('\n').unwrap_or_default();
    let content = written.get(header..).unwrap_or_default();
    let blanks = content.len() - content.trim_start().len();
    match header + blanks {
        at if at < written.len() => at,
        _ => 0,
    }
}

fn ends_block_entry(kind: &TokenKind<'_>) -> bool {
    matches!(kind, TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd)
}
