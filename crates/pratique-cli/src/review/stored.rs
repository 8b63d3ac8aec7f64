//! Stored objects, by kind and name.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use pratique_json::Value;
use pratique_suite::request::kind_of;
use pratique_types::{GroupKind, GroupVersionKind};

use crate::input::{InputError, InputObject};
use crate::output::problems;

/// The stored objects of a cluster.
#[derive(Default)]
pub(super) struct Stored<'g> {
    objects: HashMap<Key, &'g InputObject>,
}

/// The identity of an object.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    kind: GroupKind,
    namespace: String,
    name: String,
}

impl<'g> Stored<'g> {
    /// Indexes objects; `namespace` is that of objects without one. Gives errors as well.
    pub(super) fn new(given: &'g [InputObject], namespace: &str) -> (Self, Vec<InputError>) {
        let mut stored = Stored::default();
        let mut faults = Vec::new();
        for given in given {
            if let Err(why) = stored.add(given, namespace) {
                let place = problems::place(&given.location);
                faults.push(InputError::Faulty { place, why });
            }
        }
        (stored, faults)
    }

    fn add(&mut self, given: &'g InputObject, namespace: &str) -> Result<(), String> {
        let kind = kind_of(&given.object)?;
        match self.objects.entry(key(&given.object, &kind, namespace)) {
            Entry::Vacant(entry) => {
                entry.insert(given);
                Ok(())
            }
            Entry::Occupied(first) => Err(format!(
                "this object is also at {}: it can be stored in one form",
                problems::place(&first.get().location)
            )),
        }
    }

    /// The stored form of an object: the one of the same kind, name and namespace.
    pub(super) fn find(
        &self,
        object: &Value<'_>,
        kind: &GroupVersionKind,
        namespace: &str,
    ) -> Option<&'g InputObject> {
        self.objects.get(&key(object, kind, namespace)).copied()
    }
}

fn key(object: &Value<'_>, kind: &GroupVersionKind, namespace: &str) -> Key {
    let text = |field: &str| {
        let text = object.at(&["metadata", field]).and_then(Value::as_str);
        text.unwrap_or_default()
    };
    let named = Some(text("namespace")).filter(|named| !named.is_empty());
    Key {
        kind: kind.group_kind(),
        namespace: named.unwrap_or(namespace).to_owned(),
        name: text("name").to_owned(),
    }
}
