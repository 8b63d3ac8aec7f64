//! From nodes as written to values with JSON's types: aliases and merge keys followed, keys made strings.
//!
//! Without recursion, for values nest as deep as 10,000 collections, and deeper through aliases.

use std::collections::HashSet;

use pratique_gotext::strconv::{general_form, json_form};
use pratique_gotext::utf8::lossy;

use super::budget::AliasBudget;
use super::go_syntax::{format_value, shown_scalar};
use super::graph::{GraphId, GraphKind, GraphNode, NodeGraph, PendingChildren};
use super::mapping::{self, KeyKind, MappingFilling};
use super::number::ScalarNumber;
use super::resolve::{ScalarValue, is_merge, resolve};
use super::{Document, Duplicate, SyntaxError};
use crate::budget::{Budget, Meter};
use crate::position::Span;
use crate::tree::{Entry, NodeId, StringStyle, Tree, TreeValue};

/// Converts a document. A document without a node is null.
pub(super) fn convert(graph: &NodeGraph<'_>, budget: &Budget) -> Result<Document, SyntaxError> {
    let mut converter = GraphConverter {
        graph,
        tree: Tree::with_capacity(graph.len()),
        duplicates: Vec::new(),
        aliases: AliasBudget::default(),
        budget,
        meter: Meter::new(budget),
        following: HashSet::new(),
        frames: Vec::new(),
        errors: Vec::new(),
    };
    let root = match graph.root() {
        Some(root) => converter.run(root)?,
        None => converter.tree.push(Span::default(), TreeValue::Null),
    };
    if let Some(error) = converter.first_error(root) {
        return Err(error);
    }
    let cost = converter.meter.finish();
    Ok(Document {
        tree: converter.tree,
        root,
        duplicates: converter.duplicates,
        cost: cost.map_err(SyntaxError::exceeded(budget, Span::default()))?,
        rest: None,
    })
}

struct GraphConverter<'graph> {
    graph: &'graph NodeGraph<'graph>,
    tree: Tree,
    duplicates: Vec<Duplicate>,
    aliases: AliasBudget,
    budget: &'graph Budget,
    meter: Meter<'graph>,
    /// The aliases that are being followed.
    following: HashSet<GraphId>,
    /// The collections that are being converted, and the aliases on the way to them.
    frames: Vec<OpenNode>,
    /// Values that JSON cannot hold. They are errors unless a later value of the same key replaces them.
    errors: Vec<(NodeId, SyntaxError)>,
}

enum OpenNode {
    Alias(GraphId),
    List {
        span: Span,
        children: PendingChildren,
        items: Vec<NodeId>,
    },
    Map(MapFrame),
}

struct MapFrame {
    span: Span,
    filling: MappingFilling,
    /// The mappings whose entries are added: the mapping itself and on top of it those that are being merged into it.
    sources: Vec<EntrySource>,
    /// The key whose value is being converted, with the line of that value.
    pending: Option<(KeyKind, Entry, u32)>,
    error: Option<SyntaxError>,
}

enum EntrySource {
    /// A mapping's entries, and the alias that leads to it.
    Entries(PendingChildren, Option<GraphId>),
    /// Mappings to be merged; the last is next, for the first wins.
    Mappings(Vec<GraphId>),
}

/// The result of a step.
enum ConvertStep {
    Done(NodeId),
    Begin(GraphId),
    Merge(GraphId),
    MergeAll(GraphId),
    LeaveAlias(GraphId),
    Again,
}

