//! Objects that are among the inputs more than once: of those that are sent to a server, the last one counts.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use pratique_report::ShardObjects;
use pratique_types::Operation;
use serde::{Deserialize, Serialize};

use crate::evaluation::input_request::InputRequest;
use crate::evaluation::record::namespaced;
use crate::output::counted_nouns::counted;
use crate::output::notice::{DUPLICATE_OBJECT, InputNotice};
use crate::output::place::InputPlace;
use crate::stream::stable_hash::hash_bytes;

/// How many objects are remembered.
const MAX_OBJECTS: usize = 500_000;
/// How many pairs of files are told apart.
const MAX_PAIRS: usize = 1000;

/// An object with its name, and where it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedInput {
    identity: u64,
    name: String,
    place: String,
}

/// The objects of the inputs so far. They are a part of a checkpoint: what is read after it may be among what was read before.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "StoredInputs", from = "StoredInputs")]
pub(crate) struct NamedInputs {
    /// Their places, by their identities.
    places: HashMap<u64, String>,
    max_objects: usize,
    /// Those that were there before, by their files and those that had them: a file may be a copy of another.
    repeated: BTreeMap<FilePair, RepeatedObjects>,
    /// How many more there are, of other pairs.
    others: usize,
    /// Where the first is that is not remembered.
    unremembered: Option<String>,
    /// Those that other shards of the inputs may have, in a shard.
    shard: Option<ShardObjects>,
}

/// Such objects in a checkpoint.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredInputs {
    places: Vec<(u64, String)>,
    repeated: Vec<RepeatedObjects>,
    others: usize,
    unremembered: Option<String>,
    shard: Option<ShardObjects>,
}

impl From<NamedInputs> for StoredInputs {
    fn from(named: NamedInputs) -> Self {
        StoredInputs {
            places: named.places.into_iter().collect(),
            repeated: named.repeated.into_values().collect(),
            others: named.others,
            unremembered: named.unremembered,
            shard: named.shard,
        }
    }
}

impl From<StoredInputs> for NamedInputs {
    fn from(stored: StoredInputs) -> Self {
        let repeated = stored.repeated.into_iter();
        let repeated =
            repeated.map(|objects| (FilePair::new(&objects.first.place, &objects.earlier), objects));
        NamedInputs {
            places: stored.places.into_iter().collect(),
            max_objects: MAX_OBJECTS,
            repeated: repeated.collect(),
            others: stored.others,
            unremembered: stored.unremembered,
            shard: stored.shard,
        }
    }
}

/// A file, and another that has some of its objects, too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FilePair {
    file: String,
    earlier: String,
}

/// Objects of a file that another one has, too.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RepeatedObjects {
    count: usize,
    /// The first of them, and where the other file has it.
    first: NamedInput,
    earlier: String,
}

impl Default for NamedInputs {
    fn default() -> Self {
        NamedInputs::with_bound(MAX_OBJECTS)
    }
}

impl FilePair {
    /// The files of two places.
    fn new(place: &str, earlier: &str) -> Self {
        let file_of = |place: &str| InputPlace::parse(place).file;
        FilePair {
            file: file_of(place),
            earlier: file_of(earlier),
        }
    }
}

impl NamedInput {
    /// The object of a request that creates or updates it; `None` of whole AdmissionReviews, of which one may follow another, and
    /// of objects whose names a server generates.
    pub(crate) fn from_request(input: &InputRequest<'_>, is_review: bool) -> Option<Self> {
        let request = &input.request;
        let is_stored = matches!(request.operation, Operation::Create | Operation::Update);
        let is_named = is_stored && request.sub_resource.is_empty() && !request.name.is_empty();
        if is_review || !is_named {
            return None;
        }
        let kind = &request.kind;
        // Versions of a kind are views of the same objects.
        let parts = [&*kind.group, &*kind.kind, &*request.namespace, &*request.name];
        Some(NamedInput {
            // No part has a NUL in it.
            identity: hash_bytes(parts.join("\0").bytes()),
            name: format!("{} {}", kind.kind, namespaced(&request.namespace, &request.name)),
            place: input.place(),
        })
    }
}

impl NamedInputs {
    /// Those of which a number is remembered.
    fn with_bound(max_objects: usize) -> Self {
        NamedInputs {
            places: HashMap::new(),
            max_objects,
            repeated: BTreeMap::new(),
            others: 0,
            unremembered: None,
            shard: None,
        }
    }

    /// Those of a shard, which says in its report which ones it has.
    pub(crate) fn of_shard() -> Self {
        NamedInputs {
            shard: Some(ShardObjects::default()),
            ..NamedInputs::default()
        }
    }

    /// What the report of a shard has of them.
    pub(crate) fn take_shard(&mut self) -> Option<ShardObjects> {
        self.shard.take()
    }

