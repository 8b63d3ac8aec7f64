//! Audit annotations of validating policies.

use std::borrow::Cow;
use std::collections::BTreeMap;

use pratique_core::AuditAnnotations;
use pratique_gotext::utf8::lossy;
use pratique_schema::Release;
use serde::Serialize;

/// The audit annotations of a request.
#[derive(Debug)]
pub(crate) struct RequestAnnotations<'s> {
    published: AuditAnnotations,
    failures: Vec<AuditFailure<'s>>,
    most_failures: usize,
}

/// The annotations of a policy and its bindings: several values of a key are joined.
#[derive(Debug, Default)]
pub(crate) struct CollectedAnnotations<'s> {
    keys: Vec<(&'s str, Vec<Cow<'s, str>>)>,
}

/// A validation that failed for a binding that audits.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditFailure<'s> {
    pub(crate) message: Cow<'s, str>,
    pub(crate) policy: &'s str,
    pub(crate) binding: &'s str,
    pub(crate) expression_index: usize,
    pub(crate) validation_actions: &'s [Box<str>],
}

const FAILURES_KEY: &str = "validation.policy.admission.k8s.io/validation_failure";
const MAX_FAILURES: usize = 50;
const MAX_VALUE_BYTES: usize = 10 * 1024;

impl<'s> RequestAnnotations<'s> {
    /// No annotations, for a server of a release.
    pub(crate) fn new(release: &Release) -> Self {
        RequestAnnotations {
            published: AuditAnnotations::default(),
            failures: Vec::new(),
            // Before 1.37, each failure had an annotation of the same key, of which the first stayed.
            // Upstream: plugin/policy/validating/dispatcher.go, publishValidationFailureAnnotations
            most_failures: if release.at_least(1, 37) { MAX_FAILURES } else { 1 },
        }
    }

    /// Records a failed validation.
    pub(crate) fn add_failure(&mut self, failure: impl FnOnce() -> AuditFailure<'s>) {
        if self.failures.len() < self.most_failures {
            self.failures.push(failure());
        }
    }

    /// Publishes the annotations that a policy collected.
    pub(crate) fn publish(&mut self, policy: &str, collected: &CollectedAnnotations<'_>) {
        for (key, values) in &collected.keys {
            self.published.add(format!("{policy}/{key}"), values.join(", "));
        }
    }

    /// Publishes the failed validations.
    pub(crate) fn publish_failures(&mut self) {
        if self.failures.is_empty() {
            return;
        }
        self.published.add_json(FAILURES_KEY.to_owned(), &self.failures);
    }

    /// Takes the published annotations, by key.
    pub(crate) fn take_map(&mut self) -> BTreeMap<String, String> {
        std::mem::take(&mut self.published).into_map()
    }
}

impl<'s> CollectedAnnotations<'s> {
    /// Adds a value, unless the key has it already.
    pub(crate) fn add(&mut self, key: &'s str, value: &'s str) {
        let value = truncated(value);
        match self.keys.iter_mut().find(|(known, _)| *known == key) {
            None => self.keys.push((key, vec![value])),
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
        }
    }
}

/// A value cut to the maximum length; each byte of a character that is cut becomes a replacement character.
fn truncated(value: &str) -> Cow<'_, str> {
    let Some(bytes) = value.as_bytes().get(..MAX_VALUE_BYTES) else {
        return Cow::Borrowed(value);
    };
    lossy(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_joined_and_truncated() {
        let mut collected = CollectedAnnotations::default();
        let long = "x".repeat(MAX_VALUE_BYTES - 1) + "é";
        for value in ["a", "b", "a"] {
            collected.add("key", value);
        }
        collected.add("long", &long);
        collected.add("not a key", "");
        let mut annotations = RequestAnnotations::new(Release::latest());
        annotations.publish("p.example.com", &collected);
        let map = annotations.take_map();
        assert_eq!(map.get("p.example.com/key").unwrap(), "a, b");
        assert!(map.get("p.example.com/long").unwrap().ends_with("x\u{fffd}"));
        assert_eq!(map.len(), 2);
    }

    #[test]
    fn failures_are_json_for_web_pages() {
        let mut annotations = RequestAnnotations::new(Release::latest());
        let actions = ["Audit".into()];
        annotations.add_failure(|| AuditFailure {
            message: "a < b".into(),
            policy: "p",
            binding: "b",
            expression_index: 1,
            validation_actions: &actions,
        });
        annotations.publish_failures();
        assert_eq!(
            annotations.take_map().get(FAILURES_KEY).unwrap(),
            r#"[{"message":"a \u003c b","policy":"p","binding":"b","expressionIndex":1,"validationActions":["Audit"]}]"#
        );
    }
    #[test]
    fn only_the_first_failure_was_published_before_1_37() {
        for (version, expected) in [("1.36", 1), ("1.37", 2)] {
            let mut annotations = RequestAnnotations::new(Release::by_version(version).unwrap());
            for policy in ["first", "second"] {
                annotations.add_failure(|| AuditFailure {
                    message: "no".into(),
                    policy,
                    binding: "b",
                    expression_index: 0,
                    validation_actions: &[],
                });
            }
            annotations.publish_failures();
            let map = annotations.take_map();
            let count = map.get(FAILURES_KEY).unwrap().matches("message").count();
            assert_eq!(count, expected, "{version}");
        }
    }
}
