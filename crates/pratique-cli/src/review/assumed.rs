//! Kinds that are not known, and the resources that were assumed for them.

use std::collections::HashSet;

use super::request::AssumedResource;
use crate::output;

/// How many kinds are reported.
const MAX_KINDS: usize = 100;

/// The kinds that were reported because their resources were assumed: each once.
#[derive(Debug, Default)]
pub(super) struct AssumedKinds {
    reported: HashSet<AssumedResource>,
}

impl AssumedKinds {
    /// Reports the kind of the object at a place, unless it was reported before; gives the message. `help` is what can be
    /// done besides giving the definition.
    pub(super) fn report(&mut self, assumed: AssumedResource, place: &str, help: &str) -> Option<String> {
        if self.reported.len() >= MAX_KINDS || self.reported.contains(&assumed) {
            return None;
        }
        let AssumedResource { kind, resource } = &assumed;
        let message = format!(
            "kind {kind} is not known: its resource is taken to be {}; give its CustomResourceDefinition{help}",
            resource.trim_end_matches('.')
        );
        output::eprint(&output::warning_at(place, &message));
        self.reported.insert(assumed);
        Some(message)
    }
}
