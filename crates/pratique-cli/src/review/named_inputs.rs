//! Objects that are among the inputs more than once: of those that are sent to a server, the last one counts.

use std::collections::HashMap;
use std::collections::hash_map::{DefaultHasher, Entry};
use std::hash::{Hash as _, Hasher as _};

use pratique_types::Operation;

use crate::evaluation::input_request::InputRequest;
use crate::evaluation::record::namespaced;
use crate::output::notice::{DUPLICATE_OBJECT, Notice};

/// How many objects are remembered.
const MAX_OBJECTS: usize = 500_000;

/// An object with its name, and where it is.
pub(super) struct NamedInput {
    identity: u64,
    name: String,
    place: String,
}

/// The objects of the inputs so far.
#[derive(Debug, Default)]
pub(super) struct NamedInputs(HashMap<u64, String>);

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
    /// Whether the object was there before.
    pub(super) fn has(&self, input: &NamedInput) -> bool {
        self.0.contains_key(&input.identity)
    }

    /// Adds an object; a notice, if it was there before.
    pub(super) fn add(&mut self, input: NamedInput) -> Option<Notice> {
        let is_full = self.0.len() >= MAX_OBJECTS;
        match self.0.entry(input.identity) {
            Entry::Occupied(first) => {
                let message = format!(
                    "{} is among the inputs before, at {}: each is reviewed, and of those that are sent the last one counts",
                    input.name,
                    first.get()
                );
                Some(Notice::new(DUPLICATE_OBJECT, input.place, message))
            }
            Entry::Vacant(_) if is_full => None,
            Entry::Vacant(vacant) => {
                vacant.insert(input.place);
                None
            }
        }
    }
}
