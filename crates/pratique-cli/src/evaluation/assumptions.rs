//! Kinds that are not known, where decisions depend on their resources.

use std::collections::BTreeMap;

use pratique::Outcome;
use pratique::policy::MissingDependency;
use serde::{Deserialize, Serialize};

use crate::evaluation::definitions::AssumedKind;
use crate::evaluation::limitations::UNKNOWN_KIND;
use crate::output::counted_nouns::counted;
use crate::output::notice::InputNotice;

/// How many kinds are reported.
const MAX_KINDS: usize = 100;

/// The kinds on whose resources decisions depend: each once.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct AssumedKinds {
    kinds: BTreeMap<String, FirstObject>,
    /// Whether there are more than are reported.
    #[serde(default)]
    has_more: bool,
}

/// The first object of a kind.
#[derive(Debug, Serialize, Deserialize)]
struct FirstObject {
    place: String,
    /// The definition of the kind, if there is one that cannot be used.
    definition: Option<String>,
}

/// Whether something is undecided because the resource of the object is not known.
pub(crate) fn depends_on_resource(outcome: &Outcome) -> bool {
    let mut undecided = outcome.undecided.iter();
    undecided.any(|undecided| matches!(undecided.missing, MissingDependency::Resource { .. }))
}

impl AssumedKinds {
    /// Adds the kind of the object at a place.
    pub(crate) fn add(&mut self, assumed: AssumedKind) {
        let AssumedKind {
            resource,
            place,
            definition,
        } = assumed;
        if self.kinds.len() < MAX_KINDS {
            let first = FirstObject { place, definition };
            self.kinds.entry(resource.kind).or_insert(first);
        } else if !self.kinds.contains_key(&resource.kind) {
            self.has_more = true;
        }
    }

    /// What is told of them: those without a definition together. `help` is what can be done besides giving it.
    pub(crate) fn notices(&self, help: &str) -> impl Iterator<Item = InputNotice> {
        let is_open = |first: &FirstObject| first.definition.is_none();
        let unknown: Vec<_> = self.kinds.iter().filter(|(_, first)| is_open(first)).collect();
        let unknown = match unknown.as_slice() {
            [] => None,
            [(kind, first)] => Some(InputNotice::new(
                UNKNOWN_KIND,
                first.place.clone(),
                format!(
                    "kind {kind} is not known, so that it is undecided what matches its resource: give its \
                     CustomResourceDefinition, or a snapshot of a cluster that has it{help}"
                ),
            )),
            [(_, first), ..] => {
                let kinds: Vec<&str> = unknown.iter().map(|(kind, _)| kind.as_str()).collect();
                let (and_others, more) = if self.has_more {
                    (" and others", ", …")
                } else {
                    ("", "")
                };
                let message = format!(
                    "{}{and_others} are not known, so that it is undecided what matches their resources: give their \
                     CustomResourceDefinitions, or a snapshot of a cluster that has them{help}: {}{more}",
                    counted(kinds.len(), "kind", "kinds"),
                    kinds.join(", ")
                );
                Some(InputNotice::new(UNKNOWN_KIND, first.place.clone(), message))
            }
        };
        let unusable = self.kinds.iter().filter_map(|(kind, first)| {
            let definition = first.definition.as_ref()?;
            let message = format!(
                "kind {kind} is not known, so that it is undecided what matches its resource: its CustomResourceDefinition \
                 {definition} defines nothing"
            );
            Some(InputNotice::new(UNKNOWN_KIND, first.place.clone(), message))
        });
        unknown.into_iter().chain(unusable)
    }
}