impl<'graph> GraphConverter<'graph> {
    fn run(&mut self, root: GraphId) -> Result<NodeId, SyntaxError> {
        if let Some(node) = self.graph.get(root) {
            self.aliases.spend(node.span)?;
        }
        let mut done = self.begin(root)?;
        loop {
            if let Some(value) = done.take() {
                match self.frames.last_mut() {
                    None => return Ok(value),
                    Some(OpenNode::Alias(alias)) => {
                        let alias = *alias;
                        self.frames.pop();
                        self.leave(alias);
                        done = Some(value);
                        continue;
                    }
                    Some(OpenNode::List { items, .. }) => items.push(value),
                    Some(OpenNode::Map(map)) => {
                        let text = Self::fill(map, value, &mut self.duplicates);
                        let span = map.span;
                        let spent = self.meter.spend_text(text);
                        spent.map_err(SyntaxError::exceeded(self.budget, span))?;
                    }
                }
            }
            match self.step()? {
                ConvertStep::Done(value) => done = Some(value),
                ConvertStep::Begin(node) => done = self.begin(node)?,
                ConvertStep::Merge(node) => self.merge(node)?,
                ConvertStep::MergeAll(node) => self.merge_value(node)?,
                ConvertStep::LeaveAlias(alias) => self.leave(alias),
                ConvertStep::Again => {}
            }
        }
    }

    /// Converts a scalar, or begins a collection.
    fn begin(&mut self, id: GraphId) -> Result<Option<NodeId>, SyntaxError> {
        let graph = self.graph;
        let Some(node) = graph.get(id) else {
            return Ok(None);
        };
        self.aliases.spend(node.span)?;
        match node.kind {
            GraphKind::Alias => {
                self.follow(id, node)?;
                self.frames.push(OpenNode::Alias(id));
                // The target of an alias is no alias, so this goes one step only.
                return self.begin(graph.target(node));
            }
            GraphKind::Scalar(style) => return self.scalar(node, style).map(Some),
            GraphKind::Sequence => self.frames.push(OpenNode::List {
                span: node.span,
                children: graph.children(id),
                items: Vec::new(),
            }),
            GraphKind::Mapping => self.frames.push(OpenNode::Map(MapFrame {
                span: node.span,
                filling: MappingFilling::default(),
                sources: vec![EntrySource::Entries(graph.children(id), None)],
                pending: None,
                error: None,
            })),
        }
        Ok(None)
    }

    fn follow(&mut self, alias: GraphId, node: &GraphNode) -> Result<(), SyntaxError> {
        if !self.following.insert(alias) {
            let name = self
                .graph
                .source_text()
                .get(node.span.start as usize..node.span.end as usize);
            let name = name.unwrap_or_default().trim_start_matches('*');
            let message = format!("yaml: anchor '{name}' value contains itself");
            return Err(SyntaxError::new(message, node.span));
        }
        self.aliases.enter();
        Ok(())
    }

    fn leave(&mut self, alias: GraphId) {
        self.following.remove(&alias);
        self.aliases.leave();
    }

    /// Goes on with the innermost collection.
    fn step(&mut self) -> Result<ConvertStep, SyntaxError> {
        let graph = self.graph;
        match self.frames.last_mut() {
            Some(OpenNode::List { children, .. }) => {
                if let Some(child) = children.next(graph) {
                    return Ok(ConvertStep::Begin(child));
                }
            }
            Some(OpenNode::Map(map)) => match map.sources.last_mut() {
                Some(EntrySource::Mappings(mappings)) => {
                    if let Some(mapping) = mappings.pop() {
                        return Ok(ConvertStep::Merge(mapping));
                    }
                    map.sources.pop();
                    return Ok(ConvertStep::Again);
                }
                Some(EntrySource::Entries(children, alias)) => {
                    if let (Some(key), Some(value)) = (children.next(graph), children.next(graph)) {
                        return self.entry(key, value);
                    }
                    let alias = *alias;
                    map.sources.pop();
                    return Ok(alias.map_or(ConvertStep::Again, ConvertStep::LeaveAlias));
                }
                None => {}
            },
            Some(OpenNode::Alias(_)) | None => {}
        }
        let (span, value, error) = match self.frames.pop() {
            Some(OpenNode::List { span, mut items, .. }) => {
                items.shrink_to_fit();
                (span, TreeValue::List(items), None)
            }
            Some(OpenNode::Map(map)) => (map.span, TreeValue::Map(map.filling.finish()), map.error),
            Some(OpenNode::Alias(_)) | None => (Span::default(), TreeValue::Null, None),
        };
        let spent = self.meter.value(0);
        spent.map_err(SyntaxError::exceeded(self.budget, span))?;
        let id = self.tree.push(span, value);
        self.tree.reach(self.frames.len() + 1);
        self.errors.extend(error.map(|error| (id, error)));
        Ok(ConvertStep::Done(id))
    }

