//! The members of a JSON object, sorted by key.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::Progress;
use crate::value::{CopyForm, Value};

pub(crate) type NamedValue<'a> = (Cow<'a, str>, Value<'a>);

/// The number of members up to which a search is linear: most keys differ in length already, so that the spec of a Pod, which has some
/// twenty, is gone through in a third of the instructions that a search by halves takes.
const FEW: usize = 32;

/// The members of a JSON object: unique keys, in bytewise order.
#[derive(Debug, PartialEq, Default)]
pub struct Object<'a> {
    members: Vec<NamedValue<'a>>,
}

impl<'a> Object<'a> {
    /// An object without members.
    pub const fn new() -> Self {
        Object { members: Vec::new() }
    }

    /// Takes members that are sorted by key, each of which is there once.
    pub(crate) fn from_sorted(members: Vec<NamedValue<'a>>) -> Self {
        debug_assert!(members.is_sorted_by(|one, other| one.0 < other.0));
        Object { members }
    }

    /// Takes copies of the members of another object.
    #[inline]
    fn from_copies(copies: impl ExactSizeIterator<Item = NamedValue<'a>>) -> Self {
        let mut members = Vec::with_capacity(capacity_for(copies.len()));
        members.extend(copies);
        Object { members }
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The value of the member `key`.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.get_in_place(key)
    }

    /// [`get`](Self::get) as a part of its caller, for callers that do little else.
    // Rows distinct-100 and match-100 of `benches/`: called, a search takes half as many instructions again.
    #[doc(hidden)]
    #[inline(always)]
    pub fn get_in_place(&self, key: &str) -> Option<&Value<'a>> {
        find_member(&self.members, key)
    }

    /// The value of the member `key`, to change it in place.
    #[inline]
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value<'a>> {
        if self.members.len() <= FEW {
            let mut members = self.members.iter_mut();
            return members.find_map(|(name, value)| same(name, key).then_some(value));
        }
        let at = self.position(key).ok()?;
        self.members.get_mut(at).map(|(_, value)| value)
    }

    /// The values in order of their keys, to change them in place.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut Value<'a>> {
        self.members.iter_mut().map(|(_, value)| value)
    }

    /// The members in order of their keys, to change their values in place.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut Value<'a>)> {
        self.members.iter_mut().map(|(key, value)| {
            let key: &Cow<'a, str> = key;
            (key.as_ref(), value)
        })
    }

    /// Keeps the members for which `keep` returns true. It may change their values.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut Value<'a>) -> bool) {
        self.members.retain_mut(|(key, value)| keep(key, value));
    }

    /// Whether there is a member `key`.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets the member `key`; returns its previous value.
    pub fn insert(&mut self, key: impl Into<Cow<'a, str>>, value: impl Into<Value<'a>>) -> Option<Value<'a>> {
        let (key, value) = (key.into(), value.into());
        match self.position(&key) {
            Ok(at) => self
                .members
                .get_mut(at)
                .map(|member| std::mem::replace(&mut member.1, value)),
            Err(at) => {
                self.members.insert(at, (key, value));
                None
            }
        }
    }

    /// Takes the member `key` out.
    pub fn remove(&mut self, key: &str) -> Option<Value<'a>> {
        let at = self.position(key).ok()?;
        Some(self.members.remove(at).1)
    }

    /// Keeps the members whose key `known` gives back: the same text, which may lie elsewhere. It may change their values.
    /// The first error ends it, and the members from there on stay as they are.
    #[doc(hidden)]
    pub fn retain_known<E>(
        &mut self,
        mut known: impl FnMut(&str, &mut Value<'a>) -> Result<Option<&'a str>, E>,
    ) -> Result<(), E> {
        let mut ended = Ok(());
        self.members.retain_mut(|(key, value)| {
            if ended.is_err() {
                return true;
            }
            match known(key, value) {
                Ok(Some(same)) => {
                    debug_assert_eq!(key, same, "members keep their order");
                    *key = Cow::Borrowed(same);
                    true
                }
                Ok(None) => false,
                Err(error) => {
                    ended = Err(error);
                    true
                }
            }
        });
        ended
    }

    /// The members in order of their keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value<'a>)> + Clone {
        self.members.iter().map(|(key, value)| (key.as_ref(), value))
    }

    /// The members in order of their keys, as they are stored.
    pub fn members(&self) -> &[(Cow<'a, str>, Value<'a>)] {
        &self.members
    }

    /// A copy that shares the texts.
    pub fn borrowed(&self) -> Object<'_> {
        // Nothing interrupts it.
        self.copied(&Progress::unwatched()).unwrap_or_default()
    }

    /// A copy that shares the texts, unless it is interrupted.
    #[inline(never)]
    pub(crate) fn copied(&self, progress: &Progress<'_>) -> Option<Object<'_>> {
        let copies = self.members.iter();
        let copies = copies.map(|(key, value)| (Cow::Borrowed(key.as_ref()), value.copied(progress)));
        progress
            .nodes(self.members.len())
            .then(|| Object::from_copies(copies))
    }

    pub(crate) fn owned(
        &self,
        form: CopyForm,
        names: &'static str,
        progress: &Progress<'_>,
    ) -> Object<'static> {
        let members = self.members.iter();
        Object::from_copies(
            members.map(|(key, value)| (kept_name(names, key), value.owned(form, names, progress))),
        )
    }

    /// A copy that borrows nothing.
    pub fn into_owned(self) -> Object<'static> {
        let members = self.members.into_iter();
        let members = members.map(|(key, value)| (Cow::Owned(key.into_owned()), value.into_owned()));
        Object {
            members: members.collect(),
        }
    }

    fn position(&self, key: &str) -> Result<usize, usize> {
        position(&self.members, key)
    }
}

