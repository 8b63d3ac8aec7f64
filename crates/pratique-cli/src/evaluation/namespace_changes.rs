//! Namespaces of the cluster that the inputs change, each from its place on.
//!
//! What the state of the cluster says of a namespace counts for the objects before that place: an input cannot take back what
//! was decided about the objects before it.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use pratique_json::Value;
use pratique_manifest::Location;
use pratique_types::ObjectRef;

use crate::evaluation::state::{ClusterState, StateObject};
use crate::output::notice::{InputNotice, NAMESPACE_CHANGE};
use crate::output::problems;

/// How many changed states are kept for the objects that follow.
const MAX_STATES: usize = 32;

/// The annotation in which clients remember what they applied: of what was read of a cluster, it says nothing more.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The changes, by namespace.
#[derive(Clone, Default)]
pub(crate) struct NamespaceChanges {
    /// The namespaces that the state of the cluster says something of.
    known: Arc<HashMap<String, Value<'static>>>,
    /// The order of the input files.
    files: Arc<HashMap<String, usize>>,
    /// In the order of the inputs.
    changes: Arc<HashMap<String, Vec<NamespaceChange>>>,
    /// The states after changes.
    states: Arc<Mutex<StateCache>>,
}

type StateCache = HashMap<(String, InputPlace), Arc<ClusterState>>;

/// A place in the inputs: the number of the file, and the offset in it.
type InputPlace = (usize, usize);

#[derive(Clone, Debug)]
struct NamespaceChange {
    place: InputPlace,
    namespace: Value<'static>,
}

impl NamespaceChanges {
    /// No changes of these namespaces.
    pub(crate) fn of_known<'n>(namespaces: impl Iterator<Item = &'n Value<'static>>) -> Self {
        let known =
            namespaces.map(|namespace| (ObjectRef::new(namespace).name().to_owned(), namespace.clone()));
        NamespaceChanges {
            known: Arc::new(known.collect()),
            ..NamespaceChanges::default()
        }
    }

    /// Sets the order of the input files.
    pub(crate) fn set_files(&mut self, files: impl Iterator<Item = String>) {
        let mut order = HashMap::new();
        for (number, file) in files.enumerate() {
            order.entry(file).or_insert(number);
        }
        self.files = Arc::new(order);
    }

    /// Adds namespaces that are known of the cluster, unless more is known of them.
    pub(crate) fn know(&mut self, namespaces: impl Iterator<Item = Value<'static>>) {
        let known = Arc::make_mut(&mut self.known);
        for namespace in namespaces {
            let name = ObjectRef::new(&namespace).name().to_owned();
            known.entry(name).or_insert(namespace);
        }
    }

    /// Whether the state of the cluster says something of a namespace.
    pub(crate) fn is_known(&self, namespace: &Value<'_>) -> bool {
        self.known.contains_key(ObjectRef::new(namespace).name())
    }

    /// Adds a known namespace of an input, which was labelled; gives a notice if it is another than before.
    pub(crate) fn add(&mut self, namespace: Value<'static>, location: &Location) -> Option<InputNotice> {
        let place = self.place(location)?;
        let name = ObjectRef::new(&namespace).name().to_owned();
        let stored_namespace = self.known.get(&name)?;
        let of_name = self.changes.get(&name).map(Vec::as_slice).unwrap_or_default();
        let previous_namespace = of_name
            .last()
            .map_or(stored_namespace, |change| &change.namespace);
        let differences: Vec<&str> = ["labels", "annotations"]
            .into_iter()
            .filter(|field| !is_same(previous_namespace, &namespace, field))
            .collect();
        if differences.is_empty() {
            return None;
        }
        let message = format!(
            "it changes the {} of the namespace {name}, which the cluster has: objects before it are evaluated with what the \
             cluster has, and objects after it with this",
            differences.join(" and ")
        );
        let changes = Arc::make_mut(&mut self.changes).entry(name).or_default();
        changes.push(NamespaceChange { place, namespace });
        changes.sort_by_key(|change| change.place);
        Some(InputNotice::new(
            NAMESPACE_CHANGE,
            problems::place(location),
            message,
        ))
    }

    /// Forgets the states after changes: there is more to know of the cluster.
    pub(crate) fn forget_states(&mut self) {
        self.states = Arc::default();
    }

    fn place(&self, location: &Location) -> Option<InputPlace> {
        let file = self.files.get(&*location.file)?;
        Some((*file, location.start.offset))
    }

    /// The last change of a namespace before a place.
    fn last_before(&self, location: &Location, namespace: &str) -> Option<&NamespaceChange> {
        let changes = self.changes.get(namespace)?;
        let place = self.place(location)?;
        let count = changes.partition_point(|change| change.place < place);
        changes.get(count.checked_sub(1)?)
    }

    /// What is known of the cluster at a place for an object in a namespace; `None` if that was not changed.
    pub(crate) fn state_at(
        &self,
        state: &ClusterState,
        location: &Location,
        namespace: &str,
    ) -> Option<Arc<ClusterState>> {
        let change = self.last_before(location, namespace)?;
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        if states.len() >= MAX_STATES {
            states.clear();
        }
        Some(match states.entry((namespace.to_owned(), change.place)) {
            Entry::Occupied(entry) => Arc::clone(entry.get()),
            Entry::Vacant(entry) => {
                let mut changed = state.clone();
                changed.changes = NamespaceChanges::default();
                changed.add([StateObject::Stored(change.namespace.clone())]);
                Arc::clone(entry.insert(Arc::new(changed)))
            }
        })
    }
}

/// Whether two namespaces have the same texts in a field of their metadata; an empty one is the same as none.
fn is_same(one: &Value<'_>, other: &Value<'_>, field: &str) -> bool {
    let texts = |namespace: &Value<'_>| match namespace.at(&["metadata", field]) {
        Some(Value::Object(texts)) => {
            let texts = texts.iter().filter(|(key, _)| *key != LAST_APPLIED);
            let texts = texts.map(|(key, text)| (key.to_owned(), text.to_string()));
            texts.collect()
        }
        _ => BTreeMap::new(),
    };
    texts(one) == texts(other)
}
