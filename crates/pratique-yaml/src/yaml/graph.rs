//! A document's nodes as written, with aliases still pointing at their anchors.

use super::SyntaxError;
use crate::position::{Span, saturate};
use crate::tree::StringStyle;

/// The index of a node of a [`NodeGraph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct GraphId(u32);

/// Every node of a document, each before those within it. Small, for documents may have millions.
#[derive(Debug)]
pub(super) struct NodeGraph<'text> {
    text: &'text str,
    nodes: Vec<GraphNode>,
    /// Values that differ from their text.
    decoded: Vec<Box<str>>,
    tags: Vec<Box<str>>,
}

#[derive(Clone, Debug)]
pub(super) struct GraphNode {
    pub(super) kind: GraphKind,
    pub(super) span: Span,
    /// The line it starts on, from 1.
    pub(super) line: u32,
    /// The node after it and all that is within it.
    next: u32,
    /// The place of its tag, from 1; 0 without one.
    tag: u32,
    /// Of an alias its target, of a scalar the place of its value, from 1.
    data: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GraphKind {
    Scalar(StringStyle),
    Sequence,
    /// Keys and values in turn.
    Mapping,
    Alias,
}

/// More values than this a document may not have. No manifest comes near; the server has no bound but its memory.
const MAX_NODES: usize = 1 << 22;

impl<'text> NodeGraph<'text> {
    pub(super) fn new(text: &'text str) -> Self {
        Self {
            text,
            nodes: Vec::new(),
            decoded: Vec::new(),
            tags: Vec::new(),
        }
    }

    pub(super) fn source_text(&self) -> &'text str {
        self.text
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The document's outermost node; none for a document without content.
    pub(super) fn root(&self) -> Option<GraphId> {
        (!self.nodes.is_empty()).then_some(GraphId(0))
    }

    pub(super) fn get(&self, id: GraphId) -> Option<&GraphNode> {
        self.nodes.get(id.0 as usize)
    }

    pub(super) fn kind(&self, id: GraphId) -> Option<GraphKind> {
        self.get(id).map(|node| node.kind)
    }

    /// The nodes directly within a collection.
    pub(super) fn children(&self, id: GraphId) -> PendingChildren {
        let end = self.get(id).map_or(0, |node| node.next);
        PendingChildren { at: id.0 + 1, end }
    }

    /// The node that an alias refers to.
    pub(super) fn target(&self, node: &GraphNode) -> GraphId {
        GraphId(node.data)
    }

    /// The tag in full (`tag:yaml.org,2002:int`, `!local`).
    pub(super) fn tag(&self, node: &GraphNode) -> Option<&str> {
        let place = (node.tag as usize).checked_sub(1)?;
        self.tags.get(place).map(|tag| &**tag)
    }

    /// A scalar's text without quotes, folded and unescaped.
    pub(super) fn scalar(&self, node: &GraphNode) -> &str {
        if let Some(place) = (node.data as usize).checked_sub(1) {
            return self.decoded.get(place).map_or("", |text| text);
        }
        let quotes = match node.kind {
            GraphKind::Scalar(StringStyle::SingleQuoted | StringStyle::DoubleQuoted) => 1,
            _ => 0,
        };
        let (start, end) = (node.span.start as usize + quotes, node.span.end as usize);
        self.text
            .get(start..end.saturating_sub(quotes))
            .unwrap_or_default()
    }

    /// Adds a node behind all others.
    pub(super) fn add(
        &mut self,
        kind: GraphKind,
        span: Span,
        line: usize,
        tag: Option<Box<str>>,
    ) -> Result<GraphId, SyntaxError> {
        if self.nodes.len() >= MAX_NODES {
            let message = format!("yaml: document has more than {MAX_NODES} values");
            return Err(SyntaxError::new(message, span));
        }
        let id = GraphId(saturate(self.nodes.len()));
        self.nodes.push(GraphNode {
            kind,
            span,
            line: saturate(line + 1),
            next: id.0 + 1,
            tag: tag.map_or(0, |tag| {
                self.tags.push(tag);
                saturate(self.tags.len())
            }),
            data: 0,
        });
        Ok(id)
    }

    pub(super) fn set_decoded(&mut self, id: GraphId, text: Box<str>) {
        self.decoded.push(text);
        let place = saturate(self.decoded.len());
        if let Some(node) = self.nodes.get_mut(id.0 as usize) {
            node.data = place;
        }
    }

    pub(super) fn set_target(&mut self, alias: GraphId, target: GraphId) {
        if let Some(node) = self.nodes.get_mut(alias.0 as usize) {
            node.data = target.0;
        }
    }

    /// Where the last node directly within a collection ends.
    fn inner_end(&self, id: GraphId) -> u32 {
        let mut children = self.children(id);
        let mut end = 0;
        while let Some(node) = children.next(self).and_then(|child| self.get(child)) {
            end = node.span.end;
        }
        end
    }

    /// Ends a collection: the nodes added since are within it. Without a bracket it ends where the last of them does.
    pub(super) fn close(&mut self, id: GraphId, end: Option<usize>) {
        let next = saturate(self.nodes.len());
        if let Some(node) = self.nodes.get_mut(id.0 as usize) {
            node.next = next;
        }
        let end = end.map_or_else(|| self.inner_end(id), saturate);
        if let Some(node) = self.nodes.get_mut(id.0 as usize) {
            node.span.end = end.max(node.span.end);
        }
    }
}

/// The places of the nodes within a collection that were not visited yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingChildren {
    at: u32,
    end: u32,
}

impl PendingChildren {
    pub(super) fn next(&mut self, graph: &NodeGraph<'_>) -> Option<GraphId> {
        let id = GraphId(self.at);
        if self.at >= self.end {
            return None;
        }
        self.at = graph.get(id)?.next;
        Some(id)
    }
}
