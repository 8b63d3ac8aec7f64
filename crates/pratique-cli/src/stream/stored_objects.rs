//! Stored objects, by kind and name.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};

use pratique_json::Value;
use pratique_request::kind_of;
use pratique_types::{GroupKind, GroupVersionKind, ObjectRef};

use crate::input::{InputError, InputObject};
use crate::output::problems;

/// The stored objects of a cluster.
#[derive(Default)]
pub(crate) struct StoredObjects<'g> {
    /// In the order of their files, with whether an input has them.
    objects: Vec<(&'g InputObject<'static>, AtomicBool)>,
    places: HashMap<StoredKey, usize>,
    /// The places of the objects of each namespace and name, of whichever kind.
    names: HashMap<(String, String), Vec<usize>>,
}

/// The identity of an object.
#[derive(PartialEq, Eq, Hash)]
struct StoredKey {
    kind: GroupKind,
    namespace: String,
    name: String,
}

impl<'g> StoredObjects<'g> {
    /// Indexes objects; `namespace` is that of objects without one. Gives errors as well.
    pub(crate) fn new(objects: &'g [InputObject<'static>], namespace: &str) -> (Self, Vec<InputError>) {
        let mut stored = StoredObjects::default();
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
                let place = self.objects.len();
                let StoredKey { namespace, name, .. } = entry.key();
                let name = (namespace.clone(), name.clone());
                self.names.entry(name).or_default().push(place);
                entry.insert(place);
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
        let places = self.names.get(&full_name(object, namespace));
        let objects = places
            .into_iter()
            .flatten()
            .filter_map(|place| self.objects.get(*place));
        objects.map(|(stored, _)| *stored)
    }

    /// The objects that no input has, in their order.
    pub(crate) fn unmatched(&self) -> impl Iterator<Item = &'g InputObject<'static>> {
        let objects = self.objects.iter();
        let unmatched = objects.filter(|(_, is_found)| !is_found.load(Ordering::Relaxed));
        unmatched.map(|(stored, _)| *stored)
    }
}

fn key(object: &Value<'_>, kind: &GroupVersionKind, namespace: &str) -> StoredKey {
    let (namespace, name) = full_name(object, namespace);
    StoredKey {
        kind: kind.group_kind(),
        namespace,
        name,
    }
}

/// The namespace and the name of an object; `namespace` is that of one that names none.
fn full_name(object: &Value<'_>, namespace: &str) -> (String, String) {
    let object = ObjectRef::new(object);
    let namespace = match object.namespace() {
        "" => namespace,
        named => named,
    };
    (namespace.to_owned(), object.name().to_owned())
}
