//! Objects that are among the inputs more than once: of those that are sent to a server, the last one counts.

use std::collections::HashMap;
use std::collections::hash_map::{DefaultHasher, Entry};
use std::hash::{Hash as _, Hasher as _};

use pratique_types::Operation;

use crate::evaluation::input_request::InputRequest;
use crate::evaluation::record::namespaced;
use crate::output::notice::{DUPLICATE_OBJECT, InputNotice};

/// How many objects are remembered.
const MAX_OBJECTS: usize = 500_000;

/// An object with its name, and where it is.
pub(super) struct NamedInput {
    identity: u64,
    name: String,
    place: String,
}

/// The objects of the inputs so far.
#[derive(Debug)]
pub(super) struct NamedInputs {
    /// Their places, by their identities.
    places: HashMap<u64, String>,
    max_objects: usize,
    /// Whether it was told that some are not remembered.
    is_bound_told: bool,
}

impl Default for NamedInputs {
    fn default() -> Self {
        NamedInputs::with_bound(MAX_OBJECTS)
    }
}

impl NamedInput {
    /// The object of a request that creates or updates it; `None` of whole AdmissionReviews, of which one may follow another, and
    /// of objects whose names a server generates.
    pub(super) fn from_request(input: &InputRequest<'_>, is_review: bool) -> Option<Self> {
        let request = &input.request;
        let is_stored = matches!(request.operation, Operation::Create | Operation::Update);
        let is_named = is_stored && request.sub_resource.is_empty() && !request.name.is_empty();
        if is_review || !is_named {
            return None;
        }
        let kind = &request.kind;
        // Versions of a kind are views of the same objects.
        let mut hasher = DefaultHasher::new();
        (&kind.group, &kind.kind, &request.namespace, &request.name).hash(&mut hasher);
        Some(NamedInput {
            identity: hasher.finish(),
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
            is_bound_told: false,
        }
    }

    /// Adds an object; a notice, if it was there before, or is the first that is not remembered.
    pub(super) fn add(&mut self, input: NamedInput) -> Option<InputNotice> {
        let is_full = self.places.len() >= self.max_objects;
        match self.places.entry(input.identity) {
            Entry::Occupied(first) => {
                let message = format!(
                    "{} is among the inputs before, at {}: each is reviewed, and of those that are sent the last one counts",
                    input.name,
                    first.get()
                );
                Some(InputNotice::new(DUPLICATE_OBJECT, input.place, message))
            }
            Entry::Vacant(_) if is_full => {
                let message = format!(
                    "there are more than {} objects: whether one from here on is among the inputs again is not told",
                    self.max_objects
                );
                let is_told = std::mem::replace(&mut self.is_bound_told, true);
                (!is_told).then(|| InputNotice::new(DUPLICATE_OBJECT, input.place, message))
            }
            Entry::Vacant(vacant) => {
                vacant.insert(input.place);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_objects_than_are_remembered_are_told_once() {
        let mut named = NamedInputs::with_bound(2);
        let mut add = |identity: u64| {
            let input = NamedInput {
                identity,
                name: format!("ConfigMap {identity}"),
                place: format!("{identity}.yaml"),
            };
            named.add(input).map(|notice| notice.message)
        };
        assert_eq!([add(1), add(2)], [None, None]);
        let message = add(3).unwrap();
        assert!(message.starts_with("there are more than 2 objects"), "{message}");
        assert_eq!([add(3), add(4)], [None, None]);
        // Those that are remembered are told as before.
        assert!(
            add(1)
                .unwrap()
                .starts_with("ConfigMap 1 is among the inputs before")
        );
    }
}
