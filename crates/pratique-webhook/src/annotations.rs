//! Audit annotations of webhooks.

use std::collections::BTreeMap;

use pratique_core::AuditAnnotations;
use pratique_json::escape_html;
use serde::Serialize;

use crate::webhook::CompiledWebhook;

/// The bound on the bytes of the audit annotations of one answer, keys and values together. The reference has a bound only
/// for policies: 10 KiB for a value.
const MAX_BYTES: usize = 256 << 10;

/// The key of an annotation with the number of annotations that were left out.
const LEFT_OUT: &str = "pratique-left-out";

/// The annotations of an answer within the bound, in the order of their keys. If some are left out, one more has their
/// number.
pub(crate) fn bounded(annotations: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let size = |(key, value): (&String, &String)| key.len() + value.len();
    if annotations.iter().map(size).sum::<usize>() <= MAX_BYTES {
        return annotations;
    }
    let (mut left, mut left_out) = (MAX_BYTES, 0_usize);
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
    let message = format!("{left_out} annotations: all of an answer may have {MAX_BYTES} bytes");
    kept.insert(LEFT_OUT.to_owned(), message);
    kept
}

/// The audit annotations of one phase.
#[derive(Debug, Default)]
pub(crate) struct PhaseAnnotations {
    /// Those of every audit level.
    all: AuditAnnotations,
    /// Those of the levels that record requests.
    patches: BTreeMap<String, String>,
}

/// The position of a call of a mutating webhook, in the keys of annotations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallPosition {
    /// 0 for the first round, 1 for the second.
    pub(crate) round: u8,
    /// The position among all webhooks, those that were not called included.
    pub(crate) index: usize,
}

#[derive(Serialize)]
struct MutationAnnotation<'a> {
    configuration: &'a str,
    webhook: &'a str,
    mutated: bool,
}

impl PhaseAnnotations {
    /// Adds the annotations of an answer.
    pub(crate) fn of_webhook<'a>(
        &mut self,
        webhook: &str,
        annotations: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) {
        for (key, value) in annotations {
            self.all.add(format!("{webhook}/{key}"), value.clone());
        }
    }

    /// Adds whether a mutating webhook changed the object.
    pub(crate) fn mutation(&mut self, position: CallPosition, webhook: &CompiledWebhook, mutated: bool) {
        let mutation = MutationAnnotation {
            configuration: &webhook.configuration,
            webhook: &webhook.name,
            mutated,
        };
        self.all.add_json(position.key("mutation"), &mutation);
    }

    /// Adds the patch of a mutating webhook, given as JSON.
    pub(crate) fn patch(&mut self, position: CallPosition, webhook: &CompiledWebhook, patch: &str) {
        // Strings always have a JSON form.
        let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
        let json = format!(
            r#"{{"configuration":{},"webhook":{},"patch":{patch},"patchType":"JSONPatch"}}"#,
            text(&webhook.configuration),
            text(&webhook.name)
        );
        let key = position.key("patch");
        self.patches.entry(key).or_insert(escape_html(&json).into_owned());
    }

    /// Adds that a failure to call a mutating webhook was ignored.
    pub(crate) fn mutating_failed_open(&mut self, position: CallPosition, webhook: &CompiledWebhook) {
        self.all
            .add(position.key("failed-open.mutation"), webhook.name.to_string());
    }

    /// Adds that a failure to call a validating webhook was ignored; `index` counts those that were called.
    pub(crate) fn validating_failed_open(&mut self, index: usize, webhook: &CompiledWebhook) {
        let key = format!("failed-open.validating.webhook.admission.k8s.io/round_0_index_{index}");
        self.all.add(key, webhook.name.to_string());
    }

    /// The annotations of every audit level, and those of the levels that record requests.
    pub(crate) fn into_maps(self) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
        (self.all.into_map(), self.patches)
    }
}

impl CallPosition {
    fn key(self, what: &str) -> String {
        let CallPosition { round, index } = self;
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
        let mut annotations = PhaseAnnotations::default();
        annotations.of_webhook("hook.example.com", &kept);
        assert_eq!(annotations.all.len(), 26, "all keys are those of annotations");
    }
}
