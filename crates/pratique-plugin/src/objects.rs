//! A view of the cluster in memory.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashSet};
use pratique_json::{Object, Value, same_name};
use pratique_types::{ObjectPlace, ObjectRef, RejectedObject};

use crate::effects::Effects;
use crate::looked_up::{ObjectText, ObjectTexts};
use crate::object_list::ObjectList;
use crate::state::{ClusterState, Lookup, StateKind};

/// Objects of a kind that are kept as text, by namespace.
type NamespaceTexts = HashMap<String, ObjectTexts, RandomState>;

/// The objects of a cluster, in memory.
///
/// A kind has no known objects until [one is inserted](Self::insert) or [all are declared known](Self::complete).
#[derive(Clone, Debug, Default)]
pub struct StateObjects {
    kinds: HashMap<(String, String), HashMap<String, ObjectList, RandomState>, RandomState>,
    /// Those that are kept as text, which stand before the others. Copies share them.
    texts: HashMap<(String, String), Arc<NamespaceTexts>, RandomState>,
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
    pub fn insert(&mut self, object: Value<'static>) -> Result<(), RejectedObject> {
        let ObjectPlace {
            kind,
            namespace,
            name,
        } = match ObjectPlace::of_object(&object) {
            Ok(place) => place,
            Err(reason) => {
                let object = Box::new(object);
                return Err(RejectedObject { reason, object });
            }
        };
        let key = (kind.group, kind.kind);
        if !self.texts.is_empty()
            && let Some(texts) = self.texts.get_mut(&key)
            && let Some(texts) = Arc::make_mut(texts).get_mut(&namespace)
        {
            texts.forget(&name);
        }
        let namespaces = self.kinds.entry(key).or_default();
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

    /// As [`insert`](Self::insert), with those fields of an object that are looked up.
    pub fn insert_text(&mut self, kind: StateKind, namespace: &str, name: &str, text: ObjectText) {
        let key = (kind.group.to_owned(), kind.kind.to_owned());
        let texts = Arc::make_mut(self.texts.entry(key).or_default());
        texts.entry(namespace.to_owned()).or_default().insert(name, text);
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

    /// The objects of a kind that are known whole, in all namespaces.
    pub fn of_kind(&self, kind: StateKind) -> impl Iterator<Item = &Value<'static>> {
        let namespaces = self.kinds.get(&KindKey(kind)).into_iter().flatten();
        namespaces.flat_map(|(_, listing)| listing.iter().map(|object| &**object))
    }

    fn listing(&self, kind: StateKind, namespace: &str) -> Option<&ObjectList> {
        self.kinds.get(&KindKey(kind))?.get(&NamespaceKey(namespace))
    }

    fn texts(&self, kind: StateKind, namespace: &str) -> Option<&ObjectTexts> {
        self.texts.get(&KindKey(kind))?.get(&NamespaceKey(namespace))
    }

    fn is_complete(&self, kind: StateKind) -> bool {
        self.all_complete || self.complete.contains(&KindKey(kind))
    }
}

impl ClusterState for StateObjects {
    fn get<'a>(&'a self, kind: StateKind, namespace: &str, name: &str) -> Lookup<'a> {
        if let Some(object) = self.texts(kind, namespace).and_then(|texts| texts.get(name)) {
            return Lookup::Found(object);
        }
        let stored_object = self.listing(kind, namespace).and_then(|listing| {
            let at = listing
                .binary_search_by(|other| ObjectRef::new(other).name().cmp(name))
                .ok()?;
            listing.get(at)
        });
        match stored_object {
            Some(object) => Lookup::Found(object),
            None if self.is_complete(kind) => Lookup::Absent,
            None if self.assumed.contains(&KindKey(kind)) => Lookup::Named,
            None => Lookup::Unknown,
        }
    }

    fn list<'a>(&'a self, kind: StateKind, namespace: &str) -> Option<&'a ObjectList> {
        if !self.is_complete(kind) {
            return None;
        }
        let whole = self.listing(kind, namespace).unwrap_or(ObjectList::EMPTY);
        let texts = self.texts(kind, namespace);
        Some(texts.map_or(whole, |texts| texts.list(whole)))
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
struct KindKey(StateKind);

impl Hash for KindKey {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        // As the pair of texts.
        (self.0.group, self.0.kind).hash(hasher);
    }
}

impl hashbrown::Equivalent<(String, String)> for KindKey {
    fn equivalent(&self, (group, kind): &(String, String)) -> bool {
        same_name(self.0.kind, kind) && same_name(self.0.group, group)
    }
}

/// A namespace as a key to look up in such a map; empty for objects of cluster scope.
struct NamespaceKey<'n>(&'n str);

impl Hash for NamespaceKey<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash(hasher);
    }
}

impl hashbrown::Equivalent<String> for NamespaceKey<'_> {
    fn equivalent(&self, namespace: &String) -> bool {
        same_name(self.0, namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::looked_up::FieldTree;

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

    #[test]
    fn what_has_no_place_is_given_back() {
        let mut objects = StateObjects::default();
        objects.complete("", "Namespace");
        for (json, expected) in [
            (
                r#"{"apiVersion":"v1","kind":"Namespace"}"#,
                "an object of kind Namespace without metadata.name",
            ),
            (r#"{"metadata":{"name":"shop"}}"#, "an object without kind"),
        ] {
            let object = pratique_json::parse(json.as_bytes()).unwrap().into_owned();
            let rejected = objects.insert(object.clone()).unwrap_err();
            assert_eq!(
                (rejected.to_string().as_str(), *rejected.object),
                (expected, object)
            );
        }
        assert_eq!(objects.get(StateKind::NAMESPACE, "", "shop"), Lookup::Absent);
    }

    #[test]
    fn texts_are_found_and_listed() {
        let read = |text: &str| pratique_json::parse(text.as_bytes()).unwrap().into_owned();
        let pod = |name: &str, node: &str| {
            format!(
                r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"shop"}},"spec":{{"nodeName":"{node}"}}}}"#
            )
        };
        let nodes = |objects: &StateObjects| -> Vec<String> {
            let pods = objects.list(StateKind::POD, "shop").unwrap().iter();
            pods.map(|pod| pratique_json::text_at(pod, &["spec", "nodeName"]).to_owned())
                .collect()
        };
        let mut objects = StateObjects::default();
        objects.complete("", "Pod");
        objects.insert(read(&pod("b", "1"))).unwrap();
        objects.insert(read(&pod("c", "2"))).unwrap();
        for (name, node) in [("a", "3"), ("b", "4")] {
            let text =
                ObjectText::of_fields(&read(&pod(name, node)), &FieldTree::new(&[&["spec", "nodeName"]]));
            objects.insert_text(StateKind::POD, "shop", name, text);
        }
        let found = objects
            .get(StateKind::POD, "shop", "b")
            .found()
            .map(ToString::to_string);
        assert_eq!(found.as_deref(), Some(r#"{"spec":{"nodeName":"4"}}"#));
        assert_eq!(objects.get(StateKind::POD, "shop", "d"), Lookup::Absent);
        assert_eq!(nodes(&objects), ["3", "4", "2"]);
        objects.insert(read(&pod("b", "5"))).unwrap();
        assert_eq!(nodes(&objects), ["3", "5", "2"]);
    }
}
