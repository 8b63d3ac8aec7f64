//! A mapping while it is filled: its keys, which differ by type as well, and its entries, of which the last
//! of a key counts.

use std::collections::HashMap;

use pratique_gotext::strconv::{general_form_32, quote};
use pratique_gotext::utf8::lossy;

use super::number::ScalarNumber;
use super::resolve::ScalarValue;
use crate::tree::Entry;

/// The type that a key had before it became a string: `1` and `"1"` are two keys until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum KeyKind {
    Text,
    Bool,
    Int,
    Float,
    /// Null, or a number that is no signed integer: JSON cannot have it as a key.
    Other,
}

/// A scalar as a key.
pub(super) fn key(scalar: ScalarValue) -> (KeyKind, Box<str>) {
    match scalar {
        ScalarValue::Text(text) => (KeyKind::Text, text.into()),
        ScalarValue::Bytes(bytes) => (KeyKind::Text, lossy(&bytes).into()),
        ScalarValue::Bool(value) => (KeyKind::Bool, value.to_string().into()),
        ScalarValue::Number(ScalarNumber::Int(value)) => (KeyKind::Int, value.to_string().into()),
        ScalarValue::Number(ScalarNumber::Float(value)) => (KeyKind::Float, float_key(value).into()),
        ScalarValue::Number(ScalarNumber::Unsigned(value)) => (KeyKind::Other, value.to_string().into()),
        ScalarValue::Null => (KeyKind::Other, "".into()),
    }
}

/// A key as the server's messages show it.
pub(super) fn show_key(kind: KeyKind, text: &str) -> String {
    if kind == KeyKind::Text {
        quote(text)
    } else {
        text.to_owned()
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
    let single = value as f32;
    if single.is_infinite() {
        return if value > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    general_form_32(single)
}

/// Entries in the order of their keys' first appearance.
#[derive(Debug, Default)]
pub(super) struct MappingFilling {
    entries: Vec<Entry>,
    kinds: Vec<KeyKind>,
    /// Which entries come of merge keys.
    merged: Vec<bool>,
    /// The places of keys, once there are too many to look through.
    places: HashMap<(KeyKind, Box<str>), usize>,
}

/// Up to so many keys are looked through one by one.
const FEW: usize = 16;

impl MappingFilling {
    /// Adds or replaces an entry, which comes of a merge key or not. If it was there, gives whether one of the two comes of one.
    pub(super) fn put(&mut self, kind: KeyKind, entry: Entry, is_merged: bool) -> Option<bool> {
        if let Some(place) = self.place(kind, &entry.key)
            && let (Some(known), Some(was_merged)) = (self.entries.get_mut(place), self.merged.get_mut(place))
        {
            *known = entry;
            let replaced = std::mem::replace(was_merged, is_merged);
            return Some(replaced || is_merged);
        }
        self.entries.push(entry);
        self.kinds.push(kind);
        self.merged.push(is_merged);
        if self.entries.len() > FEW {
            for at in self.places.len()..self.entries.len() {
                if let (Some(entry), Some(kind)) = (self.entries.get(at), self.kinds.get(at)) {
                    self.places.insert((*kind, entry.key.clone()), at);
                }
            }
        }
        None
    }

    fn place(&self, kind: KeyKind, key: &str) -> Option<usize> {
        if !self.places.is_empty() {
            return self.places.get(&(kind, key.into())).copied();
        }
        let mut keys = self.entries.iter().zip(&self.kinds);
        keys.position(|(entry, known)| *known == kind && &*entry.key == key)
    }

    /// The entries in the order of their keys, in which everything after this sees them.
    pub(super) fn finish(mut self) -> Vec<Entry> {
        if !self.entries.is_sorted_by(|a, b| a.key <= b.key) {
            self.entries.sort_by(|a, b| a.key.cmp(&b.key));
        }
        self.entries.shrink_to_fit();
        self.entries
    }
}
