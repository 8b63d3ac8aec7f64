//! Old values of new ones: what did not change may stay invalid.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;

use pratique_json::Value;

use crate::schema::SchemaNode;

/// A new value with the old one.
// Upstream: apiserver/pkg/cel/common/equality.go, CorrelatedObject
pub(crate) struct CorrelatedValue<'v, 'a> {
    pub(crate) new: &'v Value<'a>,
    pub(crate) old: &'v Value<'a>,
    schema: &'v SchemaNode,
    unchanged: Cell<Option<bool>>,
    /// The old items, once an item was asked for.
    keyed: OnceCell<KeyedItems<'v, 'a>>,
}

impl<'v, 'a> CorrelatedValue<'v, 'a> {
    pub(crate) fn new(new: &'v Value<'a>, old: &'v Value<'a>, schema: &'v SchemaNode) -> Self {
        CorrelatedValue {
            new,
            old,
            schema,
            unchanged: Cell::new(None),
            keyed: OnceCell::new(),
        }
    }

    /// The member of a name, which both have and the schema knows.
    pub(crate) fn key(&self, name: &str) -> Option<CorrelatedValue<'v, 'a>> {
        let (new, old) = (self.new.as_object()?.get(name)?, self.old.as_object()?.get(name)?);
        Some(CorrelatedValue::new(new, old, self.schema.member(name)?))
    }

    /// The item at an index of the new list, with the old item of the same keys.
    pub(crate) fn index(&self, at: usize) -> Option<CorrelatedValue<'v, 'a>> {
        let new = self.new.as_array()?.get(at)?;
        let old = self.old.as_array()?;
        let keyed = self.keyed.get_or_init(|| KeyedItems::new(self.schema, old));
        let old = keyed.get(new)?;
        Some(CorrelatedValue::new(new, old, self.schema.items.as_deref()?))
    }

    /// Whether the new value is the old one; lists by keys may be in another order.
    // Upstream: apiserver/pkg/cel/common/equality.go, CachedDeepEqual
    pub(crate) fn is_unchanged(&self) -> bool {
        if let Some(known) = self.unchanged.get() {
            return known;
        }
        let unchanged = self.compare();
        self.unchanged.set(Some(unchanged));
        unchanged
    }

    fn compare(&self) -> bool {
        match (self.new, self.old) {
            (Value::Array(new), Value::Array(old)) => new.len() == old.len() && self.same_lists(new, old),
            (Value::Object(new), Value::Object(old)) => {
                let same = |name: &str| self.key(name).is_some_and(|member| member.is_unchanged());
                new.len() == old.len() && new.iter().all(|(name, _)| same(name))
            }
            (new, old) => new == old,
        }
    }

    fn same_lists(&self, new: &[Value<'a>], old: &[Value<'a>]) -> bool {
        match self.schema.list_type.as_deref() {
            Some("map") => (0..new.len()).all(|at| self.index(at).is_some_and(|item| item.is_unchanged())),
            _ => new == old,
        }
    }
}

/// The old items of a list by keys, found by the keys of new ones.
// Upstream: apiserver/pkg/cel/common/maplist.go, MakeMapList
#[derive(Debug)]
pub(crate) struct KeyedItems<'v, 'a> {
    keys: &'v [Box<str>],
    by_key: HashMap<String, &'v Value<'a>>,
}

impl<'v, 'a> KeyedItems<'v, 'a> {
    /// The items of a list; none unless its schema is that of a list by keys.
    pub(crate) fn new(schema: &'v SchemaNode, items: &'v [Value<'a>]) -> Self {
        let mut by_key = HashMap::new();
        let keys: &[Box<str>] = if schema.is_list_map() {
            &schema.list_map_keys
        } else {
            &[]
        };
        for item in items.iter().filter(|_| !keys.is_empty()) {
            if let Some(key) = key_of(keys, item) {
                by_key.entry(key).or_insert(item);
            }
        }
        KeyedItems { keys, by_key }
    }

    /// The first item that has the keys of a new one.
    pub(crate) fn get(&self, new: &Value<'_>) -> Option<&'v Value<'a>> {
        if self.by_key.is_empty() {
            None
        } else {
            self.by_key.get(&key_of(self.keys, new)?).copied()
        }
    }
}

/// The keys of an item as one text, if they are scalars.
fn key_of(keys: &[Box<str>], item: &Value<'_>) -> Option<String> {
    let item = item.as_object()?;
    let mut text = String::new();
    for name in keys {
        // The kind distinguishes integers from floats.
        let kind = match item.get(name)? {
            Value::Bool(_) => 'b',
            Value::Int(_) => 'i',
            Value::Float(_) => 'f',
            Value::String(_) => 's',
            Value::Null | Value::Array(_) | Value::NilArray | Value::Object(_) => return None,
        };
        text.push(kind);
        text.push_str(&item.get(name)?.to_string());
    }
    Some(text)
}
