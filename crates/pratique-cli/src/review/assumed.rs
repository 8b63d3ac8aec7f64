//! Kinds that are not known, and the resources that were assumed for them.

use std::collections::HashSet;

use super::request::Assumed;
use crate::output;

/// How many kinds are told.
const MAX_KINDS: usize = 100;

/// The kinds of which it was told that their resources were assumed: each once.
#[derive(Debug, Default)]
pub(super) struct AssumedKinds {
    told: HashSet<Assumed>,
}

impl AssumedKinds {
    /// Tells it of the object at a place, unless it was told of the kind; gives the message. `help` is what can be done besides
    /// giving the definition.
    pub(super) fn tell(&mut self, assumed: Assumed, place: &str, help: &str) -> Option<String> {
        if self.told.len() >= MAX_KINDS || self.told.contains(&assumed) {
            return None;
        }
        let Assumed { kind, resource } = &assumed;
        let message = format!(
            "kind {kind} is not known: its resource is taken to be {}; give its CustomResourceDefinition{help}",
            resource.trim_end_matches('.')
        );
        output::note(&output::warning_at(place, &message));
        self.told.insert(assumed);
        Some(message)
    }
}
