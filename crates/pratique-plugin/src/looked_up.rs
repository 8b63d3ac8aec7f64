//! What is kept of objects of which plugins read few fields: these, as text until one looks at them.
//!
//! A review of very many objects stores each of them, and nothing ever looks at most.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use pratique_json::{Value, same};
use pratique_types::ObjectRef;

use crate::handler::Handler;
use crate::object_list::ObjectList;
use crate::state::StateKind;

/// What a plugin reads of the objects of a kind that it looks up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldsRead {
    /// The kind.
    pub kind: StateKind,
    /// The fields, by the names that lead to each; lists on the way stand for all of their elements, and `a|b` for two fields.
    pub fields: &'static [&'static [&'static str]],
}

/// The part of the objects of a kind that the plugins of a chain read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookedUpPart {
    /// They look up none of them.
    Nothing,
    /// They read these fields.
    Fields(FieldTree),
    /// They may read all.
    Whole,
}

/// Fields of objects, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldTree {
    /// Those that are no more than begun by others are whole: they have no fields here.
    fields: Vec<(&'static str, FieldTree)>,
}

impl FieldTree {
    /// The fields at some paths.
    pub fn new(paths: &[&'static [&'static str]]) -> Self {
        let mut tree = FieldTree::default();
        tree.add(paths);
        tree
    }

    /// Adds the fields at some paths. What one of them leads to is there whole, also where others lead on from it.
    pub fn add(&mut self, paths: &[&'static [&'static str]]) {
        paths.iter().for_each(|path| self.add_path(path));
    }

    fn add_path(&mut self, path: &[&'static str]) {
        let Some((first, rest)) = path.split_first() else {
            self.fields.clear();
            return;
        };
        for first in first.split('|') {
            match self.fields.iter_mut().find(|(name, _)| *name == first) {
                // It is there whole.
                Some((_, below)) if below.fields.is_empty() => {}
                Some((_, below)) => below.add_path(rest),
                None => {
                    let mut below = FieldTree::default();
                    below.add_path(rest);
                    self.fields.push((first, below));
                }
            }
        }
    }

    /// The part of a value that has these fields. Recursion follows the paths.
    fn part_of<'v>(&self, value: &'v Value<'_>) -> Value<'v> {
        match value {
            _ if self.fields.is_empty() => value.borrowed(),
            Value::Object(members) => {
                let kept = members.iter().filter_map(|(name, member)| {
                    let mut fields = self.fields.iter();
                    let (_, below) = fields.find(|(field, _)| same(field, name))?;
                    Some((Cow::Borrowed(name), below.part_of(member)))
                });
                Value::Object(kept.collect())
            }
            Value::Array(elements) => elements
                .iter()
                .map(|element| self.part_of(element))
                .collect::<Vec<_>>()
                .into(),
            other => other.borrowed(),
        }
    }
}

/// What every object is recognised by.
const IDENTITY: [&[&str]; 4] = [
    &["apiVersion"],
    &["kind"],
    &["metadata", "name"],
    &["metadata", "namespace"],
];

impl LookedUpPart {
    /// The part of the objects of a kind that some plugins read.
    pub fn of_kind<'h>(plugins: impl Iterator<Item = &'h Handler>, kind: StateKind) -> Self {
        let mut fields: Option<FieldTree> = None;
        for handler in plugins {
            if !handler.needs.contains(&kind) {
                continue;
            }
            match handler.reads.iter().find(|read| read.kind == kind) {
                Some(read) => fields
                    .get_or_insert_with(|| FieldTree::new(&IDENTITY))
                    .add(read.fields),
                None => return LookedUpPart::Whole,
            }
        }
        fields.map_or(LookedUpPart::Nothing, LookedUpPart::Fields)
    }
}

/// The fields of an object that are looked up, as text until something looks at it.
#[derive(Clone, Debug)]
pub struct ObjectText {
    text: Box<str>,
    object: OnceLock<Arc<Value<'static>>>,
}

impl ObjectText {
    /// Takes some fields of an object.
    pub fn of_fields(object: &Value<'_>, fields: &FieldTree) -> Self {
        ObjectText {
            text: fields.part_of(object).to_string().into(),
            object: OnceLock::new(),
        }
    }

    /// The object with these fields.
    pub(crate) fn object(&self) -> &Arc<Value<'static>> {
        self.object.get_or_init(|| {
            let object = pratique_json::parse(self.text.as_bytes());
            // It was written by us.
            Arc::new(object.map(Value::into_owned).unwrap_or_default())
        })
    }
}

/// The objects of a kind in a namespace that are kept as text.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectTexts {
    /// By name.
    texts: BTreeMap<Box<str>, ObjectText>,
    /// Those, and others of the kind that are kept whole, once they are listed.
    list: OnceLock<ObjectList>,
}

impl ObjectTexts {
    pub(crate) fn insert(&mut self, name: &str, text: ObjectText) {
        self.texts.insert(name.into(), text);
        self.list = OnceLock::new();
    }

    /// Takes notice of an object that is kept whole now.
    pub(crate) fn forget(&mut self, name: &str) {
        self.texts.remove(name);
        self.list = OnceLock::new();
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value<'static>> {
        self.texts.get(name).map(|text| &**text.object())
    }

    /// All objects, with those that are kept whole, by name.
    pub(crate) fn list(&self, whole: &ObjectList) -> &ObjectList {
        self.list.get_or_init(|| {
            if whole.is_empty() {
                let texts = self.texts.values().map(|text| Arc::clone(text.object()));
                return texts.collect();
            }
            let name = |object: &Value<'static>| ObjectRef::new(object).name().to_owned();
            let whole = whole.iter().map(|object| (name(object), Arc::clone(object)));
            let mut objects: BTreeMap<String, Arc<Value<'static>>> = whole.collect();
            let texts = self.texts.iter();
            objects.extend(texts.map(|(name, text)| (name.to_string(), Arc::clone(text.object()))));
            objects.into_values().collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_are_paths_of_their_own() {
        let alternatives = FieldTree::new(&[&["spec", "a|b", "c|d"]]);
        let each = FieldTree::new(&[
            &["spec", "a", "c"],
            &["spec", "a", "d"],
            &["spec", "b", "c"],
            &["spec", "b", "d"],
        ]);
        assert_eq!(alternatives, each);
    }

    #[test]
    fn fields_are_kept_and_nothing_else() {
        let text = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b"},"name":"a"},
            "spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1"}}},{"image":"i"}],"hostNetwork":true}}"#;
        let object = pratique_json::parse(text.as_bytes()).unwrap();
        let mut fields = FieldTree::new(&IDENTITY);
        fields.add(&[&["spec", "containers", "resources", "limits"], &["status"]]);
        fields.add(&[&["spec", "containers", "resources"], &["status", "phase"]]);
        let kept = ObjectText::of_fields(&object, &fields);
        assert_eq!(
            &*kept.text,
            r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"resources":{"limits":{"cpu":"1"}}},{}]}}"#
        );
        assert_eq!(kept.object().to_string(), *kept.text);
    }
}
