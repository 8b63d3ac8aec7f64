//! Audit annotations as an API server takes them from a webhook.
//!
//! It puts the webhook's name and a slash before each key, and drops what is then no qualified name: keys with a slash
//! of their own, as all of admission's are, and keys past 63 characters.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

/// The longest key that may stand after the webhook's name.
const LONGEST: usize = 63;

/// With keys that an API server takes: slashes become dots, and what is too long ends in a hash of the whole.
pub(crate) fn of_webhook(annotations: BTreeMap<String, String>) -> BTreeMap<String, String> {
    annotations
        .into_iter()
        .map(|(key, value)| (self::key(&key), value))
        .collect()
}

fn key(whole: &str) -> String {
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let fitting: String = whole.chars().map(|c| if good(c) { c } else { '.' }).collect();
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    if fitting.len() <= LONGEST && ends(fitting.chars().next()) && ends(fitting.chars().next_back()) {
        return fitting;
    }
    let hash: String = Sha256::digest(whole.as_bytes())
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let start: String = fitting
        .chars()
        .skip_while(|c| !c.is_ascii_alphanumeric())
        .take(LONGEST - 9)
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
            assert!(key(whole).len() <= LONGEST);
        };
        let failure = "validation.policy.admission.k8s.io/validation_failure";
        check(failure, "validation.policy.admission.k8s.io.validation_failure");
        check("plain", "plain");
        check("p.static.k8s.io/key", "p.static.k8s.io.key");
        check("-odd/", "odd.-946e2fff");
        let long = key(&format!("{}/key", "a".repeat(80)));
        assert!(long.starts_with("aaaa") && long.len() == LONGEST);
        assert_ne!(long, key(&format!("{}/other", "a".repeat(80))));
    }
}
