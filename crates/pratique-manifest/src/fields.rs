//! Access to the fields of a mapping whose shape was validated.

use std::collections::BTreeMap;

use pratique_json::Value as Json;

use crate::convert::{convert, items_at};
use crate::{Entry, NodeId, Tree, TreeValue};

/// A mapping of a document. Absent and null fields are the same.
#[derive(Clone, Copy, Debug)]
pub struct MappingFields<'a> {
    /// The tree of its document.
    pub tree: &'a Tree,
    /// Its node.
    pub id: NodeId,
}

impl<'a> MappingFields<'a> {
    /// The value of a field.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        let id = self.tree.entry(self.id, name)?.value;
        (!matches!(self.tree.get(id).value, TreeValue::Null)).then_some(id)
    }

    fn at(&self, id: NodeId) -> MappingFields<'a> {
        MappingFields { id, ..*self }
    }

    /// The node as a string, if it is one.
    pub fn as_text(&self) -> Option<String> {
        match &self.tree.get(self.id).value {
            TreeValue::String(text, _) => Some(text.to_string()),
            _ => None,
        }
    }

    /// The node as a JSON value.
    pub fn value_of(&self) -> Json<'static> {
        convert(self.tree, self.id)
    }

    /// The node as the objects that a client makes of it: itself, or the items of a list.
    pub fn objects_of(&self) -> Vec<Json<'static>> {
        let items = items_at(self.tree, self.id).objects.into_iter();
        items.map(|item| item.value(self.tree)).collect()
    }

    /// A field that is a string.
    pub fn read_text(&self, name: &str) -> Option<String> {
        self.at(self.node(name)?).as_text()
    }

    /// A field that is a boolean.
    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.tree.get(self.node(name)?).value {
            TreeValue::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// A field that is a number of 32 bits.
    pub fn integer(&self, name: &str) -> Option<i32> {
        match &self.tree.get(self.node(name)?).value {
            TreeValue::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// A field as a JSON value.
    pub fn value(&self, name: &str) -> Option<Json<'static>> {
        Some(self.at(self.node(name)?).value_of())
    }

    /// The items of a list.
    pub fn list(&self, name: &str) -> Vec<NodeId> {
        self.node(name).map(|id| self.at(id).nodes()).unwrap_or_default()
    }

    /// The items of the node, if it is a list.
    pub fn nodes(&self) -> Vec<NodeId> {
        match &self.tree.get(self.id).value {
            TreeValue::List(items) => items.clone(),
            _ => Vec::new(),
        }
    }

    /// The strings of a field that is a list.
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.node(name).map(|id| self.at(id).items()).unwrap_or_default()
    }

    /// The texts of a list.
    pub fn items(&self) -> Vec<String> {
        let items = self.nodes().into_iter();
        items.filter_map(|id| self.at(id).as_text()).collect()
    }

    /// The entries of a mapping from any keys.
    pub fn entries(&self, name: &str) -> &'a [Entry] {
        match self.node(name).map(|id| &self.tree.get(id).value) {
            Some(TreeValue::Map(entries)) => entries,
            _ => &[],
        }
    }

    /// The values of a mapping from any keys.
    pub fn map<T>(&self, name: &str, read: impl Fn(MappingFields<'a>) -> T) -> BTreeMap<String, T> {
        let entries = self.entries(name).iter();
        let read = |entry: &Entry| (entry.key.to_string(), read(self.at(entry.value)));
        entries.map(read).collect()
    }
}