/// The member `key` among members in bytewise order of their keys.
#[doc(hidden)]
#[inline(always)]
pub fn find_member<'m, T>(members: &'m [(Cow<'_, str>, T)], key: &str) -> Option<&'m T> {
    if members.len() <= FEW {
        // A loop stays in place, where `find_map` is called.
        for (name, value) in members {
            if same(name, key) {
                return Some(value);
            }
        }
        return None;
    }
    let at = position(members, key).ok()?;
    members.get(at).map(|(_, value)| value)
}

fn position<T>(members: &[(Cow<'_, str>, T)], key: &str) -> Result<usize, usize> {
    members.binary_search_by(|(name, _)| compare(name, key))
}

// Rows `chain-*` of `benches/`, which copy an object: what is derived calls functions for each key and each value.
impl Clone for Object<'_> {
    fn clone(&self) -> Self {
        let members = self.members.iter();
        Object::from_copies(members.map(|(key, value)| (clone_text(key), value.clone())))
    }
}

/// A copy of a text, in place where it is borrowed.
#[inline]
pub(crate) fn clone_text<'a>(text: &Cow<'a, str>) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text),
        Cow::Owned(text) => Cow::Owned(text.as_str().to_owned()),
    }
}

/// The capacity of a list of so many members. An even one may fill a block of the allocator to its end, as four members do, for which
/// it takes a way of a hundred instructions more.
// See: mimalloc, src/alloc-aligned.c, mi_theap_malloc_zero_aligned_at_generic
pub(crate) fn capacity_for(count: usize) -> usize {
    if count == 0 { 0 } else { count | 1 }
}

