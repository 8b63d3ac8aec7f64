//! What goes into the audit log.

use std::collections::BTreeMap;

use pratique_json::escape_html;
use pratique_match::is_label_key;
use serde::Serialize;

use crate::webhook::Webhook;

/// The audit annotations of one phase.
#[derive(Debug, Default)]
pub(crate) struct Annotations {
    /// Those of every audit level.
    pub(crate) all: BTreeMap<String, String>,
    /// Those of the levels that hold requests.
    pub(crate) patches: BTreeMap<String, String>,
}

/// The call of a mutating webhook, as annotations name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// 0 for the first turn, 1 for the second.
    pub(crate) round: u8,
    /// The position among all webhooks, those that were not called included.
    pub(crate) index: usize,
}

#[derive(Serialize)]
struct Mutation<'a> {
    configuration: &'a str,
    webhook: &'a str,
    mutated: bool,
}

impl Annotations {
    /// Adds what a webhook wants to be noted.
    pub(crate) fn of_webhook<'a>(
        &mut self,
        webhook: &str,
        annotations: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) {
        for (key, value) in annotations {
            self.add(format!("{webhook}/{key}"), value.clone());
        }
    }

    /// Adds whether a mutating webhook changed the object.
    pub(crate) fn mutation(&mut self, place: Place, webhook: &Webhook, mutated: bool) {
        let mutation = Mutation {
            configuration: &webhook.configuration,
            webhook: &webhook.name,
            mutated,
        };
        // Texts always have a JSON form.
        let json = serde_json::to_string(&mutation).unwrap_or_default();
        self.add(place.key("mutation"), escape_html(&json).into_owned());
    }

    /// Adds the patch of a mutating webhook, given as JSON.
    pub(crate) fn patch(&mut self, place: Place, webhook: &Webhook, patch: &str) {
        let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
        let json = format!(
            r#"{{"configuration":{},"webhook":{},"patch":{patch},"patchType":"JSONPatch"}}"#,
            text(&webhook.configuration),
            text(&webhook.name)
        );
        let key = place.key("patch");
        self.patches.entry(key).or_insert(escape_html(&json).into_owned());
    }

    /// Adds that a failure to call a mutating webhook was ignored.
    pub(crate) fn mutating_failed_open(&mut self, place: Place, webhook: &Webhook) {
        self.add(place.key("failed-open.mutation"), webhook.name.clone());
    }

    /// Adds that a failure to call a validating webhook was ignored; `index` counts those that were called.
    pub(crate) fn validating_failed_open(&mut self, index: usize, webhook: &Webhook) {
        let key = format!("failed-open.validating.webhook.admission.k8s.io/round_0_index_{index}");
        self.add(key, webhook.name.clone());
    }

    /// The first value of a key stays; a key that is no key is dropped.
    fn add(&mut self, key: String, value: String) {
        if key.contains('/') && is_label_key(&key) {
            self.all.entry(key).or_insert(value);
        }
    }
}

impl Place {
    fn key(self, what: &str) -> String {
        let Place { round, index } = self;
        format!("{what}.webhook.admission.k8s.io/round_{round}_index_{index}")
    }
}
