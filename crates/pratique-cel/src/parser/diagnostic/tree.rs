//! The parse tree: the input that each rule read, completely or not.

use super::super::token::Token;
use super::grammar::{PartLabel, Rule, Variant};

/// The index of a node.
pub(super) type NodeId = usize;

/// The input that a rule read.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) rule: Rule,
    pub(super) variant: Variant,
    /// Where it starts, in code points.
    pub(super) offset: u32,
    parts: Vec<(PartLabel, NodePart)>,
}

#[derive(Clone, Copy, Debug)]
enum NodePart {
    Token(Token),
    Node(NodeId),
}

/// Everything that was read.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// Adds a node without parts.
    pub(super) fn add(&mut self, rule: Rule, variant: Variant, offset: u32) -> NodeId {
        self.nodes.push(Node {
            rule,
            variant,
            offset,
            parts: Vec::new(),
        });
        self.nodes.len() - 1
    }

    /// A node.
    pub(super) fn get(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id)
    }

    pub(super) fn set_variant(&mut self, id: NodeId, variant: Variant) {
        if let Some(node) = self.nodes.get_mut(id) {
            node.variant = variant;
        }
    }

    pub(super) fn add_token(&mut self, id: NodeId, label: PartLabel, token: Token) {
        self.add_part(id, label, NodePart::Token(token));
    }

    pub(super) fn add_node(&mut self, id: NodeId, label: PartLabel, child: NodeId) {
        self.add_part(id, label, NodePart::Node(child));
    }

    fn add_part(&mut self, id: NodeId, label: PartLabel, part: NodePart) {
        if let Some(node) = self.nodes.get_mut(id).filter(|_| label != PartLabel::None) {
            node.parts.push((label, part));
        }
    }
}

impl Node {
    /// The tokens of a label, in order.
    pub(super) fn tokens(&self, label: PartLabel) -> impl Iterator<Item = Token> {
        self.parts
            .iter()
            .filter_map(move |(part_label, part)| match part {
                NodePart::Token(token) if *part_label == label => Some(*token),
                _ => None,
            })
    }

    /// The first token of a label.
    pub(super) fn token(&self, label: PartLabel) -> Option<Token> {
        self.tokens(label).next()
    }

    /// The nodes of a label, in order.
    pub(super) fn children(&self, label: PartLabel) -> impl Iterator<Item = NodeId> {
        self.parts
            .iter()
            .filter_map(move |(part_label, part)| match part {
                NodePart::Node(id) if *part_label == label => Some(*id),
                _ => None,
            })
    }

    /// The first node of a label.
    pub(super) fn child(&self, label: PartLabel) -> Option<NodeId> {
        self.children(label).next()
    }
}
