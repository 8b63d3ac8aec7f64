//! Conversion of audit annotations for an API server.
//!
//! An API server prefixes each key with the name of the webhook and a slash, and drops annotations whose keys are then not
//! qualified names: keys with a slash, as all keys of admission are, and keys longer than 63 characters.
// Upstream: pkg/admission/plugin/webhook/validating/dispatcher.go, callHook

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

/// The maximum length of a key, in characters.
const MAX_KEY: usize = 63;

/// Converts keys to valid ones: slashes become dots, and keys that are too long are truncated and end in a hash.
pub(crate) fn of_webhook(annotations: BTreeMap<String, String>) -> BTreeMap<String, String> {
    annotations
        .into_iter()
        .map(|(key, value)| (self::key(&key), value))
        .collect()
}

fn key(original: &str) -> String {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let replaced: String = original
        .chars()
        .map(|c| if is_valid(c) { c } else { '.' })
        .collect();
    let alphanumeric = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let (first, last) = (replaced.chars().next(), replaced.chars().next_back());
    if replaced.len() <= MAX_KEY && alphanumeric(first) && alphanumeric(last) {
        return replaced;
    }
    let hash: String = Sha256::digest(original.as_bytes())
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let start: String = replaced
        .chars()
        .skip_while(|c| !c.is_ascii_alphanumeric())
        .take(MAX_KEY - 9)
        .collect();
    if start.is_empty() {
        hash
    } else {
        format!("{start}-{hash}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_qualified_names() {
        let check = |whole: &str, expected: &str| {
            assert_eq!(key(whole), expected);
            assert!(key(whole).len() <= MAX_KEY);
        };
        let failure = "validation.policy.admission.k8s.io/validation_failure";
        check(failure, "validation.policy.admission.k8s.io.validation_failure");
        check("plain", "plain");
        check("p.static.k8s.io/key", "p.static.k8s.io.key");
        check("-odd/", "odd.-946e2fff");
        let long = key(&format!("{}/key", "a".repeat(80)));
        assert!(long.starts_with("aaaa") && long.len() == MAX_KEY);
        assert_ne!(long, key(&format!("{}/other", "a".repeat(80))));
    }
}
