//! Tallies as JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::table::JsonTable;
use super::{FindingExample, FindingKind, FirstExamples, Limits, Tally, TallyTable, bounded};
use crate::Counts;

/// The version of the JSON forms.
pub(crate) const VERSION: &str = "pratique/v1alpha1";
const KIND: &str = "Tally";

/// Why a text is not a tally.
#[derive(Debug, thiserror::Error)]
pub enum TallyError {
    /// It is not JSON of the form of a tally.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// It is of another kind or version.
    #[error("expected a {KIND} of {VERSION}, and it is a {kind} of {api_version}")]
    Version {
        /// Its version.
        api_version: String,
        /// Its kind.
        kind: String,
    },
    /// Its rows or examples are not as a tally has them: ordered, distinct, bounded.
    #[error("{table}: its rows are not those of a tally: {why}")]
    Rows {
        /// The table.
        table: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct JsonTally {
    api_version: String,
    kind: String,
    limits: Limits,
    total: Counts,
    policies: JsonTable,
    policy_namespaces: JsonTable,
    namespaces: JsonTable,
    kinds: JsonTable,
    users: JsonTable,
    owners: JsonTable,
    examples: Vec<JsonExamples>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonExamples {
    of: FindingKind,
    examples: Vec<FindingExample>,
}

impl Tally {
    /// The tally as JSON, in which equal tallies are equal.
    pub fn to_json(&self) -> String {
        // Nothing in it can fail: it has texts and numbers.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The tally of a JSON text, in the form of [`to_json`](Self::to_json). What that would not write is an error.
    pub fn from_json(text: &str) -> Result<Self, TallyError> {
        serde_json::from_str::<JsonTally>(text)?.try_into()
    }
}

impl From<Tally> for JsonTally {
    fn from(tally: Tally) -> Self {
        let examples = tally.examples.0.into_iter().map(|(of, examples)| JsonExamples {
            of,
            examples: examples.into_iter().collect(),
        });
        JsonTally {
            api_version: VERSION.to_owned(),
            kind: KIND.to_owned(),
            limits: tally.limits,
            total: tally.total,
            policies: tally.policies.into(),
            policy_namespaces: tally.policy_namespaces.into(),
            namespaces: tally.namespaces.into(),
            kinds: tally.kinds.into(),
            users: tally.users.into(),
            owners: tally.owners.into(),
            examples: examples.collect(),
        }
    }
}

impl TryFrom<JsonTally> for Tally {
    type Error = TallyError;

    fn try_from(json: JsonTally) -> Result<Self, TallyError> {
        if json.api_version != VERSION || json.kind != KIND {
            return Err(TallyError::Version {
                api_version: json.api_version,
                kind: json.kind,
            });
        }
        let rows = json.limits.rows;
        let tally = Tally {
            limits: json.limits,
            total: json.total,
            policies: table("policies", json.policies, rows)?,
            policy_namespaces: table("policyNamespaces", json.policy_namespaces, rows)?,
            namespaces: table("namespaces", json.namespaces, rows)?,
            kinds: table("kinds", json.kinds, rows)?,
            users: table("users", json.users, rows)?,
            owners: table("owners", json.owners, rows)?,
            examples: examples(json.examples, json.limits)?,
        };
        let sums = [
            ("namespaces", tally.namespaces.sum()),
            ("kinds", tally.kinds.sum()),
            ("users", tally.users.sum()),
        ];
        match sums.into_iter().find(|(_, sum)| *sum != tally.total) {
            Some((table, _)) => Err(TallyError::Rows {
                table,
                why: "they do not add up to the total",
            }),
            // A request that two bindings of a policy refuse is one of each, and one of the policy.
            None if !tally.policies.sum().covers(tally.policy_namespaces.sum()) => Err(TallyError::Rows {
                table: "policyNamespaces",
                why: "they add up to more than those of the policies",
            }),
            None => Ok(tally),
        }
    }
}

fn table<const N: usize>(
    name: &'static str,
    json: JsonTable,
    limit: usize,
) -> Result<TallyTable<N>, TallyError> {
    let wrong = |why| TallyError::Rows { table: name, why };
    if json.rows.len() > limit {
        return Err(wrong("there are more than its limits say"));
    }
    if json.rows.len() < limit && !json.other.is_empty() {
        return Err(wrong("there would be place for what is counted as other"));
    }
    let mut rows: BTreeMap<[String; N], Counts> = BTreeMap::new();
    for row in json.rows {
        let key: [String; N] = row
            .key
            .try_into()
            .map_err(|_| wrong("a key has another length"))?;
        if key.iter().any(|name| bounded(name) != *name) {
            return Err(wrong("a name is too long"));
        }
        if rows.last_key_value().is_some_and(|(last, _)| *last >= key) {
            return Err(wrong("they are not in order, or twice"));
        }
        rows.insert(key, row.counts);
    }
    Ok(TallyTable {
        rows,
        other: json.other,
    })
}

fn examples(json: Vec<JsonExamples>, limits: Limits) -> Result<FirstExamples, TallyError> {
    let wrong = |why| TallyError::Rows {
        table: "examples",
        why,
    };
    if json.len() > limits.example_kinds {
        return Err(wrong("there are more than its limits say"));
    }
    let mut all: BTreeMap<FindingKind, BTreeSet<FindingExample>> = BTreeMap::new();
    for JsonExamples { of, examples } in json {
        if examples.len() > limits.examples {
            return Err(wrong("there are more than its limits say"));
        }
        let is_bounded = examples.iter().all(FindingExample::is_bounded);
        if !is_bounded || bounded(&of.policy) != of.policy || bounded(&of.binding) != of.binding {
            return Err(wrong("a text is too long"));
        }
        let is_ordered = examples.is_sorted_by(|first, second| first < second);
        if !is_ordered || all.last_key_value().is_some_and(|(last, _)| *last >= of) {
            return Err(wrong("they are not in order, or twice"));
        }
        all.insert(of, examples.into_iter().collect());
    }
    Ok(FirstExamples(all))
}
