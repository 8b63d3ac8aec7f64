//! From nodes as written to values with JSON's types: aliases and merge keys followed, keys made strings.

use std::collections::HashSet;

use pratique_cel::quote::quoted;
use pratique_json::format_float;

use super::graph::{Graph, GraphId, GraphKind, GraphNode};
use super::mapping::{Filling, Key};
use super::number::Number;
use super::resolve::{Scalar, is_merge, resolve};
use super::{Document, Duplicate, SyntaxError};
use crate::position::Span;
use crate::tree::{Entry, NodeId, Style, Tree, Value};

/// How deep values may nest, aliases followed. No manifest comes near; the server would go on to 10,000.
const MAX_DEPTH: usize = 512;

/// Converts a document. A document without a node is null.
pub(super) fn convert(graph: &Graph<'_>, text: &str) -> Result<Document, SyntaxError> {
    let mut converter = Converter {
        graph,
        text,
        tree: Tree::default(),
        duplicates: Vec::new(),
        budget: AliasBudget::default(),
        following: HashSet::new(),
        fault: None,
    };
    let root = match graph.root() {
        Some(node) => {
            converter.budget.spend(node.span)?;
            converter.value(node, 0)?
        }
        None => converter.tree.push(Span::default(), Value::Null),
    };
    match converter.fault {
        Some(fault) => Err(fault),
        None => Ok(Document {
            tree: converter.tree,
            root,
            duplicates: converter.duplicates,
        }),
    }
}

struct Converter<'graph> {
    graph: &'graph Graph<'graph>,
    text: &'graph str,
    tree: Tree,
    duplicates: Vec<Duplicate>,
    budget: AliasBudget,
    /// The aliases that are being followed, by their own spans.
    following: HashSet<Span>,
    /// The first value that JSON cannot hold.
    fault: Option<SyntaxError>,
}

/// The share of nodes that may come from aliases, which keeps small documents from growing without bound.
#[derive(Default)]
struct AliasBudget {
    nodes: u64,
    aliased: u64,
    depth: usize,
}

impl AliasBudget {
    fn spend(&mut self, span: Span) -> Result<(), SyntaxError> {
        self.nodes += 1;
        self.aliased += u64::from(self.depth > 0);
        let share = self.aliased as f64 / self.nodes as f64;
        if self.aliased > 100 && self.nodes > 1000 && share > allowed_share(self.nodes) {
            return Err(SyntaxError::new(
                "yaml: document contains excessive aliasing",
                span,
            ));
        }
        Ok(())
    }
}

/// 99 % of small documents, 10 % of large ones, and between these in proportion.
fn allowed_share(nodes: u64) -> f64 {
    const LOW: f64 = 400_000.0;
    const HIGH: f64 = 4_000_000.0;
    let nodes = (nodes as f64).clamp(LOW, HIGH);
    0.99 - 0.89 * ((nodes - LOW) / (HIGH - LOW))
}

impl<'graph> Converter<'graph> {
    fn value(&mut self, node: &'graph GraphNode<'graph>, depth: usize) -> Result<NodeId, SyntaxError> {
        self.budget.spend(node.span)?;
        if depth > MAX_DEPTH {
            let message = format!("yaml: document is nested more than {MAX_DEPTH} levels deep");
            return Err(SyntaxError::new(message, node.span));
        }
        match &node.kind {
            GraphKind::Alias(target) => {
                self.follow(node, *target, |this, target| this.value(target, depth + 1))
            }
            GraphKind::Scalar { value, style } => self.scalar(node, value, *style),
            GraphKind::Sequence(children) => {
                let mut items = Vec::with_capacity(children.len());
                for child in self.nodes(children) {
                    items.push(self.value(child, depth + 1)?);
                }
                Ok(self.tree.push(node.span, Value::List(items)))
            }
            GraphKind::Mapping(children) => {
                let mut filling = Filling::default();
                self.fill(&mut filling, children, depth)?;
                Ok(self.tree.push(node.span, Value::Map(filling.finish())))
            }
        }
    }

