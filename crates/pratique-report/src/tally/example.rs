//! Examples of what policies found.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{bounded, bounded_to};
use crate::{Action, Decision, Evaluation, Finding};

/// The maximum length of a message, in bytes.
pub(super) const MAX_MESSAGE: usize = 2048;

/// What examples are kept of: findings of a policy with a binding and an action.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindingKind {
    /// The policy, webhook or plugin.
    pub policy: String,
    /// The binding.
    pub binding: String,
    /// What follows.
    pub action: Action,
}

/// A request in which something was found. Examples are ordered by their fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindingExample {
    /// The namespace of the request.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The group and version of the object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// The kind of the object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The name of the object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// When the request was made.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub time: String,
    /// The operation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub operation: String,
    /// The user who sends the request.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// What controls the object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub owner: String,
    /// Where the request was found.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// The decision on the request.
    pub decision: Decision,
    /// Whether an error led to the finding.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The message for the user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// The first examples of the first kinds of findings, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FirstExamples(pub(super) BTreeMap<FindingKind, BTreeSet<FindingExample>>);

impl FindingExample {
    fn new(evaluation: &Evaluation<'_>, finding: &Finding<'_>) -> Self {
        FindingExample {
            namespace: bounded(evaluation.namespace),
            api_version: bounded(evaluation.api_version),
            kind: bounded(evaluation.kind),
            name: bounded(evaluation.name),
            time: bounded(evaluation.time),
            operation: bounded(evaluation.operation),
            user: bounded(evaluation.user),
            owner: bounded(evaluation.owner),
            place: bounded(evaluation.place),
            decision: evaluation.decision,
            is_error: finding.is_error,
            message: bounded_to(finding.message, MAX_MESSAGE),
        }
    }

    /// Whether no text is longer than those that are kept.
    pub(super) fn is_bounded(&self) -> bool {
        let texts = [
            &self.namespace,
            &self.api_version,
            &self.kind,
            &self.name,
            &self.time,
            &self.operation,
            &self.user,
            &self.owner,
            &self.place,
        ];
        texts.iter().all(|text| bounded(text) == **text)
            && bounded_to(&self.message, MAX_MESSAGE) == self.message
    }
}

impl FirstExamples {
    /// Adds a finding, if it is among the first `per_kind` of its kind, and that among the first `kinds`.
    pub(super) fn add(
        &mut self,
        evaluation: &Evaluation<'_>,
        finding: &Finding<'_>,
        kinds: usize,
        per_kind: usize,
    ) {
        let kind = FindingKind {
            policy: bounded(finding.policy),
            binding: bounded(finding.binding),
            action: finding.action,
        };
        if let Some(known_examples) = self.0.get(&kind)
            && known_examples.len() >= per_kind
            && known_examples
                .last()
                .is_none_or(|last| !may_precede(evaluation, last))
        {
            return;
        }
        self.insert(kind, [FindingExample::new(evaluation, finding)], kinds, per_kind);
    }

    pub(super) fn merge(&mut self, other: Self, kinds: usize, per_kind: usize) {
        for (kind, examples) in std::mem::take(&mut self.0).into_iter().chain(other.0) {
            self.insert(kind, examples, kinds, per_kind);
        }
    }

    fn insert(
        &mut self,
        kind: FindingKind,
        examples: impl IntoIterator<Item = FindingExample>,
        kinds: usize,
        per_kind: usize,
    ) {
        let kind_examples = self.0.entry(kind).or_default();
        for example in examples {
            kind_examples.insert(example);
            while kind_examples.len() > per_kind {
                kind_examples.pop_last();
            }
        }
        while self.0.len() > kinds {
            self.0.pop_last();
        }
    }
}

/// Whether an evaluation may come before an example; if not, none has to be made of it.
fn may_precede(evaluation: &Evaluation<'_>, example: &FindingExample) -> bool {
    bounded(evaluation.namespace) <= example.namespace
}
