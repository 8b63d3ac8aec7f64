//! The objects of earlier events, which later requests change.

use std::collections::{HashMap, VecDeque};

use pratique_json::Value;

use crate::event::{AuditEvent, ObjectReference};
use crate::uri::RequestUri;

/// The last known objects of a log, within a bound of memory. The oldest ones are forgotten first.
#[derive(Debug)]
pub struct RecentObjects {
    objects: HashMap<ObjectKey, RecentObject>,
    /// The keys in the order in which objects were inserted, with their numbers.
    order: VecDeque<(u64, ObjectKey)>,
    next: u64,
    bytes: usize,
    limit: usize,
    /// How many objects were forgotten because of the bound.
    forgotten: u64,
}

/// Which object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ObjectKey {
    group: String,
    resource: String,
    namespace: String,
    name: String,
}

#[derive(Debug)]
struct RecentObject {
    object: Value<'static>,
    bytes: usize,
    number: u64,
}

/// What an entry takes besides its object, about.
const ENTRY: usize = 256;

impl RecentObjects {
    /// Remembers objects of so many bytes.
    pub fn within(limit: usize) -> Self {
        RecentObjects {
            objects: HashMap::new(),
            order: VecDeque::new(),
            next: 0,
            bytes: 0,
            limit,
            forgotten: 0,
        }
    }

    /// How many objects were forgotten because of the bound.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// The object that a request is about, as it was last inserted.
    pub(crate) fn get(&self, about: &ObjectReference) -> Option<&Value<'static>> {
        self.objects
            .get(&ObjectKey::new(about))
            .map(|recent| &recent.object)
    }

    /// Learns from an event: what was answered is stored, and what was changed without an answer in the event is not known
    /// any more.
    pub(crate) fn learn(&mut self, event: &AuditEvent<'_>, about: &ObjectReference, uri: &RequestUri) {
        let succeeded = event
            .response_status
            .as_ref()
            .is_some_and(|status| (200..300).contains(&status.code));
        let dry_run = uri.is_dry_run()
            || event
                .request_object
                .at(&["dryRun"])
                .is_some_and(|of| !of.is_empty());
        if !succeeded || dry_run {
            return;
        }
        match event.verb.as_str() {
            "delete" => self.remove(&ObjectKey::new(about)),
            "deletecollection" => self.remove_collection(about),
            "get" | "create" | "update" | "patch" => self.answered(event, about),
            _ => {}
        }
    }

    fn answered(&mut self, event: &AuditEvent<'_>, about: &ObjectReference) {
        let object = &event.response_object;
        let mut key = ObjectKey::new(about);
        let named = object.at(&["metadata", "name"]).and_then(Value::as_str);
        if key.name.is_empty() {
            key.name = named.unwrap_or_default().to_owned();
        }
        let is_whole = !key.name.is_empty()
            && named == Some(&key.name)
            && object
                .get("kind")
                .and_then(Value::as_str)
                .is_some_and(|kind| !is_part(kind))
            && object
                .at(&["metadata", "resourceVersion"])
                .is_some_and(|version| !version.is_empty());
        match (is_whole, event.verb.as_str()) {
            (true, _) => self.insert(key, object.clone().into_owned()),
            (false, "get") => {}
            // What a part of an object was asked to do may change the object.
            (false, _) => self.remove(&key),
        }
    }

    fn insert(&mut self, key: ObjectKey, object: Value<'static>) {
        self.remove(&key);
        let bytes = object
            .owned_bytes()
            .saturating_add(ENTRY)
            .saturating_add(key.len().saturating_mul(2));
        let number = self.next;
        self.next += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.order.push_back((number, key.clone()));
        self.objects.insert(
            key,
            RecentObject {
                object,
                bytes,
                number,
            },
        );
        while self.bytes > self.limit {
            let Some((number, key)) = self.order.pop_front() else {
                break;
            };
            if self
                .objects
                .get(&key)
                .is_some_and(|recent| recent.number == number)
            {
                self.remove(&key);
                self.forgotten += 1;
            }
        }
        // Keys whose object was inserted again, or removed, are dropped once they are most of the order.
        if self.order.len() > self.objects.len().saturating_mul(2).saturating_add(64) {
            let objects = &self.objects;
            self.order
                .retain(|(number, key)| objects.get(key).is_some_and(|recent| recent.number == *number));
        }
    }

    fn remove(&mut self, key: &ObjectKey) {
        if let Some(recent) = self.objects.remove(key) {
            self.bytes = self.bytes.saturating_sub(recent.bytes);
        }
    }

    fn remove_collection(&mut self, about: &ObjectReference) {
        let bytes = &mut self.bytes;
        self.objects.retain(|key, recent| {
            let is_in = key.group == about.api_group
                && key.resource == about.resource
                && (about.namespace.is_empty() || key.namespace == about.namespace);
            if is_in {
                *bytes = bytes.saturating_sub(recent.bytes);
            }
            !is_in
        });
    }
}

/// Whether objects of a kind are a part of another, or no objects that are stored.
fn is_part(kind: &str) -> bool {
    matches!(
        kind,
        "Scale" | "Status" | "Eviction" | "Binding" | "TokenRequest" | "Table"
    )
}

impl ObjectKey {
    fn new(about: &ObjectReference) -> Self {
        ObjectKey {
            group: about.api_group.clone(),
            resource: about.resource.clone(),
            namespace: about.namespace.clone(),
            name: about.name.clone(),
        }
    }

    fn len(&self) -> usize {
        [&self.group, &self.resource, &self.namespace, &self.name]
            .map(String::len)
            .iter()
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> ObjectKey {
        ObjectKey {
            group: String::new(),
            resource: "pods".to_owned(),
            namespace: "a".to_owned(),
            name: name.to_owned(),
        }
    }

    #[test]
    fn the_first_ones_are_forgotten_first() {
        let mut remembered = RecentObjects::within(1500);
        let object = || Value::from("x".repeat(200));
        for name in ["a", "b", "a", "c"] {
            remembered.insert(key(name), object());
        }
        let known = |remembered: &RecentObjects| {
            ["a", "b", "c"].map(|name| remembered.objects.contains_key(&key(name)))
        };
        assert_eq!(known(&remembered), [true, true, true]);
        remembered.insert(key("d"), object());
        assert_eq!(
            known(&remembered),
            [true, false, true],
            "b was inserted before a was inserted again"
        );
        assert_eq!(remembered.forgotten(), 1);
        for number in 0..1000 {
            remembered.insert(key(&number.to_string()), object());
            assert!(remembered.bytes <= 1500 && remembered.order.len() < 100);
        }
        remembered.insert(key("a"), Value::from("x".repeat(5000)));
        assert_eq!((remembered.objects.len(), remembered.bytes), (0, 0));
    }
}
