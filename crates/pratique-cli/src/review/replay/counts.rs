//! Counts of what a replay compared.

use std::collections::BTreeMap;

use pratique_replay::{Approximation, NotSubject, Unknown};
use pratique_report::Tally;
use serde::{Deserialize, Serialize};

use super::comparison::Comparison;
use super::row::Row;
use crate::output::table::table;
use crate::output::text::{Text, text};

/// How many names are counted of what refused requests then.
const MAX_NAMES: usize = 1000;

/// Counts of what a replay compared.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Counts {
    compared: BTreeMap<Comparison, u64>,
    unknown: BTreeMap<Unknown, u64>,
    not_subject: BTreeMap<NotSubject, u64>,
    approximations: BTreeMap<Approximation, u64>,
    /// By what refused requests then.
    refused_then: BTreeMap<String, u64>,
    refused_by_others: u64,
}

/// The counts as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JsonCounts<'a> {
    requests: u64,
    same: u64,
    refused_now: u64,
    allowed_now: u64,
    not_compared: u64,
    undecided: u64,
    errors: usize,
    /// Requests of which the log does not have enough, by why.
    unknown: &'a BTreeMap<Unknown, u64>,
    not_subject: &'a BTreeMap<NotSubject, u64>,
    approximations: &'a BTreeMap<Approximation, u64>,
    refused_then: &'a BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "is_zero")]
    forgotten_objects: u64,
    /// The decisions of now.
    now: &'a Tally,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn one_more<K: Ord>(counts: &mut BTreeMap<K, u64>, key: K) {
    let count = counts.entry(key).or_default();
    *count = count.saturating_add(1);
}

fn sum<K>(counts: &BTreeMap<K, u64>) -> u64 {
    counts.values().fold(0, |sum, count| sum.saturating_add(*count))
}

impl Counts {
    pub(super) fn count(&mut self, row: &Row) {
        one_more(&mut self.compared, row.comparison);
        if let (Some(unknown), Comparison::Undecided) = (row.unknown, row.comparison) {
            one_more(&mut self.unknown, unknown);
        }
        for told in &row.approximations {
            one_more(&mut self.approximations, *told);
        }
        if let Some(by) = row.then.by() {
            match self.refused_then.len() < MAX_NAMES || self.refused_then.contains_key(by) {
                true => one_more(&mut self.refused_then, by.to_owned()),
                false => self.refused_by_others = self.refused_by_others.saturating_add(1),
            }
        }
    }

    pub(super) fn count_not_subject(&mut self, why: NotSubject) {
        one_more(&mut self.not_subject, why);
    }

    pub(super) fn of(&self, comparison: Comparison) -> u64 {
        self.compared.get(&comparison).copied().unwrap_or_default()
    }

    /// The number of requests that admission was asked about.
    pub(super) fn requests(&self) -> u64 {
        sum(&self.compared)
    }

    /// The number of all entries.
    pub(super) fn entries(&self) -> u64 {
        self.requests().saturating_add(sum(&self.not_subject))
    }

    pub(super) fn json<'a>(&'a self, now: &'a Tally, errors: usize, forgotten: u64) -> JsonCounts<'a> {
        JsonCounts {
            requests: self.requests(),
            same: self.of(Comparison::Same),
            refused_now: self.of(Comparison::RefusedNow),
            allowed_now: self.of(Comparison::AllowedNow),
            not_compared: self.of(Comparison::NotCompared),
            undecided: self.of(Comparison::Undecided),
            errors,
            unknown: &self.unknown,
            not_subject: &self.not_subject,
            approximations: &self.approximations,
            refused_then: &self.refused_then,
            forgotten_objects: forgotten,
            now,
        }
    }

    /// The counts as tables.
    pub(super) fn human(&self, now: &Tally, errors: usize, forgotten: u64) -> Text {
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut row = |name: &str, count: u64| rows.push(vec![name.to_owned(), count.to_string()]);
        for comparison in [
            Comparison::Same,
            Comparison::RefusedNow,
            Comparison::AllowedNow,
            Comparison::NotCompared,
        ] {
            row(comparison.words(), self.of(comparison));
        }
        let not_compared = self.of(Comparison::NotCompared);
        if not_compared > 0 {
            row(
                "  refused then by what is not evaluated here, or failed",
                not_compared,
            );
        }
        let undecided = self.of(Comparison::Undecided);
        row(Comparison::Undecided.words(), undecided);
        for (why, count) in &self.unknown {
            row(&format!("  {why}"), *count);
        }
        let by_policies = undecided.saturating_sub(sum(&self.unknown));
        if by_policies > 0 {
            row("  a policy reads what is not known", by_policies);
        }
        row("not subject to admission", sum(&self.not_subject));
        for (why, count) in &self.not_subject {
            row(&format!("  {why}"), *count);
        }
        for (told, count) in &self.approximations {
            row(&format!("approximated: {told}"), *count);
        }
        for (by, count) in &self.refused_then {
            row(&format!("refused then by {by}"), *count);
        }
        if self.refused_by_others > 0 {
            row("refused then by others", self.refused_by_others);
        }
        if forgotten > 0 {
            row("objects that were forgotten (--remember)", forgotten);
        }
        if errors > 0 {
            row("errors", u64::try_from(errors).unwrap_or(u64::MAX));
        }
        let mut out = table(&["DECISION", "REQUESTS"], 1, &rows);
        let policies = now.policies().rows().map(|([policy, binding], counts)| {
            let or = |name: &str| match name {
                "" => "(none)".to_owned(),
                name => name.to_owned(),
            };
            let mut cells = vec![or(policy), or(binding)];
            cells.extend(
                [counts.denied, counts.warned, counts.audited, counts.undecided]
                    .map(|count| count.to_string()),
            );
            cells
        });
        let policies: Vec<Vec<String>> = policies.collect();
        if !policies.is_empty() {
            let header = ["POLICY", "BINDING", "DENIES", "WARNS", "AUDITS", "UNDECIDED"];
            out.push(&text!("\n{}", table(&header, 2, &policies)));
        }
        out
    }
}