    /// Adds an entry. An earlier one of its key is replaced, and recorded as a duplicate: returns the length of that
    /// record.
    fn fill(map: &mut MapFrame, value: NodeId, duplicates: &mut Vec<Duplicate>) -> usize {
        let Some((kind, entry, line)) = map.pending.take() else {
            return 0;
        };
        let entry = Entry { value, ..entry };
        let span = entry.key_span;
        let key = entry.key.clone();
        // Under the entries of a mapping lie those of the mappings that are merged into it.
        let is_from_merge = map.sources.len() > 1;
        let Some(is_merged) = map.filling.put(kind, entry, is_from_merge) else {
            return 0;
        };
        let message = format!("key {} already set in map", mapping::show_key(kind, &key));
        let length = message.len() + size_of::<Duplicate>();
        duplicates.push(Duplicate {
            message,
            line: line as usize,
            span,
            is_merged,
        });
        length
    }

    fn entry(&mut self, key: GraphId, value: GraphId) -> Result<ConvertStep, SyntaxError> {
        let graph = self.graph;
        let (Some(key_node), Some(value_node)) = (graph.get(key), graph.get(value)) else {
            return Ok(ConvertStep::Again);
        };
        if let GraphKind::Scalar(style) = key_node.kind
            && is_merge(
                graph.tag(key_node),
                graph.scalar(key_node),
                style == StringStyle::Plain,
            )
        {
            return Ok(ConvertStep::MergeAll(value));
        }
        let scalar = self.key(key, key_node)?;
        let error = unsupported(&scalar).map(|kind| {
            let value = format_value(graph, value).unwrap_or_default();
            let key = shown_scalar(&scalar);
            let message = format!("unsupported map key of type: {kind}, key: {key}, value: {value}");
            SyntaxError::new(message, key_node.span)
        });
        let (kind, key) = mapping::key(scalar);
        let spent = self.meter.key(key.len());
        spent.map_err(SyntaxError::exceeded(self.budget, key_node.span))?;
        let entry = Entry {
            key,
            key_span: key_node.span,
            value: NodeId::default(),
        };
        if let Some(OpenNode::Map(map)) = self.frames.last_mut() {
            map.pending = Some((kind, entry, value_node.line));
            map.error = map.error.take().or(error);
        }
        Ok(ConvertStep::Begin(value))
    }

    /// A mapping's key, which must be a scalar.
    fn key(&mut self, id: GraphId, node: &GraphNode) -> Result<ScalarValue, SyntaxError> {
        let graph = self.graph;
        self.aliases.spend(node.span)?;
        match node.kind {
            GraphKind::Alias => {
                self.follow(id, node)?;
                let target = graph.target(node);
                let scalar = match graph.get(target) {
                    Some(target_node) => self.key(target, target_node)?,
                    None => ScalarValue::Null,
                };
                self.leave(id);
                Ok(scalar)
            }
            GraphKind::Scalar(style) => resolve(
                graph.tag(node),
                graph.scalar(node),
                style == StringStyle::Plain,
                node.span,
            ),
            GraphKind::Sequence | GraphKind::Mapping => {
                let message = format!("yaml: invalid map key: {}", format_value(graph, id)?);
                Err(SyntaxError::new(message, node.span))
            }
        }
    }

