//! A document's values with their places in the text: JSON's data model in one arena, so that
//! deep nesting costs no stack when a tree is dropped.

use std::collections::HashSet;

use crate::position::Span;

/// The index of a node in its [`Tree`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeId(u32);

/// How a string was written, which decides how its text maps back to the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StringStyle {
    /// A YAML plain scalar.
    #[default]
    Plain,
    /// A YAML scalar in single quotes.
    SingleQuoted,
    /// A scalar in double quotes, of YAML or of JSON.
    DoubleQuoted,
    /// A YAML literal block scalar (`|`).
    Literal,
    /// A YAML folded block scalar (`>`).
    Folded,
    /// A YAML scalar of bytes (`!!binary`) that are not text: each invalid byte is a replacement character in its text.
    Binary,
}

/// One value of a document and its span.
#[derive(Clone, Debug)]
pub struct Node {
    /// The bytes of the document's text that hold the value.
    pub span: Span,
    /// The value.
    pub value: TreeValue,
}

/// A value in JSON's data model.
#[derive(Clone, Debug)]
pub enum TreeValue {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as its JSON literal.
    Number(Box<str>),
    /// A string, decoded.
    String(Box<str>, StringStyle),
    /// A list.
    List(Vec<NodeId>),
    /// An object. Duplicate keys are kept.
    Map(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key, decoded.
    pub key: Box<str>,
    /// The span of the key.
    pub key_span: Span,
    /// The value.
    pub value: NodeId,
}

/// One step of the way from an object's root to one of its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// A field of an object.
    Field(String),
    /// An item of a list.
    Index(usize),
}

/// A document's values.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    depth: usize,
}

static NOTHING: Node = Node {
    span: Span { start: 0, end: 0 },
    value: TreeValue::Null,
};

impl Tree {
    /// A tree with room for so many nodes.
    pub fn with_capacity(nodes: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(nodes),
            depth: 0,
        }
    }

    /// A node; a null without a place if there is no such node.
    #[must_use]
    pub fn get(&self, id: NodeId) -> &Node {
        self.nodes.get(id.0 as usize).unwrap_or(&NOTHING)
    }

    /// Adds a node.
    pub fn push(&mut self, span: Span, value: TreeValue) -> NodeId {
        let id = NodeId(crate::position::saturate(self.nodes.len()));
        self.nodes.push(Node { span, value });
        id
    }

    /// How deep its collections nest: one that holds none counts 1.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Records a collection at a depth, itself included.
    pub fn reach(&mut self, depth: usize) {
        self.depth = self.depth.max(depth);
    }

    /// The entry of an object for a key, the last one when there are several.
    #[must_use]
    pub fn entry(&self, id: NodeId, key: &str) -> Option<&Entry> {
        match &self.get(id).value {
            TreeValue::Map(entries) => entries.iter().rev().find(|entry| &*entry.key == key),
            _ => None,
        }
    }

    /// Removes what objects give a second time: of equal keys, the last value stays. Returns the keys that repeat one before
    /// them.
    pub fn remove_duplicates(&mut self) -> Vec<(Box<str>, Span)> {
        let mut repeated = Vec::new();
        for node in &mut self.nodes {
            if let TreeValue::Map(entries) = &mut node.value {
                remove_repeated(entries, &mut repeated);
            }
        }
        repeated.sort_by_key(|(_, span)| span.start);
        repeated
    }

    /// The node that a path leads to.
    #[must_use]
    pub fn find(&self, root: NodeId, path: &[PathStep]) -> Option<NodeId> {
        let (node, rest) = self.follow(root, path);
        rest.is_empty().then_some(node)
    }

    /// The span that shows a path best: its value, or, if that is absent, the key or item that should hold it.
    #[must_use]
    pub fn nearest_span(&self, root: NodeId, path: &[PathStep]) -> Span {
        let (node, rest) = self.follow(root, path);
        if rest.is_empty() {
            return self.get(node).span;
        }
        let followed = path.len() - rest.len();
        let parent = path.get(..followed.saturating_sub(1)).unwrap_or_default();
        match path.get(..followed).and_then(<[PathStep]>::last) {
            Some(PathStep::Field(name)) => {
                let holder = self.follow(root, parent).0;
                self.entry(holder, name)
                    .map_or(self.get(node).span, |entry| entry.key_span)
            }
            Some(PathStep::Index(_)) => self.first_key_span(node),
            None => self.first_key_span(root),
        }
    }

    /// Follows a path as far as it goes; the steps that are left over led nowhere.
    fn follow<'path>(&self, root: NodeId, path: &'path [PathStep]) -> (NodeId, &'path [PathStep]) {
        let mut at = root;
        let mut rest = path;
        while let Some((step, after)) = rest.split_first() {
            let next = match (step, &self.get(at).value) {
                (PathStep::Field(name), TreeValue::Map(_)) => self.entry(at, name).map(|entry| entry.value),
                (PathStep::Index(index), TreeValue::List(items)) => items.get(*index).copied(),
                _ => None,
            };
            let Some(next) = next else { break };
            at = next;
            rest = after;
        }
        (at, rest)
    }

    /// The first key of an object, so that a complaint about a long object does not underline all of it.
    fn first_key_span(&self, id: NodeId) -> Span {
        let node = self.get(id);
        match &node.value {
            TreeValue::Map(entries) => {
                let first = entries
                    .iter()
                    .map(|entry| entry.key_span)
                    .min_by_key(|span| span.start);
                first.unwrap_or(node.span)
            }
            _ => node.span,
        }
    }
}

fn remove_repeated(entries: &mut Vec<Entry>, repeated: &mut Vec<(Box<str>, Span)>) {
    let mut keys = HashSet::with_capacity(entries.len());
    let repeats: Vec<&Entry> = entries.iter().filter(|entry| !keys.insert(&*entry.key)).collect();
    if repeats.is_empty() {
        return;
    }
    repeated.extend(
        repeats
            .into_iter()
            .map(|entry| (entry.key.clone(), entry.key_span)),
    );
    let mut later = HashSet::new();
    let mut kept: Vec<Entry> = std::mem::take(entries)
        .into_iter()
        .rev()
        .filter(|entry| later.insert(entry.key.clone()))
        .collect();
    kept.reverse();
    *entries = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_keys_the_last_value_stays() {
        let mut tree = Tree::default();
        let entry = |key: &str, at: u32, value: NodeId| Entry {
            key: key.into(),
            key_span: Span {
                start: at,
                end: at + 1,
            },
            value,
        };
        let [first, second, third] = ["1", "2", "3"].map(|text| {
            let number = TreeValue::Number(text.into());
            tree.push(Span::default(), number)
        });
        let entries = vec![entry("a", 1, first), entry("b", 5, second), entry("a", 9, third)];
        let map = tree.push(Span::default(), TreeValue::Map(entries));
        let repeated = tree.remove_duplicates();
        assert_eq!(repeated, [("a".into(), Span { start: 9, end: 10 })]);
        let TreeValue::Map(entries) = &tree.get(map).value else {
            panic!("a map")
        };
        let keys: Vec<(&str, NodeId)> = entries.iter().map(|entry| (&*entry.key, entry.value)).collect();
        assert_eq!(keys, [("b", second), ("a", third)]);
        assert!(tree.remove_duplicates().is_empty());
    }
}