    fn nodes(&self, ids: &'graph [GraphId]) -> impl Iterator<Item = &'graph GraphNode<'graph>> + use<'graph> {
        let graph = self.graph;
        ids.iter().filter_map(|id| graph.get(*id))
    }

    fn follow<T>(
        &mut self,
        alias: &GraphNode<'_>,
        target: GraphId,
        then: impl FnOnce(&mut Self, &'graph GraphNode<'graph>) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        let target = self
            .graph
            .get(target)
            .filter(|_| self.following.insert(alias.span));
        let Some(target) = target else {
            let written = self
                .text
                .get(alias.span.start as usize..alias.span.end as usize)
                .unwrap_or_default();
            let name = written.trim_start_matches('*');
            return Err(SyntaxError::new(
                format!("yaml: anchor '{name}' value contains itself"),
                alias.span,
            ));
        };
        self.budget.depth += 1;
        let result = then(self, target);
        self.budget.depth -= 1;
        self.following.remove(&alias.span);
        result
    }

    fn scalar(&mut self, node: &GraphNode<'_>, text: &str, style: Style) -> Result<NodeId, SyntaxError> {
        let value = match resolve(node.tag.as_deref(), text, style == Style::Plain, node.span)? {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Text(text) => Value::String(text.into(), style),
            Scalar::Number(Number::Int(value)) => Value::Number(value.to_string().into()),
            Scalar::Number(Number::Unsigned(value)) => Value::Number(value.to_string().into()),
            Scalar::Number(Number::Float(value)) if value.is_finite() => {
                Value::Number(format_float(value).into())
            }
            Scalar::Number(Number::Float(value)) => {
                self.fault(format!("json: unsupported value: {}", infinite(value)), node.span);
                Value::Null
            }
        };
        Ok(self.tree.push(node.span, value))
    }

    fn fault(&mut self, message: String, span: Span) {
        self.fault.get_or_insert_with(|| SyntaxError::new(message, span));
    }

    /// Adds a mapping's entries. An entry that is there already is replaced, and noted as a duplicate.
    fn fill(
        &mut self,
        filling: &mut Filling,
        children: &'graph [GraphId],
        depth: usize,
    ) -> Result<(), SyntaxError> {
        let mut children = self.nodes(children);
        while let (Some(key), Some(value)) = (children.next(), children.next()) {
            if is_merge_key(key) {
                self.merge(filling, value, depth + 1)?;
                continue;
            }
            let Some(name) = self.key(key, value)? else {
                continue;
            };
            let id = self.value(value, depth + 1)?;
            let entry = Entry {
                key: name.text.clone(),
                key_span: key.span,
                value: id,
            };
            if filling.put(&name, entry) {
                let message = format!("key {} already set in map", name.shown());
                self.duplicates.push(Duplicate {
                    message,
                    line: value.line as usize,
                    span: key.span,
                });
            }
        }
        Ok(())
    }

    /// Takes over the entries of the mapping, or the list of mappings, that a merge key has.
    fn merge(
        &mut self,
        filling: &mut Filling,
        node: &'graph GraphNode<'graph>,
        depth: usize,
    ) -> Result<(), SyntaxError> {
        match &node.kind {
            GraphKind::Sequence(children) => {
                // The first mapping wins, so it is filled in last.
                for child in self.nodes(children).collect::<Vec<_>>().into_iter().rev() {
                    self.merge_one(filling, child, depth)?;
                }
                Ok(())
            }
            _ => self.merge_one(filling, node, depth),
        }
    }

    fn merge_one(
        &mut self,
        filling: &mut Filling,
        node: &'graph GraphNode<'graph>,
        depth: usize,
    ) -> Result<(), SyntaxError> {
        let wanted = || {
            SyntaxError::new(
                "yaml: map merge requires map or sequence of maps as the value",
                node.span,
            )
        };
        self.budget.spend(node.span)?;
        match &node.kind {
            GraphKind::Mapping(children) if depth <= MAX_DEPTH => self.fill(filling, children, depth),
            GraphKind::Alias(target) => self.follow(node, *target, |this, target| match &target.kind {
                GraphKind::Mapping(children) if depth <= MAX_DEPTH => {
                    this.budget.spend(target.span)?;
                    this.fill(filling, children, depth)
                }
                _ => Err(wanted()),
            }),
            _ => Err(wanted()),
        }
    }

    /// A mapping's key. None for one that JSON cannot hold.
    fn key(
        &mut self,
        key: &'graph GraphNode<'graph>,
        value: &'graph GraphNode<'graph>,
    ) -> Result<Option<Key>, SyntaxError> {
        self.budget.spend(key.span)?;
        if let GraphKind::Alias(target) = &key.kind {
            // An alias is of a node, and a node is no alias, so this goes one step only.
            return self.follow(key, *target, |this, target| this.key(target, value));
        }
        let GraphKind::Scalar { value: text, style } = &key.kind else {
            let message = format!("yaml: invalid map key: {}", self.shown(key, 0));
            return Err(SyntaxError::new(message, key.span));
        };
        let scalar = resolve(key.tag.as_deref(), text, *style == Style::Plain, key.span)?;
        let name = Key::new(&scalar);
        if name.is_none() && self.fault.is_none() {
            let kind = if scalar == Scalar::Null {
                "%!s(<nil>)"
            } else {
                "uint64"
            };
            let (key_text, value) = (shown_scalar(&scalar), self.shown(value, 0));
            self.fault(
                format!("unsupported map key of type: {kind}, key: {key_text}, value: {value}"),
                key.span,
            );
        }
        Ok(name)
    }

    /// A value as the server's messages show one in their own language's notation.
    fn shown(&self, node: &'graph GraphNode<'graph>, depth: usize) -> String {
        if depth > MAX_DEPTH {
            return "...".to_owned();
        }
        match &node.kind {
            GraphKind::Alias(_) => "...".to_owned(),
            GraphKind::Scalar { value, style } => {
                let resolved = resolve(node.tag.as_deref(), value, *style == Style::Plain, node.span);
                resolved.map_or_else(|_| quoted(value), |scalar| shown_scalar(&scalar))
            }
            GraphKind::Sequence(children) => {
                let items: Vec<String> = self
                    .nodes(children)
                    .map(|child| self.shown(child, depth + 1))
                    .collect();
                format!("[]interface {{}}{{{}}}", items.join(", "))
            }
            GraphKind::Mapping(children) => {
                let mut children = self.nodes(children);
                let mut items = Vec::new();
                while let (Some(key), Some(value)) = (children.next(), children.next()) {
                    items.push(format!(
                        "{}:{}",
                        self.shown(key, depth + 1),
                        self.shown(value, depth + 1)
                    ));
                }
                format!("map[interface {{}}]interface {{}}{{{}}}", items.join(", "))
            }
        }
    }
}

fn is_merge_key(node: &GraphNode<'_>) -> bool {
    match &node.kind {
        GraphKind::Scalar { value, style } => is_merge(node.tag.as_deref(), value, *style == Style::Plain),
        _ => false,
    }
}

fn shown_scalar(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Null => "<nil>".to_owned(),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Text(text) => quoted(text),
        Scalar::Number(Number::Int(value)) => value.to_string(),
        Scalar::Number(Number::Unsigned(value)) => format!("0x{value:x}"),
        Scalar::Number(Number::Float(value)) if value.is_finite() => format_float(*value),
        Scalar::Number(Number::Float(value)) => infinite(*value).to_owned(),
    }
}

fn infinite(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "+Inf"
    } else {
        "-Inf"
    }
}