    /// Takes over the entries of the mapping, or the list of mappings, that a merge key has.
    fn merge_value(&mut self, id: GraphId) -> Result<(), SyntaxError> {
        if self.graph.kind(id) != Some(GraphKind::Sequence) {
            return self.merge(id);
        }
        let mut children = self.graph.children(id);
        let mut mappings = Vec::new();
        while let Some(child) = children.next(self.graph) {
            mappings.push(child);
        }
        self.add_source(EntrySource::Mappings(mappings));
        Ok(())
    }

    fn merge(&mut self, id: GraphId) -> Result<(), SyntaxError> {
        let graph = self.graph;
        let Some(node) = graph.get(id) else {
            return Ok(());
        };
        let (mapping, alias) = match node.kind {
            GraphKind::Alias => (graph.target(node), Some(id)),
            _ => (id, None),
        };
        if graph.kind(mapping) != Some(GraphKind::Mapping) {
            let message = "yaml: map merge requires map or sequence of maps as the value";
            return Err(SyntaxError::new(message, node.span));
        }
        self.aliases.spend(node.span)?;
        if alias.is_some() {
            self.follow(id, node)?;
            self.aliases.spend(node.span)?;
        }
        self.add_source(EntrySource::Entries(graph.children(mapping), alias));
        Ok(())
    }

    fn add_source(&mut self, source: EntrySource) {
        if let Some(OpenNode::Map(map)) = self.frames.last_mut() {
            map.sources.push(source);
        }
    }

    fn scalar(&mut self, node: &GraphNode, style: StringStyle) -> Result<NodeId, SyntaxError> {
        let text = self.graph.scalar(node);
        let tag = self.graph.tag(node);
        let value = match resolve(tag, text, style == StringStyle::Plain, node.span)? {
            ScalarValue::Null => TreeValue::Null,
            ScalarValue::Bool(value) => TreeValue::Bool(value),
            ScalarValue::Text(text) => TreeValue::String(text.into(), style),
            ScalarValue::Bytes(bytes) => TreeValue::String(lossy(&bytes).into(), StringStyle::Binary),
            ScalarValue::Number(ScalarNumber::Int(value)) => TreeValue::Number(value.to_string().into()),
            ScalarValue::Number(ScalarNumber::Unsigned(value)) => TreeValue::Number(value.to_string().into()),
            ScalarValue::Number(ScalarNumber::Float(value)) if value.is_finite() => {
                TreeValue::Number(json_form(value).into())
            }
            ScalarValue::Number(ScalarNumber::Float(value)) => {
                let id = self.tree.push(node.span, TreeValue::Null);
                let message = format!("json: unsupported value: {}", general_form(value));
                self.errors.push((id, SyntaxError::new(message, node.span)));
                return Ok(id);
            }
        };
        let length = match &value {
            TreeValue::String(text, _) | TreeValue::Number(text) => text.len(),
            _ => 0,
        };
        let spent = self.meter.value(length);
        spent.map_err(SyntaxError::exceeded(self.budget, node.span))?;
        Ok(self.tree.push(node.span, value))
    }

    /// The first error of a value that is still there.
    fn first_error(&mut self, root: NodeId) -> Option<SyntaxError> {
        let mut rest = vec![root];
        while let Some(id) = rest.pop().filter(|_| !self.errors.is_empty()) {
            if let Some(at) = self.errors.iter().position(|(node, _)| *node == id) {
                return Some(self.errors.swap_remove(at).1);
            }
            match &self.tree.get(id).value {
                TreeValue::List(items) => rest.extend(items.iter().rev()),
                TreeValue::Map(entries) => rest.extend(entries.iter().rev().map(|entry| entry.value)),
                _ => {}
            }
        }
        None
    }
}

/// The type of a key that JSON cannot have, as the server's message names it.
fn unsupported(scalar: &ScalarValue) -> Option<&'static str> {
    match scalar {
        ScalarValue::Null => Some("%!s(<nil>)"),
        ScalarValue::Number(ScalarNumber::Unsigned(_)) => Some("uint64"),
        _ => None,
    }
}
