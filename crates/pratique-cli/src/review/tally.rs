//! Counts of what was decided.

use std::collections::{BTreeMap, BTreeSet};

use pratique_report::{Action, Decision};
use serde::Serialize;

use crate::evaluation::record::DecisionRecord;
use crate::evaluation::undecided_reasons::UndecidedReasons;
use crate::output::counted_nouns::{counted, noun};
use crate::output::json::is_zero;
use crate::output::table::{or, table};
use crate::output::text::{PrintableText, text};

/// The maximum number of rows of a table: names may be anything.
const MAX_ROWS: usize = 10_000;

/// The numbers of requests by decision, and of what policies decided.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct ReviewTally {
    pub(super) allowed: usize,
    pub(super) denied: usize,
    pub(super) undecided: usize,
    /// Those that are denied, and whose denials are accepted.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) accepted: usize,
    /// How often policies, or the server itself, warned.
    pub(super) warned: usize,
    /// How often policies recorded a failed validation for the audit log.
    pub(super) audited: usize,
    /// How often validations ended with errors that failure policies ignore.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) ignored: usize,
    /// Those that a step of the chain refused, so that the steps after it were not run.
    #[serde(skip_serializing_if = "is_zero")]
    stopped: usize,
    /// By policy and namespace.
    #[serde(serialize_with = "rows")]
    policies: BTreeMap<String, BTreeMap<String, NamespaceRow>>,
    /// How many rows there are.
    #[serde(skip)]
    count: usize,
    /// How many decisions are in no row, as there are too many.
    #[serde(skip_serializing_if = "is_zero")]
    others: usize,
    /// What is missing for decisions.
    #[serde(
        rename = "undecidedReasons",
        skip_serializing_if = "UndecidedReasons::is_empty"
    )]
    pub(super) reasons: UndecidedReasons,
}

/// Of how many objects in a namespace a policy took each action.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct NamespaceRow {
    denied: usize,
    warned: usize,
    audited: usize,
    undecided: usize,
    /// Objects of which something that the policy found is accepted.
    #[serde(skip_serializing_if = "is_zero")]
    accepted: usize,
}

/// A row as JSON.
#[derive(Serialize)]
struct JsonRow<'a> {
    policy: &'a str,
    namespace: &'a str,
    #[serde(flatten)]
    row: NamespaceRow,
}

fn rows<S: serde::Serializer>(
    rows: &BTreeMap<String, BTreeMap<String, NamespaceRow>>,
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_seq(rows.iter().flat_map(|(policy, rows)| {
        rows.iter().map(move |(namespace, row)| JsonRow {
            policy,
            namespace,
            row: *row,
        })
    }))
}

impl NamespaceRow {
    fn add(&mut self, other: NamespaceRow) {
        self.denied += other.denied;
        self.warned += other.warned;
        self.audited += other.audited;
        self.undecided += other.undecided;
        self.accepted += other.accepted;
    }
}

impl ReviewTally {
    /// Counts a decision.
    pub(super) fn count(&mut self, record: &DecisionRecord) {
        match record.decision {
            Decision::Allowed => self.allowed += 1,
            Decision::Denied | Decision::Error => self.denied += 1,
            Decision::Undecided | Decision::Failed => self.undecided += 1,
            Decision::Accepted => self.accepted += 1,
        }
        // What refuses a Pod is counted with the Pod.
        let refuses_pod = record.pods.iter().any(|pod| pod.decision.denies());
        self.stopped += usize::from(record.refused_by.is_some() && !refuses_pod);
        for decision in &record.policies {
            match decision.action {
                Action::Warn => self.warned += 1,
                Action::Audit => self.audited += 1,
                Action::Ignore => self.ignored += 1,
                // A denial is counted with the decision, and the others are no decisions of a policy: each has a count of its own.
                Action::Deny | Action::Undecided | Action::Accepted => {}
            }
        }
        self.warned += record.server_warnings.len() + record.dropped.len();
        self.reasons.count(record);
        // Several validations of a policy may fail for an object, which is counted once.
        let causes: BTreeSet<_> = record.causes().map(|(cause, policy)| (policy, cause)).collect();
        for (policy, cause) in causes {
            let one = |action| usize::from(cause == action);
            let row = NamespaceRow {
                denied: one(Action::Deny),
                warned: one(Action::Warn),
                audited: one(Action::Audit),
                undecided: one(Action::Undecided),
                accepted: 0,
            };
            self.add_row(policy.unwrap_or_default(), &record.namespace, row);
        }
        let accepted: BTreeSet<&str> = record
            .accepted
            .iter()
            .map(|finding| finding.policy.as_str())
            .collect();
        for policy in accepted {
            let row = NamespaceRow {
                accepted: 1,
                ..NamespaceRow::default()
            };
            self.add_row(policy, &record.namespace, row);
        }
    }

