//! Counts of what a replay compared.

use pratique_replay::{NotSubject, RequestApproximation, UnknownRequest};
use pratique_report::Tally;
use serde::{Deserialize, Serialize};

use super::comparison::DecisionComparison;
use super::counters::KeyedCounters;
use super::row::ReplayRow;
use crate::output::json::is_zero;
use crate::output::table::{or, table};
use crate::output::text::{PrintableText, text};

/// How many names are counted of what refused requests then.
const MAX_NAMES: usize = 1000;

/// Counts of what a replay compared.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ReplayCounts {
    compared: KeyedCounters<DecisionComparison>,
    unknown: KeyedCounters<UnknownRequest>,
    not_subject: KeyedCounters<NotSubject>,
    approximations: KeyedCounters<RequestApproximation>,
    /// By what refused requests then.
    refused_then: KeyedCounters<String>,
    refused_by_others: u64,
}

/// The counts as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JsonCounts<'a> {
    requests: u64,
    same: u64,
    refused_now: u64,
    #[serde(skip_serializing_if = "is_zero")]
    accepted: u64,
    allowed_now: u64,
    not_compared: u64,
    undecided: u64,
    errors: usize,
    /// Requests of which the log does not have enough, by why.
    unknown: &'a KeyedCounters<UnknownRequest>,
    not_subject: &'a KeyedCounters<NotSubject>,
    approximations: &'a KeyedCounters<RequestApproximation>,
    refused_then: &'a KeyedCounters<String>,
    #[serde(skip_serializing_if = "is_zero")]
    forgotten_objects: u64,
    /// The decisions of now.
    now: &'a Tally,
}

impl ReplayCounts {
    pub(super) fn count(&mut self, row: &ReplayRow) {
        self.compared.add(row.comparison);
        if let (Some(unknown), DecisionComparison::Undecided) = (row.unknown, row.comparison) {
            self.unknown.add(unknown);
        }
        for approximation in &row.approximations {
            self.approximations.add(*approximation);
        }
        if let Some(by) = row.then.by() {
            let by = by.to_owned();
            if self.refused_then.len() < MAX_NAMES || self.refused_then.count_of(&by) > 0 {
                self.refused_then.add(by)
            } else {
                self.refused_by_others = self.refused_by_others.saturating_add(1)
            }
        }
    }

    pub(super) fn count_not_subject(&mut self, why: NotSubject) {
        self.not_subject.add(why);
    }

    pub(super) fn count_of(&self, comparison: DecisionComparison) -> u64 {
        self.compared.count_of(&comparison)
    }

    /// The number of requests that admission was asked about.
    pub(super) fn requests(&self) -> u64 {
        self.compared.total()
    }

    /// The number of all entries.
    pub(super) fn entries(&self) -> u64 {
        self.requests().saturating_add(self.not_subject.total())
    }

    /// Whether there is an entry of an audit log, and not only of others.
    pub(super) fn has_events(&self) -> bool {
        self.entries() > self.not_subject.count_of(&NotSubject::OtherLog)
    }

    pub(super) fn json<'a>(&'a self, now: &'a Tally, errors: usize, forgotten: u64) -> JsonCounts<'a> {
        JsonCounts {
            requests: self.requests(),
            same: self.count_of(DecisionComparison::Same),
            refused_now: self.count_of(DecisionComparison::RefusedNow),
            accepted: self.count_of(DecisionComparison::Accepted),
            allowed_now: self.count_of(DecisionComparison::AllowedNow),
            not_compared: self.count_of(DecisionComparison::NotCompared),
            undecided: self.count_of(DecisionComparison::Undecided),
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
    pub(super) fn human(&self, now: &Tally, errors: usize, forgotten: u64) -> PrintableText {
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut row = |name: &str, count: u64| rows.push(vec![name.to_owned(), count.to_string()]);
        for comparison in [
            DecisionComparison::Same,
            DecisionComparison::RefusedNow,
            DecisionComparison::Accepted,
            DecisionComparison::AllowedNow,
            DecisionComparison::NotCompared,
        ] {
            let count = self.count_of(comparison);
            if count > 0 || comparison != DecisionComparison::Accepted {
                row(comparison.label(), count);
            }
        }
        let not_compared = self.count_of(DecisionComparison::NotCompared);
        if not_compared > 0 {
            row(
                "  refused then by what is not evaluated here, or failed",
                not_compared,
            );
        }
        let undecided = self.count_of(DecisionComparison::Undecided);
        row(DecisionComparison::Undecided.label(), undecided);
        for (why, count) in self.unknown.iter() {
            row(&format!("  {why}"), count);
        }
        let by_policies = undecided.saturating_sub(self.unknown.total());
        if by_policies > 0 {
            row("  a policy reads what is not known", by_policies);
        }
        row("not subject to admission", self.not_subject.total());
        for (why, count) in self.not_subject.iter() {
            row(&format!("  {why}"), count);
        }
        for (approximation, count) in self.approximations.iter() {
            row(&format!("approximated: {approximation}"), count);
        }
        for (by, count) in self.refused_then.iter() {
            row(&format!("refused then by {by}"), count);
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
            let names = [policy, binding].map(|name| or(name, "(none)").to_owned());
            let counts = [counts.denied, counts.warned, counts.audited, counts.undecided];
            names
                .into_iter()
                .chain(counts.map(|count| count.to_string()))
                .collect()
        });
        let policies: Vec<Vec<String>> = policies.collect();
        if !policies.is_empty() {
            let header = ["POLICY", "BINDING", "DENIES", "WARNS", "AUDITS", "UNDECIDED"];
            out.push(&text!("\n{}", table(&header, 2, &policies)));
        }
        out
    }
}
