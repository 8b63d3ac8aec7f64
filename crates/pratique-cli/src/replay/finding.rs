//! Requests to print: those that are decided otherwise than then, and undecided ones, of which most have the same reasons.

use std::collections::BTreeSet;

use super::comparison::DecisionComparison;
use super::row::ReplayRow;
use crate::output::counted_nouns::counted;
use crate::output::text::{PrintableText, text};
use crate::style::StreamStyle;

/// How many requests that are decided otherwise than then are printed.
const MAX_CHANGED: usize = 50;
/// How many reasons are kept to be told once.
const MAX_TOLD: usize = 1000;

/// A request to print.
pub(super) struct ReplayFinding {
    text: PrintableText,
    /// Why it is undecided; `None` if it is decided.
    reasons: Option<Vec<String>>,
}

/// What was printed of findings, and what was left out.
#[derive(Debug, Default)]
pub(super) struct PrintedFindings {
    prints_all: bool,
    told: BTreeSet<String>,
    changed: usize,
    left_out: usize,
    undecided: usize,
}

impl ReplayFinding {
    /// The finding of a row, as it is printed in a style.
    pub(super) fn new(row: &ReplayRow, style: StreamStyle) -> Self {
        let is_undecided = row.comparison == DecisionComparison::Undecided;
        ReplayFinding {
            text: row.human(style),
            reasons: is_undecided.then(|| {
                let unknown = row.unknown.map(|unknown| unknown.name().to_owned());
                let undecided = row
                    .now
                    .undecided
                    .iter()
                    .map(|undecided| format!("{:?}", undecided.reason()));
                unknown.into_iter().chain(undecided).collect()
            }),
        }
    }
}

impl PrintedFindings {
    /// Nothing was printed yet; with `prints_all`, nothing is left out.
    pub(super) fn new(prints_all: bool) -> Self {
        PrintedFindings {
            prints_all,
            ..PrintedFindings::default()
        }
    }

    /// What is printed of a finding.
    pub(super) fn print(&mut self, finding: ReplayFinding) -> PrintableText {
        let ReplayFinding { text, reasons } = finding;
        let Some(reasons) = reasons else {
            self.changed += 1;
            if self.prints_all || self.changed <= MAX_CHANGED {
                return text;
            }
            self.left_out += 1;
            return PrintableText::new();
        };
        let is_told = reasons.iter().all(|reason| self.told.contains(reason));
        if is_told && !self.prints_all {
            self.undecided += 1;
            return PrintableText::new();
        }
        // Those that are not kept are told again.
        let room = MAX_TOLD.saturating_sub(self.told.len());
        self.told.extend(reasons.into_iter().take(room));
        text
    }

    /// How many requests were not printed; nothing if all were.
    pub(super) fn left_out(&self) -> PrintableText {
        let mut parts = Vec::new();
        if self.left_out > 0 {
            parts.push(format!("{} more decided otherwise than then", self.left_out));
        }
        if self.undecided > 0 {
            parts.push(format!("{} more undecided for the same reasons", self.undecided));
        }
        if parts.is_empty() {
            return PrintableText::new();
        }
        let requests = counted(self.left_out + self.undecided, "request is", "requests are");
        text!(
            "{} not listed ({}): --all lists them\n",
            requests,
            parts.join(", ")
        )
    }
}
