//! A view of the cluster in memory.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use pratique_json::{Object, Value, same_name};
use pratique_types::{ObjectPlace, ObjectRef, Rejected};

use crate::effects::Effects;
use crate::object_list::ObjectList;
use crate::state::{ClusterState, Lookup, StateKind};

/// The objects of a cluster, in memory.
///
/// A kind has no known objects until [one is inserted](Self::insert) or [all are declared known](Self::complete).
#[derive(Clone, Debug, Default)]
pub struct StateObjects {
    kinds: HashMap<(String, String), HashMap<String, ObjectList, RandomState>, RandomState>,
    complete: HashSet<(String, String), RandomState>,
    assumed: HashSet<(String, String), RandomState>,
    all_complete: bool,
    lacks_controllers: bool,
}

impl StateObjects {
    /// A cluster of which everything is known: objects that are not inserted do not exist.
    pub fn whole() -> Self {
        StateObjects {
            all_complete: true,
            ..StateObjects::default()
        }
    }

    /// Declares that no controller has seen the objects: a plugin that needs the status of one that has none is undecided.
    #[must_use]
    pub fn without_controllers(self) -> Self {
        StateObjects {
            lacks_controllers: true,
            ..self
        }
    }

    /// Declares that all objects of a kind are known, or will be inserted.
    pub fn complete(&mut self, group: &str, kind: &str) {
        self.complete.insert((group.to_owned(), kind.to_owned()));
    }

    /// Assumes that any object of a kind that is looked up by name exists; of those that are not inserted only the
    /// names are known.
    pub fn assume(&mut self, kind: StateKind) {
        self.assumed.insert((kind.group.to_owned(), kind.kind.to_owned()));
    }

    /// Adds an object, or replaces one.
    ///
    /// # Errors
    /// The object has no kind or no name, or its `apiVersion` is none: it is not added, and given back.
    pub fn insert(&mut self, object: Value<'static>) -> Result<(), Rejected> {
        let ObjectPlace {
            kind,
            namespace,
            name,
        } = match ObjectPlace::of_object(&object) {
            Ok(place) => place,
            Err(reason) => {
                let object = Box::new(object);
                return Err(Rejected { reason, object });
            }
        };
        let namespaces = self.kinds.entry((kind.group, kind.kind)).or_default();
        let listing = namespaces.entry(namespace).or_default();
        let place = listing.binary_search_by(|other| ObjectRef::new(other).name().cmp(&name));
        let objects = listing.to_mut();
        match place {
            Ok(at) => {
                if let Some(slot) = objects.get_mut(at) {
                    *slot = Arc::new(object);
                }
            }
            Err(at) => objects.insert(at, Arc::new(object)),
        }
        Ok(())
    }

    /// Applies the writes of plugins to the cluster.
    pub fn apply(&mut self, effects: &Effects) {
        for created in &effects.created {
            self.replace(created.object.clone());
        }
        for booked in &effects.booked {
            let quota = self
                .get(StateKind::RESOURCE_QUOTA, &booked.namespace, &booked.name)
                .found();
            if let Some(Value::Object(quota)) = quota.map(|quota| quota.clone().into_owned()) {
                let mut quota: Object<'static> = quota;
                quota.insert("status", booked.status.clone());
                self.replace(Value::Object(quota));
            }
        }
    }

    /// Adds an object that plugins wrote: those have kinds and names.
    fn replace(&mut self, object: Value<'static>) {
        drop(self.insert(object));
    }

    /// The objects of a kind that are known, in all namespaces.
    pub fn of_kind(&self, kind: StateKind) -> impl Iterator<Item = &Value<'static>> {
        let namespaces = self.kinds.get(&Key(kind)).into_iter().flatten();
        namespaces.flat_map(|(_, listing)| listing.iter().map(|object| &**object))
    }

    fn listing(&self, kind: StateKind, namespace: &str) -> Option<&ObjectList> {
        self.kinds.get(&Key(kind))?.get(&Namespace(namespace))
    }

    fn is_complete(&self, kind: StateKind) -> bool {
        self.all_complete || self.complete.contains(&Key(kind))
    }
}

impl ClusterState for StateObjects {
    fn get<'a>(&'a self, kind: StateKind, namespace: &str, name: &str) -> Lookup<'a> {
        let found = self.listing(kind, namespace).and_then(|listing| {
            let at = listing
                .binary_search_by(|other| ObjectRef::new(other).name().cmp(name))
                .ok()?;
            listing.get(at)
        });
        match found {
            Some(object) => Lookup::Found(object),
            None if self.is_complete(kind) => Lookup::Absent,
            None if self.assumed.contains(&Key(kind)) => Lookup::Named,
            None => Lookup::Unknown,
        }
    }

    fn list<'a>(&'a self, kind: StateKind, namespace: &str) -> Option<&'a ObjectList> {
        if !self.is_complete(kind) {
            return None;
        }
        Some(self.listing(kind, namespace).unwrap_or(ObjectList::EMPTY))
    }

    fn lacks_controllers(&self) -> bool {
        self.lacks_controllers
    }
}

impl<'a> Lookup<'a> {
    /// The stored object, if it is known.
    pub fn found(self) -> Option<&'a Value<'a>> {
        match self {
            Lookup::Found(object) => Some(object),
            Lookup::Absent | Lookup::Named | Lookup::Unknown => None,
        }
    }
}

/// A kind as a key to look up in a map with owned keys.
struct Key(StateKind);

impl Hash for Key {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        // As the pair of texts.
        (self.0.group, self.0.kind).hash(hasher);
    }
}

impl hashbrown::Equivalent<(String, String)> for Key {
    fn equivalent(&self, (group, kind): &(String, String)) -> bool {
        same_name(self.0.kind, kind) && same_name(self.0.group, group)
    }
}

/// A namespace as a key to look up in such a map; empty for objects of cluster scope.
struct Namespace<'n>(&'n str);

impl Hash for Namespace<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash(hasher);
    }
}

impl hashbrown::Equivalent<String> for Namespace<'_> {
    fn equivalent(&self, namespace: &String) -> bool {
        same_name(self.0, namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_inserted_is_unknown_assumed_or_absent() {
        let mut objects = StateObjects::default();
        let kind = StateKind::NAMESPACE;
        assert_eq!(objects.get(kind, "", "shop"), Lookup::Unknown);
        objects.assume(kind);
        assert_eq!(objects.get(kind, "", "shop"), Lookup::Named);
        assert!(objects.exists(kind, "", "shop").unwrap());
        assert!(objects.find(kind, "", "shop").is_err());
        objects.complete(kind.group, kind.kind);
        assert_eq!(objects.get(kind, "", "shop"), Lookup::Absent);
    }
}
