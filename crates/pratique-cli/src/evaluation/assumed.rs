//! Kinds that are not known, where decisions depend on their resources.

use std::collections::BTreeSet;

use pratique::Outcome;
use pratique::policy::Missing;
use serde::{Deserialize, Serialize};

use crate::evaluation::definitions::AssumedKind;
use crate::output;

/// How many kinds are reported.
const MAX_KINDS: usize = 100;

/// The kinds that were reported because decisions depend on their resources: each once.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct AssumedKinds {
    /// The kinds, with the names of their resources.
    reported: BTreeSet<(String, String)>,
}

/// Whether something is undecided because the resource of the object is not known.
pub(crate) fn depends_on_resource(outcome: &Outcome) -> bool {
    let mut undecided = outcome.undecided.iter();
    undecided.any(|undecided| matches!(undecided.missing, Missing::Resource { .. }))
}

impl AssumedKinds {
    /// Reports the kind of the object at a place, unless it was reported before; gives the message. `help` is what can be
    /// done besides giving the definition.
    pub(crate) fn report(&mut self, assumed: AssumedKind, help: &str) -> Option<String> {
        let resource = assumed.resource;
        let key = (resource.kind.clone(), resource.resource.resource);
        if self.reported.len() >= MAX_KINDS || !self.reported.insert(key) {
            return None;
        }
        let remedy = match assumed.definition {
            None => {
                format!("give its CustomResourceDefinition, or a snapshot of a cluster that has it{help}")
            }
            Some(definition) => format!("its CustomResourceDefinition {definition} defines nothing"),
        };
        let message = format!(
            "kind {} is not known, so that it is undecided what matches its resource: {remedy}",
            resource.kind
        );
        output::eprint(&output::warning_at(&assumed.place, &message));
        Some(message)
    }
}
