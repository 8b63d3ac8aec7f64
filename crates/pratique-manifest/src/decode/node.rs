//! Values of a document as the decoder of built-in types sees them.

use std::borrow::Cow;

use pratique_json::{Object, Value};
use pratique_typed::decode::Node;

use crate::position::Span;
use crate::tree::{self, Entry, NodeId, Tree};

/// A value of a document as the strict decoder of built-in types sees it: with a position, in the order in which it is
/// written, and with keys that are given twice.
#[derive(Clone, Copy, Debug)]
pub struct TreeNode<'t> {
    tree: &'t Tree,
    id: NodeId,
    /// The member that it is of.
    entry: Option<&'t Entry>,
}

/// Deeper values are not kept as they are; the server has no such fields in manifests but those of managed fields.
const MAX_DEPTH: usize = 256;

impl<'t> TreeNode<'t> {
    /// A value without what is around it.
    pub fn new(tree: &'t Tree, id: NodeId) -> Self {
        TreeNode {
            tree,
            id,
            entry: None,
        }
    }

    pub(crate) fn node(self) -> &'t tree::Node {
        self.tree.get(self.id)
    }

    pub(crate) fn key(self) -> &'t str {
        self.entry.map_or("", |entry| &*entry.key)
    }

    pub(crate) fn key_span(self) -> Span {
        self.entry.map_or(self.node().span, |entry| entry.key_span)
    }

    pub(crate) fn id(self) -> NodeId {
        self.id
    }

    /// The members of a mapping; of anything else none.
    pub(crate) fn entries(self) -> &'t [Entry] {
        match &self.node().value {
            tree::Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Whether it nests deeper than an API server keeps.
    pub(super) fn is_too_deep(self) -> bool {
        self.exceeds(MAX_DEPTH)
    }

    fn exceeds(self, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return true;
        };
        let mut members = self.members();
        self.elements().any(|element| element.exceeds(depth))
            || members.any(|(_, member)| member.exceeds(depth))
    }
}

impl<'t> Node<'t> for TreeNode<'t> {
    const MAY_REPEAT: bool = true;

    fn value(self) -> Cow<'t, Value<'t>> {
        Cow::Owned(match &self.node().value {
            tree::Value::Null => Value::Null,
            tree::Value::Bool(value) => Value::Bool(*value),
            tree::Value::Number(text) => number(text),
            tree::Value::String(text, _) => Value::String(Cow::Borrowed(text)),
            tree::Value::List(_) => Value::Array(Vec::new()),
            tree::Value::Map(_) => Value::Object(Object::new()),
        })
    }

    fn literal(self) -> Option<&'t str> {
        match &self.node().value {
            tree::Value::Number(text) => Some(text),
            _ => None,
        }
    }

    fn elements(self) -> impl Iterator<Item = Self> {
        let items = match &self.node().value {
            tree::Value::List(items) => items.as_slice(),
            _ => &[],
        };
        items.iter().map(move |id| TreeNode::new(self.tree, *id))
    }

    fn members(self) -> impl Iterator<Item = (&'t str, Self)> {
        self.entries().iter().map(move |entry| {
            let member = TreeNode {
                tree: self.tree,
                id: entry.value,
                entry: Some(entry),
            };
            (&*entry.key, member)
        })
    }
}

fn number(text: &str) -> Value<'static> {
    match text.parse() {
        Ok(number) => Value::Int(number),
        // The literal tells one that is out of range.
        Err(_) => Value::Float(text.parse().unwrap_or(f64::INFINITY)),
    }
}