    /// Adds an object.
    pub(crate) fn add(&mut self, input: NamedInput) {
        let is_full = self.places.len() >= self.max_objects;
        match self.places.entry(input.identity) {
            Entry::Occupied(first) => {
                let earlier = first.get().clone();
                self.repeat(input, earlier);
            }
            Entry::Vacant(_) if is_full => {
                if let Some(shard) = &mut self.shard {
                    shard.leave_out(1);
                }
                self.unremembered.get_or_insert(input.place);
            }
            Entry::Vacant(vacant) => {
                if let Some(shard) = &mut self.shard {
                    shard.add(input.identity, &input.name, &input.place);
                }
                vacant.insert(input.place);
            }
        }
    }

    fn repeat(&mut self, input: NamedInput, earlier: String) {
        let pair = FilePair::new(&input.place, &earlier);
        let is_full = self.repeated.len() >= MAX_PAIRS;
        match self.repeated.get_mut(&pair) {
            Some(repeated) => repeated.count += 1,
            None if is_full => self.others += 1,
            None => {
                let count = 1;
                let first = input;
                self.repeated.insert(
                    pair,
                    RepeatedObjects {
                        count,
                        first,
                        earlier,
                    },
                );
            }
        }
    }

    /// What is told of objects that were there before, once for each pair of files, and of those that are not remembered.
    pub(crate) fn notices(&self) -> Vec<InputNotice> {
        let repeated = self.repeated.iter().map(|(pair, repeated)| {
            let RepeatedObjects { count, first, earlier } = repeated;
            match count - 1 {
                0 => InputNotice::new(
                    DUPLICATE_OBJECT,
                    first.place.clone(),
                    format!("{} is among the inputs before, at {earlier}: {WHAT_COUNTS}", first.name),
                ),
                more => InputNotice::new(
                    DUPLICATE_OBJECT,
                    pair.file.clone(),
                    format!(
                        "{count} objects of it are among the inputs before, in {}: {} and {more} more: {WHAT_COUNTS}; --exclude GLOB \
                         leaves files out",
                        pair.earlier, first.name
                    ),
                ),
            }
        });
        let others = (self.others > 0).then(|| {
            let objects = counted(
                self.others,
                "more object is among the inputs before",
                "more objects are among the inputs before",
            );
            InputNotice::new(DUPLICATE_OBJECT, "", format!("{objects}, in other files"))
        });
        let unremembered = self.unremembered.as_ref().map(|place| {
            let message = format!(
                "there are more than {} objects: whether one from here on is among the inputs again is not told",
                self.max_objects
            );
            InputNotice::new(DUPLICATE_OBJECT, place.clone(), message)
        });
        repeated.chain(others).chain(unremembered).collect()
    }
}

/// What becomes of such objects.
const WHAT_COUNTS: &str = "each is reviewed, and of those that are sent the last one counts";

#[cfg(test)]
mod tests {
    use super::*;

    fn input(identity: u64, place: &str) -> NamedInput {
        NamedInput {
            identity,
            name: format!("ConfigMap {identity}"),
            place: place.to_owned(),
        }
    }

    fn lines(named: &NamedInputs) -> Vec<String> {
        named.notices().iter().map(InputNotice::line).collect()
    }

    #[test]
    fn more_objects_than_are_remembered_are_told_once() {
        let mut named = NamedInputs::with_bound(2);
        for identity in [1, 2, 3, 4, 3] {
            named.add(input(identity, &format!("{identity}.yaml:1:1")));
        }
        assert_eq!(
            lines(&named),
            [
                "3.yaml:1:1: there are more than 2 objects: whether one from here on is among the inputs again is not told"
            ]
        );
        // Those that are remembered are told as before.
        named.add(input(1, "5.yaml:1:1"));
        assert_eq!(
            lines(&named)[0],
            format!("5.yaml:1:1: ConfigMap 1 is among the inputs before, at 1.yaml:1:1: {WHAT_COUNTS}")
        );
    }

    #[test]
    fn objects_of_a_file_that_another_has_are_told_together() {
        let mut named = NamedInputs::default();
        for file in ["a.yaml", "b.yaml", "c.yaml"] {
            for identity in 1..=3 {
                if file != "c.yaml" || identity == 2 {
                    named.add(input(identity, &format!("{file}:{identity}:1")));
                }
            }
        }
        assert_eq!(
            lines(&named),
            [
                format!(
                    "b.yaml: 3 objects of it are among the inputs before, in a.yaml: ConfigMap 1 and 2 more: {WHAT_COUNTS}; --exclude \
                     GLOB leaves files out"
                ),
                format!("c.yaml:2:1: ConfigMap 2 is among the inputs before, at a.yaml:2:1: {WHAT_COUNTS}"),
            ]
        );
    }
}
