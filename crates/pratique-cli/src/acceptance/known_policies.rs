//! The policies of a run, as exceptions and a baseline name them: their names, and the expressions of their validations.

use std::collections::{BTreeMap, BTreeSet};

use pratique_gotext::hex::encode_to_string;
use pratique_schema::Release;
use pratique_types::admission_plugins;
use sha2::{Digest as _, Sha256};

use pratique_review::DroppedField;

use crate::evaluation::record::{INVALID, SERVER_WARNING};
use crate::policies::OriginSets;

/// How much of a hash stands for an expression: 128 bits.
const HASH_DIGITS: usize = 32;

/// The policies of a run.
#[derive(Debug, Default)]
pub(super) struct KnownPolicies {
    /// The validations of validating policies, in their order.
    validations: BTreeMap<String, Vec<ValidationExpression>>,
    /// Other policies, and webhooks.
    others: BTreeSet<String>,
    /// The release by which they are evaluated.
    pub(super) release: Option<&'static Release>,
}

/// The expression of a validation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValidationExpression {
    text: String,
    hash: String,
}

impl KnownPolicies {
    /// Adds those of manifests.
    pub(super) fn add(&mut self, sets: &OriginSets) {
        for (_, set) in sets {
            for policy in &set.validating_policies {
                let validations = policy.object.spec.iter().flat_map(|spec| &spec.validations);
                let validations = validations.flatten();
                let expressions =
                    validations.map(|validation| ValidationExpression::new(&validation.expression));
                let name = policy.object.metadata.name.clone().unwrap_or_default();
                self.validations.insert(name, expressions.collect());
            }
            let mutating = set.mutating_policies.iter();
            self.others
                .extend(mutating.filter_map(|policy| policy.object.metadata.name.clone()));
            let validating = set.validating_webhooks.iter();
            let webhooks = validating.flat_map(|loaded| loaded.object.webhooks.iter().flatten());
            self.others.extend(webhooks.map(|webhook| webhook.name.clone()));
            let mutating = set.mutating_webhooks.iter();
            let webhooks = mutating.flat_map(|loaded| loaded.object.webhooks.iter().flatten());
            self.others.extend(webhooks.map(|webhook| webhook.name.clone()));
        }
    }

    /// The expression of a validation of a policy.
    pub(super) fn expression(
        &self,
        policy: &str,
        validation: Option<usize>,
    ) -> Option<&ValidationExpression> {
        self.validations.get(policy)?.get(validation?)
    }

    /// How many validations a validating policy has.
    pub(super) fn count_validations(&self, policy: &str) -> Option<usize> {
        self.validations.get(policy).map(Vec::len)
    }

    /// Whether a kind is one of Kubernetes. Without a release, none is known not to be.
    pub(super) fn has_kind(&self, kind: &str) -> bool {
        self.release.is_none_or(|release| {
            let resources = release.resources();
            let mut all = resources.served().iter().chain(resources.optional());
            all.any(|served| served.kind.kind == kind)
        })
    }

    /// Whether a policy, a webhook or a plugin has a name, or the server itself finds something under it.
    pub(super) fn has(&self, name: &str) -> bool {
        self.validations.contains_key(name)
            || self.others.contains(name)
            || admission_plugins::built_in(name).is_some()
            || [DroppedField::RULE, INVALID, SERVER_WARNING].contains(&name)
    }
}

impl ValidationExpression {
    /// That of a text of a policy.
    pub(super) fn new(text: &str) -> Self {
        let text = normalize(text);
        let mut hash = encode_to_string(Sha256::digest(text.as_bytes()));
        hash.truncate(HASH_DIGITS);
        ValidationExpression { text, hash }
    }

    /// What stands for it in a file.
    pub(super) fn hash(&self) -> &str {
        &self.hash
    }
}

/// An expression with a space for whatever is between its tokens, so that it may be folded otherwise in its file. Where a comment, an
/// escape or a quote of three makes it hard to tell what a string is, only the ends change: two expressions must never become one.
fn normalize(text: &str) -> String {
    let text = text.trim();
    if ["//", "\\", "'''", "\"\"\""]
        .iter()
        .any(|hard| text.contains(hard))
    {
        return text.to_owned();
    }
    let mut normal = String::with_capacity(text.len());
    let mut quote = None;
    for character in text.chars() {
        match quote {
            Some(open) if open == character => quote = None,
            None if matches!(character, '\'' | '"') => quote = Some(character),
            // Those that the grammar of CEL skips.
            None if matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{c}') => {
                if !normal.ends_with(' ') {
                    normal.push(' ');
                }
                continue;
            }
            Some(_) | None => {}
        }
        normal.push(character);
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_the_same_however_they_are_folded() {
        for (one, other, is_same) in [
            ("a == b", "  a ==\n    b\n", true),
            ("a == 'x  y'", "a == 'x y'", false),
            ("a == 'x' &&  b", "a == 'x' && b", true),
            ("a == \"it's  b\"", "a == \"it's b\"", false),
            ("a // b\n && c", "a // b && c", false),
            ("a == '''x  y'''", "a == '''x y'''", false),
            ("a == 'x\\'  y'", "a == 'x\\' y'", false),
            ("a == b", "a == c", false),
        ] {
            let (first, second) = (ValidationExpression::new(one), ValidationExpression::new(other));
            assert_eq!(first == second, is_same, "{one:?} {other:?}");
            assert_eq!(first.hash() == second.hash(), is_same, "{one:?} {other:?}");
        }
    }
}