/// A key that borrows from `names` where it lies in it, and is copied otherwise.
fn kept_name(names: &'static str, key: &str) -> Cow<'static, str> {
    part_of(names, key).map_or_else(|| Cow::Owned(key.to_owned()), Cow::Borrowed)
}

/// The part of a text that another one is, where that lies in it.
fn part_of(whole: &'static str, text: &str) -> Option<&'static str> {
    let start = text.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    whole.get(start..start.checked_add(text.len())?)
}

/// Whether two keys are equal. Most that are as long are, and most are short, so this is done in place.
#[inline]
pub fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    match left.len() {
        // The first and the last bytes, which may overlap, are all there is.
        8..=16 => {
            left.first_chunk::<8>() == right.first_chunk() && left.last_chunk::<8>() == right.last_chunk()
        }
        17..=32 => {
            left.first_chunk::<16>() == right.first_chunk() && left.last_chunk::<16>() == right.last_chunk()
        }
        4..8 => {
            left.first_chunk::<4>() == right.first_chunk() && left.last_chunk::<4>() == right.last_chunk()
        }
        _ => left == right,
    }
}

/// The order of two keys. Most differ in their first bytes, which are compared as one number.
// Row review-pods of `benches/`, as all objects are sorted when they are read.
#[inline]
pub(crate) fn compare(left: &str, right: &str) -> Ordering {
    match head(left.as_bytes()).cmp(&head(right.as_bytes())) {
        Ordering::Equal => left.cmp(right),
        order => order,
    }
}

/// The first eight bytes as a number that is ordered as they are. What is shorter ends with zeros: nothing comes before it that it
/// begins.
#[inline]
pub(crate) fn head(bytes: &[u8]) -> u64 {
    if let Some(first) = bytes.first_chunk::<8>() {
        return u64::from_be_bytes(*first);
    }
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            // The last four bytes overlap the first.
            let rest = u64::from(u32::from_be_bytes(*last)) << (8 * (8 - bytes.len()));
            u64::from(u32::from_be_bytes(*first)) << 32 | rest & u64::from(u32::MAX)
        }
        _ => {
            let place = |at: usize, byte: &u8| u64::from(*byte) << (56 - 8 * at);
            let places = bytes.iter().enumerate();
            places.fold(0, |number, (at, byte)| number | place(at, byte))
        }
    }
}

/// The same for names that are often empty, as that of the core group.
///
/// These are not compared: their address is none of the memory's, where some processors take a hundred times as long to compare
/// nothing.
#[inline]
pub fn same_name(left: &str, right: &str) -> bool {
    left.len() == right.len() && (left.is_empty() || same(left, right))
}

/// Of members with the same key the last one stays, as in the API server's decoder.
impl<'a> FromIterator<NamedValue<'a>> for Object<'a> {
    fn from_iter<I: IntoIterator<Item = NamedValue<'a>>>(members: I) -> Self {
        let mut members: Vec<NamedValue<'a>> = members.into_iter().collect();
        if !members.is_sorted_by(|a, b| compare(&a.0, &b.0) == Ordering::Less) {
            members.sort_by(|a, b| compare(&a.0, &b.0));
            // dedup_by keeps the first of a run; swapping first makes that the last one written.
            members.dedup_by(|later, kept| {
                let same = later.0 == kept.0;
                if same {
                    std::mem::swap(later, kept);
                }
                same
            });
        }
        Object { members }
    }
}