    fn add_row(&mut self, policy: &str, namespace: &str, row: NamespaceRow) {
        let rows = self.policies.get_mut(policy);
        match rows.and_then(|rows| rows.get_mut(namespace)) {
            Some(existing_row) => existing_row.add(row),
            None if self.count >= MAX_ROWS => self.others += 1,
            None => {
                let rows = self.policies.entry(policy.to_owned()).or_default();
                rows.insert(namespace.to_owned(), row);
                self.count += 1;
            }
        }
    }

    /// Adds the counts of a later part.
    pub(super) fn add(&mut self, other: ReviewTally) {
        self.allowed += other.allowed;
        self.denied += other.denied;
        self.undecided += other.undecided;
        self.accepted += other.accepted;
        self.warned += other.warned;
        self.audited += other.audited;
        self.ignored += other.ignored;
        self.stopped += other.stopped;
        self.others += other.others;
        self.reasons.add(other.reasons);
        for (policy, rows) in other.policies {
            for (namespace, row) in rows {
                self.add_row(&policy, &namespace, row);
            }
        }
    }

    /// The counts on a line: `3 allowed, 1 denied`.
    pub(super) fn line(&self, errors: usize) -> String {
        let more = |count: usize, what: &str| match count {
            0 => String::new(),
            count => format!(", {count} {what}"),
        };
        format!(
            "{} allowed, {} denied{}{}{}{}{}{}",
            self.allowed,
            self.denied,
            more(self.accepted, "accepted"),
            more(self.undecided, "undecided"),
            more(self.warned, noun(self.warned, "warning", "warnings")),
            more(self.audited, "audited"),
            more(
                self.ignored,
                noun(self.ignored, "error ignored", "errors ignored")
            ),
            more(errors, noun(errors, "error", "errors")),
        )
    }

    /// Says that a server stops at the first step that refuses: a later one may refuse as well, once that is mended.
    pub(super) fn describe_stopped(&self) -> PrintableText {
        match self.stopped {
            0 => PrintableText::new(),
            stopped => text!(
                "as on a server, no step was run after the one that refused ({}): `pratique scan --chain` asks each plugin\n",
                counted(stopped, "object", "objects")
            ),
        }
    }

    /// A table by policy and namespace, with what its numbers count: the line that follows it counts each warning.
    pub(super) fn table(&self) -> PrintableText {
        let mut counts = self.policies.values().flat_map(BTreeMap::values);
        // As in scans, the column is there if something is accepted.
        let columns = if counts.any(|row| row.accepted > 0) { 5 } else { 4 };
        let rows = self.policies.iter();
        let rows = rows.flat_map(|(policy, rows)| rows.iter().map(move |row| (policy, row)));
        let rows = rows.map(|(policy, (namespace, row))| {
            let names = [or(policy, "(no policy)"), or(namespace, "(none)")].map(str::to_owned);
            let counts = [row.denied, row.warned, row.audited, row.undecided, row.accepted];
            let counts = counts.into_iter().take(columns).map(|count| count.to_string());
            names.into_iter().chain(counts).collect()
        });
        let rows: Vec<Vec<String>> = rows.collect();
        if rows.is_empty() {
            return text!("no policy denies, warns, records or is undecided\n");
        }
        let header = [
            "POLICY",
            "NAMESPACE",
            "DENIED",
            "WARNED",
            "AUDITED",
            "UNDECIDED",
            "ACCEPTED",
        ];
        let header: Vec<&str> = header.into_iter().take(2 + columns).collect();
        let mut out = text!("objects by policy and namespace:\n{}", table(&header, 2, &rows));
        if self.others > 0 {
            out.push(&text!("and {} more\n", self.others));
        }
        out
    }
}
