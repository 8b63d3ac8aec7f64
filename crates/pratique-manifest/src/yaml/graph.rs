//! A document's nodes as written, with aliases still pointing at their anchors.

use std::borrow::Cow;
use std::collections::HashMap;

use super::SyntaxError;
use super::reader::{Event, EventKind, EventSource, Properties};
use crate::position::{Span, saturate};
use crate::tree::Style;

/// The index of a node of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct GraphId(u32);

/// Every node of a document.
#[derive(Debug, Default)]
pub(super) struct Graph<'text> {
    nodes: Vec<GraphNode<'text>>,
    root: Option<GraphId>,
}

#[derive(Debug)]
pub(super) struct GraphNode<'text> {
    pub(super) kind: GraphKind<'text>,
    pub(super) tag: Option<Box<str>>,
    pub(super) span: Span,
    /// The line it starts on, from 1.
    pub(super) line: u32,
}

#[derive(Debug)]
pub(super) enum GraphKind<'text> {
    Scalar {
        value: Cow<'text, str>,
        style: Style,
    },
    Sequence(Vec<GraphId>),
    /// Keys and values in turn.
    Mapping(Vec<GraphId>),
    Alias(GraphId),
}

impl<'text> Graph<'text> {
    pub(super) fn root(&self) -> Option<&GraphNode<'text>> {
        self.get(self.root?)
    }

    pub(super) fn get(&self, id: GraphId) -> Option<&GraphNode<'text>> {
        self.nodes.get(id.0 as usize)
    }
}

/// Reads a document's events to its end. Nesting costs no stack.
pub(super) fn compose<'text>(source: &mut impl EventSource<'text>) -> Result<Graph<'text>, SyntaxError> {
    let mut composer = Composer::default();
    while let Some(event) = source.next_event()? {
        composer.accept(event);
    }
    Ok(composer.graph)
}

#[derive(Default)]
struct Composer<'text> {
    graph: Graph<'text>,
    /// Collections that are begun and not ended.
    open: Vec<GraphId>,
    anchors: HashMap<usize, GraphId>,
}

impl<'text> Composer<'text> {
    fn accept(&mut self, event: Event<'text>) {
        let Event { kind, span, line } = event;
        match kind {
            EventKind::Alias(anchor) => {
                if let Some(target) = self.anchors.get(&anchor).copied() {
                    self.add(GraphKind::Alias(target), Properties::default(), span, line);
                }
            }
            EventKind::Scalar {
                value,
                style,
                properties,
            } => {
                self.add(GraphKind::Scalar { value, style }, properties, span, line);
            }
            EventKind::SequenceStart(properties) => {
                let id = self.add(GraphKind::Sequence(Vec::new()), properties, span, line);
                self.open.push(id);
            }
            EventKind::MappingStart(properties) => {
                let id = self.add(GraphKind::Mapping(Vec::new()), properties, span, line);
                self.open.push(id);
            }
            EventKind::SequenceEnd | EventKind::MappingEnd => self.close(span),
        }
    }

    fn add(&mut self, kind: GraphKind<'text>, properties: Properties, span: Span, line: u32) -> GraphId {
        let id = GraphId(saturate(self.graph.nodes.len()));
        self.graph.nodes.push(GraphNode {
            kind,
            tag: properties.tag,
            span,
            line,
        });
        if let Some(anchor) = properties.anchor {
            self.anchors.insert(anchor, id);
        }
        let parent = self
            .open
            .last()
            .and_then(|open| self.graph.nodes.get_mut(open.0 as usize));
        match parent.map(|parent| &mut parent.kind) {
            Some(GraphKind::Sequence(children) | GraphKind::Mapping(children)) => children.push(id),
            _ => self.graph.root = Some(id),
        }
        id
    }

    /// Ends the innermost collection. A block one ends where its last child does, not at the line that outdents.
    fn close(&mut self, span: Span) {
        let Some(id) = self.open.pop() else { return };
        let Some(node) = self.graph.nodes.get(id.0 as usize) else {
            return;
        };
        let last = match &node.kind {
            GraphKind::Sequence(children) | GraphKind::Mapping(children) => children.last(),
            _ => None,
        };
        let inner = last
            .and_then(|child| self.graph.get(*child))
            .map_or(node.span.end, |child| child.span.end);
        let end = if span.end > span.start { span.end } else { inner };
        if let Some(node) = self.graph.nodes.get_mut(id.0 as usize) {
            node.span.end = node.span.end.max(end);
        }
    }
}