impl<'a> IntoIterator for Object<'a> {
    type Item = NamedValue<'a>;
    type IntoIter = std::vec::IntoIter<NamedValue<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_sorted_and_the_last_duplicate_stays() {
        let object: Object = [("b", 1), ("a", 2), ("b", 3), ("b", 4)]
            .into_iter()
            .map(|(key, value)| (Cow::Borrowed(key), Value::Int(value)))
            .collect();
        assert_eq!(object.iter().map(|(key, _)| key).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(object.get("b"), Some(&Value::Int(4)));
        assert_eq!(object.get("c"), None);
    }

    #[test]
    fn keys_are_compared_to_their_ends() {
        for len in 0..40 {
            let key: String = ('a'..='z').cycle().take(len).collect();
            assert!(same(&key, &key.clone()), "{key}");
            for at in 0..len {
                let mut other = key.clone();
                other.replace_range(at..=at, "_");
                assert!(!same(&key, &other), "{key} {other}");
            }
            assert!(!same(&key, &format!("{key}a")), "{key}");
        }
    }

    #[test]
    fn keys_are_ordered_as_their_bytes() {
        let parts = ["", "a", "\0", "ab", "aé", "zz", "spec", "abcdefgh"];
        let pairs = parts
            .iter()
            .flat_map(|one| parts.iter().map(move |other| format!("{one}{other}")));
        let keys: Vec<String> = pairs
            .flat_map(|pair| parts.map(|part| format!("{pair}{part}")))
            .collect();
        for left in &keys {
            for right in &keys {
                assert_eq!(compare(left, right), left.cmp(right), "{left:?} {right:?}");
            }
        }
    }

    #[test]
    fn parts_are_known_by_where_they_lie() {
        static WHOLE: &str = "name ä path";
        let part = |from, to| WHOLE.get(from..to).unwrap();
        for text in [part(0, 4), part(5, 7), part(8, 12), part(0, 0), WHOLE] {
            let found = part_of(WHOLE, text).unwrap();
            assert!(std::ptr::eq(found, text), "{text}");
        }
        // The same text elsewhere, and one of which this is a part.
        let copy = String::from("name");
        assert_eq!(part_of(WHOLE, &copy), None);
        assert_eq!(part_of(part(0, 4), WHOLE), None);
        assert_eq!(part_of(part(0, 4), part(3, 5)), None);
    }

    #[test]
    fn copies_keep_keys_that_lie_in_a_text() {
        static NAMES: &str = "spec name";
        let inner: Object<'_> = [(Cow::Borrowed(NAMES.get(5..).unwrap()), Value::from("a"))]
            .into_iter()
            .collect();
        let members = [
            (NAMES.get(..4).unwrap(), Value::Object(inner)),
            ("x", Value::Float(1.0)),
        ];
        let members = members
            .into_iter()
            .map(|(key, value)| (Cow::Borrowed(key), value));
        let value = Value::Object(members.collect());
        let copy = value.owned_within(NAMES);
        assert_eq!(copy, value);
        let keys = |value: &Value<'static>| -> Vec<bool> {
            let members = value.as_object().unwrap().members().iter();
            members.map(|(key, _)| matches!(key, Cow::Borrowed(_))).collect()
        };
        assert_eq!(keys(&copy), [true, false]);
        assert_eq!(keys(copy.get("spec").unwrap()), [true]);
        assert_eq!(keys(&value.owned_within("")), [false, false]);
    }

    #[test]
    fn known_members_stay_until_an_error() {
        let made = || -> Object<'static> {
            let members = ["a", "b", "c", "d"].map(|key| (Cow::Owned(key.to_owned()), Value::Int(1)));
            members.into_iter().collect()
        };
        let known = |fault: &'static str| {
            move |key: &str, value: &mut Value<'static>| {
                *value = Value::Int(2);
                match key {
                    "a" => Ok(Some("a")),
                    key if key == fault => Err(()),
                    "d" => Ok(Some("d")),
                    _ => Ok(None),
                }
            }
        };
        let mut object = made();
        assert_eq!(object.retain_known(known("none")), Ok(()));
        assert_eq!(Value::Object(object).to_string(), r#"{"a":2,"d":2}"#);
        let mut object = made();
        assert_eq!(object.retain_known(known("c")), Err(()));
        assert_eq!(Value::Object(object).to_string(), r#"{"a":2,"c":2,"d":1}"#);
    }

    #[test]
    fn insert_and_remove_keep_the_order() {
        let mut object = Object::new();
        assert_eq!(object.insert("b", 1), None);
        assert_eq!(object.insert("a", 2), None);
        assert_eq!(object.insert("b", 3), Some(Value::Int(1)));
        assert_eq!(object.remove("a"), Some(Value::Int(2)));
        assert_eq!(object.len(), 1);
    }
}
