//! Which fields a server set in an object, and when.

use pratique::api_objects::{DefaultedBy, Defaults};
use serde::Serialize;

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

/// Fields that a server set, as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct JsonDefaults {
    by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    fields: Vec<String>,
}

impl From<Defaults> for JsonDefaults {
    fn from(step: Defaults) -> Self {
        let (by, name) = match step.by {
            DefaultedBy::Server => ("server", None),
            DefaultedBy::Policy(name) => ("policy", Some(name)),
            DefaultedBy::Webhook(name) => ("webhook", Some(name)),
            DefaultedBy::Preparation => ("preparation", None),
        };
        JsonDefaults {
            by,
            name,
            fields: step.paths,
        }
    }
}
