//! Which fields a server set in an object, and when.

use pratique::api_objects::{DefaultedBy, Defaults};

use crate::output::counted_nouns::first_names;

/// How many fields of a step are named.
const SHOWN: usize = 12;

/// A line for each step: `set by the server: spec.strategy, spec.replicas`.
pub(crate) fn lines(defaults: &[Defaults]) -> impl Iterator<Item = String> {
    defaults
        .iter()
        .map(|step| format!("{}: {}", by(&step.by), first_names(&step.paths, SHOWN)))
}

fn by(by: &DefaultedBy) -> String {
    match by {
        DefaultedBy::Server => "set by the server before admission".to_owned(),
        DefaultedBy::Policy(name) => format!("defaulted after policy {name}"),
        DefaultedBy::Webhook(name) => format!("defaulted after webhook {name}"),
        DefaultedBy::Preparation => "set by the server before validation".to_owned(),
    }
}
