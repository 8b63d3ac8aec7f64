//! Exceptions: findings that somebody accepts for some objects, with a reason and perhaps until a date.

use pratique_manifest::Location;
use pratique_match::{Labels, Selector};

use super::finding_facts::FindingFacts;
use super::known_policies::{KnownPolicies, ValidationExpression};
use crate::evaluation::pod_findings::OF_PODS;
use crate::output::counted_nouns::counted;
use crate::output::problems;

/// An exception.
#[derive(Clone, Debug)]
pub(crate) struct PolicyException {
    /// The policy, webhook or plugin.
    pub(super) policy: String,
    /// Which of its validations; all where none is named.
    pub(super) validation: Option<ValidationName>,
    /// Kinds of objects; all where none is named, as with the lists that follow.
    pub(super) kinds: Vec<String>,
    /// Namespaces, in which `*` stands for any characters.
    pub(super) namespaces: Vec<String>,
    /// Names of objects, in the same way.
    pub(super) names: Vec<String>,
    /// Which labels the objects have.
    pub(super) selector: Option<Selector>,
    /// Why.
    pub(super) reason: String,
    /// The last day on which it holds: `2026-12-31`.
    pub(super) until: Option<String>,
    /// Where it is written.
    pub(super) location: Location,
}

/// A validation of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ValidationName {
    /// Its place in the policy, from 0.
    Index(usize),
    /// The message with which it fails, or its expression.
    Text {
        text: String,
        expression: ValidationExpression,
    },
}

impl PolicyException {
    /// Whether it accepts a finding.
    pub(super) fn accepts(&self, finding: &FindingFacts<'_>, labels: Labels<'_>) -> bool {
        self.policy == finding.policy
            && self.validation.as_ref().is_none_or(|name| name.names(finding))
            && has(&self.kinds, finding.kinds(), |kind, name| kind == name)
            && has(&self.namespaces, [finding.namespace], matches_pattern)
            && has(&self.names, finding.names(), matches_pattern)
            && self
                .selector
                .as_ref()
                .is_none_or(|selector| selector.matches(labels))
    }

    /// Whether its last day is before a day.
    pub(super) fn is_expired(&self, today: &str) -> bool {
        self.until.as_deref().is_some_and(|until| until < today)
    }

    /// Why it accepts nothing in a run with some policies.
    pub(super) fn why_unused(&self, policies: &KnownPolicies) -> String {
        let policy = &self.policy;
        if !policies.has(policy) {
            return format!("no policy, webhook or admission plugin is named {policy}");
        }
        if let (Some(ValidationName::Index(index)), Some(count)) =
            (&self.validation, policies.count_validations(policy))
            && *index >= count
        {
            let validations = counted(count, "validation", "validations");
            return format!("{policy} has {validations}, and none with the place {index}");
        }
        match self.unknown_kinds(policies) {
            None => format!("there is nothing of {policy} that it accepts"),
            Some(unknown) => format!("there is nothing of {policy} that it accepts; {unknown}"),
        }
    }

    fn unknown_kinds(&self, policies: &KnownPolicies) -> Option<String> {
        let unknown = self.kinds.iter().filter(|kind| !policies.has_kind(kind));
        let unknown: Vec<&str> = unknown.map(String::as_str).collect();
        (!unknown.is_empty()).then(|| format!("Kubernetes has no kind {}", unknown.join(", ")))
    }

    /// `file:line:column`
    pub(super) fn place(&self) -> String {
        problems::place(&self.location)
    }
}

impl ValidationName {
    /// A message or an expression.
    pub(super) fn new(text: &str) -> Self {
        ValidationName::Text {
            text: text.to_owned(),
            expression: ValidationExpression::new(text),
        }
    }

    fn names(&self, finding: &FindingFacts<'_>) -> bool {
        match self {
            ValidationName::Index(index) => finding.validation == Some(*index),
            ValidationName::Text { text, expression } => {
                let message = finding.message;
                // What is found in the Pods of a workload may be told as a finding about the workload.
                let of_pod = message.strip_prefix(OF_PODS).unwrap_or(message);
                [message, of_pod].contains(&text.as_str()) || finding.expression == Some(expression)
            }
        }
    }
}

/// Whether a list is empty, or has one of some names.
fn has<'n>(
    list: &[String],
    names: impl IntoIterator<Item = &'n str>,
    is_same: impl Fn(&str, &str) -> bool,
) -> bool {
    list.is_empty()
        || names
            .into_iter()
            .any(|name| list.iter().any(|listed| is_same(listed, name)))
}

/// Whether a name matches a pattern in which `*` stands for any characters.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    // The earliest place of each part leaves most to those that follow.
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name, expected) in [
            ("web", "web", true),
            ("web", "web-1", false),
            ("web-*", "web-1", true),
            ("*-canary", "web-canary", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*a", "a", false),
            ("*", "", true),
            ("", "web", false),
        ] {
            assert_eq!(matches_pattern(pattern, name), expected, "{pattern} {name}");
        }
    }
}
