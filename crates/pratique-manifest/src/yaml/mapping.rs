//! A mapping while it is filled: its keys, told apart by type, and its entries, the last of a key counting.

use std::collections::HashMap;

use pratique_cel::quote::quoted;
use pratique_json::format_float;

use super::number::Number;
use super::resolve::Scalar;
use crate::tree::Entry;

/// A key as a string, and the type that it had before: `1` and `"1"` are two keys until they become strings.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) text: Box<str>,
    kind: KeyKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum KeyKind {
    Text,
    Bool,
    Int,
    Float,
}

impl Key {
    /// A scalar as a key; none for one that JSON cannot have.
    pub(super) fn new(scalar: &Scalar) -> Option<Self> {
        let (kind, text) = match scalar {
            Scalar::Text(text) => (KeyKind::Text, text.as_str().into()),
            Scalar::Bool(value) => (KeyKind::Bool, value.to_string().into()),
            Scalar::Number(Number::Int(value)) => (KeyKind::Int, value.to_string().into()),
            Scalar::Number(Number::Float(value)) => (KeyKind::Float, float_key(*value).into()),
            Scalar::Null | Scalar::Number(Number::Unsigned(_)) => return None,
        };
        Some(Self { text, kind })
    }

    /// The key as the server's messages show it.
    pub(super) fn shown(&self) -> String {
        if self.kind == KeyKind::Text {
            quoted(&self.text)
        } else {
            self.text.to_string()
        }
    }
}

/// A floating-point key as a string: in single precision, as the server has it.
fn float_key(value: f64) -> String {
    if value.is_nan() {
        return ".nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    format_float((value as f32).to_string().parse().unwrap_or(value))
}

/// Entries in the order of their keys' first appearance.
#[derive(Default)]
pub(super) struct Filling {
    entries: Vec<Entry>,
    kinds: Vec<KeyKind>,
    /// The places of keys, once there are too many to look through.
    places: HashMap<Key, usize>,
}

/// Up to so many keys are looked through one by one.
const FEW: usize = 16;

impl Filling {
    /// Adds or replaces an entry; true if it was there. `entry` is made with the key's text.
    pub(super) fn put(&mut self, key: &Key, entry: Entry) -> bool {
        if let Some(known) = self.place(key).and_then(|place| self.entries.get_mut(place)) {
            *known = entry;
            return true;
        }
        self.entries.push(entry);
        self.kinds.push(key.kind);
        if !self.places.is_empty() {
            self.places.insert(key.clone(), self.entries.len() - 1);
        } else if self.entries.len() > FEW {
            let keys = self.entries.iter().zip(&self.kinds);
            let keys = keys.map(|(entry, kind)| Key {
                text: entry.key.clone(),
                kind: *kind,
            });
            self.places = keys.enumerate().map(|(place, key)| (key, place)).collect();
        }
        false
    }

    fn place(&self, key: &Key) -> Option<usize> {
        if !self.places.is_empty() {
            return self.places.get(key).copied();
        }
        let mut keys = self.entries.iter().zip(&self.kinds);
        keys.position(|(entry, kind)| *kind == key.kind && entry.key == key.text)
    }

    /// The entries in the order of their keys, in which everything after this sees them.
    pub(super) fn finish(mut self) -> Vec<Entry> {
        self.entries.sort_by(|a, b| a.key.cmp(&b.key));
        self.entries
    }
}
