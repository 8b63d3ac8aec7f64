//! What goes into the audit log.

use std::collections::BTreeMap;

use pratique_gotext::validation::qualified_name;
use pratique_json::escape_html;
use serde::Serialize;

use crate::webhook::Webhook;

/// The most bytes that the audit annotations of one answer may have, keys and values together: the reference has no bound
/// there, but in its policies, where a value has 10 KiB.
const MOST_BYTES: usize = 256 << 10;

/// The key of an annotation that tells what was left out of the others.
const LEFT_OUT: &str = "pratique-left-out";

/// The annotations of an answer, as far as there is room for them, by their keys. What is left out is told by one more.
pub(crate) fn bounded(annotations: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let size = |(key, value): (&String, &String)| key.len() + value.len();
    if annotations.iter().map(size).sum::<usize>() <= MOST_BYTES {
        return annotations;
    }
    let (mut left, mut left_out) = (MOST_BYTES, 0_usize);
    let mut kept = BTreeMap::new();
    for (key, value) in annotations {
        match left.checked_sub(key.len() + value.len()) {
            Some(rest) => {
                left = rest;
                kept.insert(key, value);
            }
            None => left_out += 1,
        }
    }
    let told = format!("{left_out} annotations: all of an answer may have {MOST_BYTES} bytes");
    kept.insert(LEFT_OUT.to_owned(), told);
    kept
}

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
        if key.contains('/') && qualified_name(&key).is_empty() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_are_bounded() {
        let some = |count: usize, length: usize| -> BTreeMap<String, String> {
            let all = (0..count).map(|at| (format!("key-{at:04}"), "v".repeat(length)));
            all.collect()
        };
        let few = some(20, 10 << 10);
        assert_eq!(bounded(few.clone()), few);
        let kept = bounded(some(1000, 1 << 20));
        let expected = "1000 annotations: all of an answer may have 262144 bytes";
        assert_eq!(kept, [(LEFT_OUT.to_owned(), expected.to_owned())].into());
        let mut mixed = some(100, 10 << 10);
        mixed.insert("large".into(), "v".repeat(50 << 20));
        let kept = bounded(mixed);
        let bytes: usize = kept.values().map(String::len).sum();
        assert!((240 << 10..=260 << 10).contains(&bytes), "{bytes}");
        assert_eq!(kept.len(), 26);
        assert_eq!(
            kept[LEFT_OUT],
            "76 annotations: all of an answer may have 262144 bytes"
        );
        let mut annotations = Annotations::default();
        annotations.of_webhook("hook.example.com", &kept);
        assert_eq!(annotations.all.len(), 26, "it has the key of an annotation");
    }
}
