//! Counts of decisions that add up.

mod example;
mod json;
mod table;

use std::collections::HashSet;

use example::FirstExamples;
pub use example::{FindingExample, FindingKind};
use json::JsonTally;
pub use json::TallyError;
pub(crate) use json::VERSION;
use serde::{Deserialize, Serialize};
pub use table::TallyTable;

use crate::{Counts, Decision, Evaluation};

/// The maximum length of a name, in bytes.
const MAX_NAME: usize = 512;

/// How much a tally holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Limits {
    /// Rows of each table.
    pub rows: usize,
    /// Combinations of policy, binding and action of which there are examples.
    pub example_kinds: usize,
    /// Examples of each of them.
    pub examples: usize,
}

impl Default for Limits {
    /// 5,000 rows, and 5 examples for each of 1,000 combinations.
    fn default() -> Self {
        Limits {
            rows: 5_000,
            example_kinds: 1_000,
            examples: 5,
        }
    }
}

/// Counts of decisions, with examples. Tallies of parts merge to the tally of the whole, in any order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "JsonTally", try_from = "JsonTally")]
pub struct Tally {
    limits: Limits,
    total: Counts,
    policies: TallyTable<2>,
    policy_namespaces: TallyTable<2>,
    namespaces: TallyTable<1>,
    kinds: TallyTable<2>,
    users: TallyTable<1>,
    owners: TallyTable<2>,
    examples: FirstExamples,
}

impl Tally {
    /// An empty tally.
    pub fn new(limits: Limits) -> Self {
        Tally {
            limits,
            total: Counts::default(),
            policies: TallyTable::default(),
            policy_namespaces: TallyTable::default(),
            namespaces: TallyTable::default(),
            kinds: TallyTable::default(),
            users: TallyTable::default(),
            owners: TallyTable::default(),
            examples: FirstExamples::default(),
        }
    }

    /// Counts a decision.
    pub fn count(&mut self, evaluation: &Evaluation<'_>) {
        let limit = self.limits.rows;
        let request = Counts::of_request(evaluation);
        self.total.add(request);
        self.namespaces.add([evaluation.namespace], request, limit);
        self.kinds
            .add([evaluation.api_version, evaluation.kind], request, limit);
        self.users.add([evaluation.user], request, limit);
        if evaluation.decision != Decision::Allowed || !evaluation.findings.is_empty() {
            self.owners
                .add([evaluation.namespace, evaluation.owner], request, limit);
        }
        // Several validations of a policy may fail for an object, which is counted once.
        let mut of_bindings = HashSet::new();
        let mut of_policies = HashSet::new();
        for finding in &evaluation.findings {
            let finding_counts = Counts::of_finding(finding);
            if of_bindings.insert((finding.policy, finding.binding, finding_counts)) {
                self.policies
                    .add([finding.policy, finding.binding], finding_counts, limit);
            }
            if of_policies.insert((finding.policy, finding_counts)) {
                self.policy_namespaces
                    .add([finding.policy, evaluation.namespace], finding_counts, limit);
            }
            let Limits {
                example_kinds,
                examples,
                ..
            } = self.limits;
            self.examples.add(evaluation, finding, example_kinds, examples);
        }
    }

    /// Adds another tally. The lower of their limits apply.
    pub fn merge(&mut self, other: Tally) {
        let limits = Limits {
            rows: self.limits.rows.min(other.limits.rows),
            example_kinds: self.limits.example_kinds.min(other.limits.example_kinds),
            examples: self.limits.examples.min(other.limits.examples),
        };
        self.limits = limits;
        self.total.add(other.total);
        self.policies.merge(other.policies, limits.rows);
        self.policy_namespaces.merge(other.policy_namespaces, limits.rows);
        self.namespaces.merge(other.namespaces, limits.rows);
        self.kinds.merge(other.kinds, limits.rows);
        self.users.merge(other.users, limits.rows);
        self.owners.merge(other.owners, limits.rows);
        self.examples
            .merge(other.examples, limits.example_kinds, limits.examples);
    }

    /// How much is held.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// All requests.
    pub fn total(&self) -> Counts {
        self.total
    }

    /// Requests in which something was found, by policy and binding.
    pub fn policies(&self) -> &TallyTable<2> {
        &self.policies
    }

    /// Requests in which something was found, by policy and namespace.
    pub fn policy_namespaces(&self) -> &TallyTable<2> {
        &self.policy_namespaces
    }

    /// Requests by namespace.
    pub fn namespaces(&self) -> &TallyTable<1> {
        &self.namespaces
    }

    /// Requests by API version and kind.
    pub fn kinds(&self) -> &TallyTable<2> {
        &self.kinds
    }

    /// Requests by user.
    pub fn users(&self) -> &TallyTable<1> {
        &self.users
    }

    /// Requests by namespace and owner: those that are not allowed, or in which something was found.
    pub fn owners(&self) -> &TallyTable<2> {
        &self.owners
    }

    /// Examples of what was found, the first ones in their order.
    pub fn examples(
        &self,
    ) -> impl Iterator<Item = (&FindingKind, impl ExactSizeIterator<Item = &FindingExample>)> {
        self.examples
            .0
            .iter()
            .map(|(kind, examples)| (kind, examples.iter()))
    }
}

fn bounded(name: &str) -> String {
    bounded_to(name, MAX_NAME)
}

/// A text that is shortened to a number of bytes, so that equal texts stay equal.
pub(crate) fn bounded_to(text: &str, limit: usize) -> String {
    const MARK: &str = "…";
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(limit.saturating_sub(MARK.len()));
    let kept = text.get(..end).unwrap_or_default();
    format!("{kept}{MARK}")
}

#[cfg(test)]
mod tests;
