//! The parse tree: the input that each rule read, completely or not.

use super::super::token::SourceToken;
use super::grammar::{GrammarRule, PartLabel, RuleVariant};

/// The index of a node.
pub(super) type NodeId = usize;

/// The input that a rule read.
#[derive(Clone, Debug)]
pub(super) struct TreeNode {
    pub(super) rule: GrammarRule,
    pub(super) variant: RuleVariant,
    /// Where it starts, in code points.
    pub(super) offset: u32,
    parts: Vec<(PartLabel, NodePart)>,
}

#[derive(Clone, Copy, Debug)]
enum NodePart {
    Token(SourceToken),
    Node(NodeId),
}

/// Everything that was read.
#[derive(Debug, Default)]
pub(super) struct ParseTree {
    nodes: Vec<TreeNode>,
}

impl ParseTree {
    /// Adds a node without parts.
    pub(super) fn add(&mut self, rule: GrammarRule, variant: RuleVariant, offset: u32) -> NodeId {
        self.nodes.push(TreeNode {
            rule,
            variant,
            offset,
            parts: Vec::new(),
        });
        self.nodes.len() - 1
    }

    /// A node.
    pub(super) fn get(&self, id: NodeId) -> Option<&TreeNode> {
        self.nodes.get(id)
    }

    pub(super) fn set_variant(&mut self, id: NodeId, variant: RuleVariant) {
        if let Some(node) = self.nodes.get_mut(id) {
            node.variant = variant;
        }
    }

    pub(super) fn add_token(&mut self, id: NodeId, label: PartLabel, token: SourceToken) {
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

impl TreeNode {
    /// The tokens of a label, in order.
    pub(super) fn tokens(&self, label: PartLabel) -> impl Iterator<Item = SourceToken> {
        self.parts
            .iter()
            .filter_map(move |(part_label, part)| match part {
                NodePart::Token(token) if *part_label == label => Some(*token),
                _ => None,
            })
    }

    /// The first token of a label.
    pub(super) fn token(&self, label: PartLabel) -> Option<SourceToken> {
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
