//! Values of documents with positions as a decoder sees them.

use std::borrow::Cow;

use pratique_json::{Object, Value};
use pratique_yaml::position::Span;
use pratique_yaml::tree::{self, Entry, NodeId, Tree};

use super::node::Node;

/// A value of a document as the strict decoder of built-in types sees it: with a position, in the order in which it is
/// written, and with keys that are given twice.
#[derive(Clone, Copy, Debug)]
pub struct TreeNode<'t> {
    tree: &'t Tree,
    id: NodeId,
    /// The member that it is the value of.
    entry: Option<&'t Entry>,
}

impl<'t> TreeNode<'t> {
    /// A value on its own, which is no member of another.
    pub fn new(tree: &'t Tree, id: NodeId) -> Self {
        TreeNode {
            tree,
            id,
            entry: None,
        }
    }

    /// The index of the value in its tree.
    pub fn id(self) -> NodeId {
        self.id
    }

    /// The value with its position.
    pub fn node(self) -> &'t tree::Node {
        self.tree.get(self.id)
    }

    /// The key of the member that it is the value of; empty for other values.
    pub fn key(self) -> &'t str {
        self.entry.map_or("", |entry| &*entry.key)
    }

    /// The position of the key; of other values their own.
    pub fn key_span(self) -> Span {
        self.entry.map_or(self.node().span, |entry| entry.key_span)
    }

    /// The members of a mapping; of anything else none.
    pub fn entries(self) -> &'t [Entry] {
        match &self.node().value {
            tree::TreeValue::Map(entries) => entries,
            _ => &[],
        }
    }
}

impl<'t> Node<'t> for TreeNode<'t> {
    const MAY_REPEAT: bool = true;

    type Held = Cow<'t, Value<'t>>;

    fn value(self) -> Cow<'t, Value<'t>> {
        Cow::Owned(match &self.node().value {
            tree::TreeValue::Null => Value::Null,
            tree::TreeValue::Bool(value) => Value::Bool(*value),
            tree::TreeValue::Number(text) => number(text),
            tree::TreeValue::String(text, _) => Value::String(Cow::Borrowed(text)),
            tree::TreeValue::List(_) => Value::Array(Vec::new()),
            tree::TreeValue::Map(_) => Value::Object(Object::new()),
        })
    }

    fn literal(self) -> Option<&'t str> {
        match &self.node().value {
            tree::TreeValue::Number(text) => Some(text),
            _ => None,
        }
    }

    fn elements(self) -> impl Iterator<Item = Self> {
        let items = match &self.node().value {
            tree::TreeValue::List(items) => items.as_slice(),
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
        // An infinite number is out of range; the literal says which it is.
        Err(_) => Value::Float(text.parse().unwrap_or(f64::INFINITY)),
    }
}
