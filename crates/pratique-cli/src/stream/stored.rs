//! Stored objects, by kind and name.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};

use pratique_json::Value;
use pratique_request::kind_of;
use pratique_types::{GroupKind, GroupVersionKind};

use crate::input::{InputError, InputObject};
use crate::output::problems;

/// The stored objects of a cluster.
#[derive(Default)]
pub(crate) struct Stored<'g> {
    /// In the order of their files, with whether an input has them.
    objects: Vec<(&'g InputObject<'static>, AtomicBool)>,
    places: HashMap<Key, usize>,
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
    pub(crate) fn new(objects: &'g [InputObject<'static>], namespace: &str) -> (Self, Vec<InputError>) {
        let mut stored = Stored::default();
        let mut faults = Vec::new();
        for object in objects {
            if let Err(why) = stored.add(object, namespace) {
                let place = problems::place(&object.location);
                faults.push(InputError::Faulty { place, why });
            }
        }
        (stored, faults)
    }

    fn add(&mut self, object: &'g InputObject<'static>, namespace: &str) -> Result<(), String> {
        let kind = kind_of(&object.object).map_err(|error| error.to_string())?;
        match self.places.entry(key(&object.object, &kind, namespace)) {
            Entry::Vacant(entry) => {
                entry.insert(self.objects.len());
                self.objects.push((object, AtomicBool::new(false)));
                Ok(())
            }
            Entry::Occupied(first) => {
                let first = self.objects.get(*first.get());
                let place = first.map(|(first, _)| problems::place(&first.location));
                let place = place.unwrap_or_default();
                Err(format!(
                    "this object is also at {place}: it can be stored in one form"
                ))
            }
        }
    }

    /// The stored form of an object: the one of the same kind, name and namespace. It then counts as one that an input has.
    pub(crate) fn find(
        &self,
        object: &Value<'_>,
        kind: &GroupVersionKind,
        namespace: &str,
    ) -> Option<&'g InputObject<'static>> {
        let place = self.places.get(&key(object, kind, namespace))?;
        let (stored, is_found) = self.objects.get(*place)?;
        is_found.store(true, Ordering::Relaxed);
        Some(stored)
    }

    /// The stored objects of any kind that have the name and namespace of an object.
    pub(crate) fn of_name(
        &self,
        object: &Value<'_>,
        namespace: &str,
    ) -> impl Iterator<Item = &'g InputObject<'static>> {
        let unnamed = GroupVersionKind::new("", "", "");
        let wanted = key(object, &unnamed, namespace);
        let namespace = namespace.to_owned();
        let objects = self.objects.iter().map(|(stored, _)| *stored);
        objects.filter(move |stored| {
            let own = key(&stored.object, &unnamed, &namespace);
            own == wanted
        })
    }

    /// The objects that no input has, in their order.
    pub(crate) fn unmatched(&self) -> impl Iterator<Item = &'g InputObject<'static>> {
        let objects = self.objects.iter();
        let unmatched = objects.filter(|(_, is_found)| !is_found.load(Ordering::Relaxed));
        unmatched.map(|(stored, _)| *stored)
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
