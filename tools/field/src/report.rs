//! The report about the repositories, as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::commands::CommandResults;
use super::expectations::TestExpectations;
use super::reference::ReferenceComparison;
use super::reproduce::WarningOutcome;

/// The outcomes of all warnings.
#[derive(Debug, Default)]
pub struct WarningReport {
    repositories: BTreeMap<String, RepositoryCounts>,
    /// The warnings, in the order of their files.
    pub rows: Vec<WarningRow>,
    /// Warnings that are about manifests, and not about what objects show.
    pub others: Vec<OtherWarning>,
}

/// A warning that no object shows.
#[derive(Debug)]
pub struct OtherWarning {
    /// The lint.
    pub lint: &'static str,
    /// `file:line`
    pub place: String,
    /// The warning.
    pub message: String,
}

/// The content of a repository.
#[derive(Debug, Default)]
pub struct RepositoryCounts {
    /// Files with manifests.
    pub files: usize,
    /// Documents that load.
    pub loaded: usize,
    /// Documents that do not, being templates.
    pub templates: usize,
    /// Why other documents do not load, each with its place.
    pub refused: Vec<String>,
    /// The results of its own tests.
    pub expectations: TestExpectations,
    /// The results of the commands on its manifests.
    pub commands: CommandResults,
    /// The decisions of the reference on the requests of its tests.
    pub of_tests: ReferenceComparison,
    /// The decisions of the reference on the reviewed objects.
    pub of_reviews: ReferenceComparison,
}

/// A warning.
#[derive(Debug)]
pub struct WarningRow {
    /// The repository.
    pub repository: String,
    /// The lint.
    pub lint: &'static str,
    /// `file:line`
    pub place: String,
    /// `spec.validations[0].expression`
    pub field: String,
    /// The expression that it is about; empty for a warning about a policy as a whole.
    pub expression: String,
    /// The warning.
    pub message: String,
    /// Whether it reproduces.
    pub outcome: WarningOutcome,
}

impl WarningReport {
    /// The counts of a repository.
    pub fn repository(&mut self, name: &str) -> &mut RepositoryCounts {
        self.repositories.entry(name.to_owned()).or_default()
    }

    /// How many warnings of a lint there are in a repository, and how many of them reproduce; of all where none is named.
    pub fn count(&self, repository: Option<&str>, lint: Option<&str>) -> (usize, usize) {
        let rows = self.rows.iter().filter(|row| {
            repository.is_none_or(|name| row.repository == name) && lint.is_none_or(|lint| row.lint == lint)
        });
        rows.fold((0, 0), |(all, reproduced_count), row| {
            (
                all + 1,
                reproduced_count + usize::from(row.outcome.is_reproduced()),
            )
        })
    }

    /// Whether a percentage of all warnings reproduces.
    pub fn is_good(&self, percent: usize) -> bool {
        let (all, reproduced_count) = self.count(None, None);
        reproduced_count * 100 >= all * percent
    }

    /// All of it.
    pub fn to_text(&self, verbose: bool) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "{:<60} {:>6} {:>6} {:>9} {:>7}",
            "repository", "files", "loaded", "templates", "refused"
        );
        for (name, counts) in &self.repositories {
            let _ = writeln!(
                out,
                "{name:<60} {:>6} {:>6} {:>9} {:>7}",
                counts.files,
                counts.loaded,
                counts.templates,
                counts.refused.len()
            );
            if verbose {
                counts
                    .refused
                    .iter()
                    .for_each(|refused| out.push_str(&indented(refused)));
            }
        }
        self.commands(&mut out);
        self.tests(&mut out);
        let _ = writeln!(
            out,
            "\n{:<60} {:<16} {:>8} {:>10} {:>4}",
            "repository", "lint", "warnings", "reproduced", "%"
        );
        for name in self.repositories.keys() {
            for lint in super::SHOWN {
                self.line(&mut out, Some(name), Some(lint));
            }
        }
        for lint in super::SHOWN {
            self.line(&mut out, None, Some(lint));
        }
        self.line(&mut out, None, None);
        self.other_warnings(&mut out, verbose);
        let listed_rows = self
            .rows
            .iter()
            .filter(|row| verbose || !row.outcome.is_reproduced());
        for row in listed_rows {
            let _ = writeln!(
                out,
                "\n{}: {} [{}]: {}",
                row.place, row.field, row.lint, row.message
            );
            out.push_str(&indented(&row.expression));
            let _ = writeln!(out, "  = {}", row.outcome);
        }
        out
    }

    /// How many warnings there are of lints that objects do not show.
    fn other_warnings(&self, out: &mut String, verbose: bool) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for warning in &self.others {
            *counts.entry(warning.lint).or_default() += 1;
        }
        for (lint, count) in counts {
            let _ = writeln!(out, "{:<60} {lint:<16} {count:>8}", "all, by their manifests");
        }
        for warning in self.others.iter().filter(|_| verbose) {
            let _ = writeln!(out, "\n{} [{}]: {}", warning.place, warning.lint, warning.message);
        }
    }

    /// The table of the repositories' own tests, and those that differ.
    fn tests(&self, out: &mut String) {
        let _ = writeln!(
            out,
            "\n{:<60} {:>8} {:>6} {:>6} {:>9} {:>7} {:>13} {:>9} {:>5}",
            "repository",
            "policies",
            "tests",
            "equal",
            "differing",
            "refused",
            "not evaluated",
            "reference",
            "same"
        );
        for (name, counts) in &self.repositories {
            let expectations = &counts.expectations;
            let _ = writeln!(
                out,
                "{name:<60} {:>8} {:>6} {:>6} {:>9} {:>7} {:>13} {:>9} {:>5}",
                expectations.policies.len(),
                expectations.tests(),
                expectations.equal,
                expectations.differing.len(),
                expectations.refused.len(),
                expectations.not_evaluated.values().sum::<usize>(),
                counts.of_tests.requests,
                counts.of_tests.same
            );
        }
        for counts in self.repositories.values() {
            for differing in &counts.expectations.differing {
                let _ = writeln!(out, "differs: {differing}");
            }
            for refused in &counts.expectations.refused {
                let _ = writeln!(out, "refused: {refused}");
            }
            for (why, count) in &counts.expectations.not_evaluated {
                let _ = writeln!(out, "not evaluated: {count}: {why}");
            }
            told_of_reference(out, &counts.of_tests);
        }
    }

    /// The table of what the commands say, and what is told of single manifests.
    fn commands(&self, out: &mut String) {
        let ran = |counts: &&RepositoryCounts| counts.commands.checked > 0;
        if !self.repositories.values().any(|counts| ran(&counts)) {
            return;
        }
        let _ = writeln!(
            out,
            "\n{:<60} {:>7} {:>6} {:>8} {:>7} {:>7} {:>9} {:>9} {:>5} {:>12}",
            "repository",
            "checked",
            "clean",
            "reviewed",
            "allowed",
            "denied",
            "undecided",
            "reference",
            "same",
            "not reviewed"
        );
        for (name, counts) in &self.repositories {
            let CommandResults {
                checked,
                clean,
                reviewed,
                decisions: [allowed, denied, undecided],
                not_reviewed,
                ..
            } = &counts.commands;
            let _ = writeln!(
                out,
                "{name:<60} {checked:>7} {clean:>6} {reviewed:>8} {allowed:>7} {denied:>7} {undecided:>9} {:>9} {:>5} {:>12}",
                counts.of_reviews.requests,
                counts.of_reviews.same,
                not_reviewed.len()
            );
        }
        for counts in self.repositories.values().filter(ran) {
            for invalid in &counts.commands.invalid {
                let _ = writeln!(out, "invalid: {invalid}");
            }
            for left in &counts.commands.not_reviewed {
                let _ = writeln!(out, "not reviewed: {left}");
            }
            told_of_reference(out, &counts.of_reviews);
        }
    }

    fn line(&self, out: &mut String, repository: Option<&str>, lint: Option<&str>) {
        let (all, reproduced_count) = self.count(repository, lint);
        // Of single repositories only what there is.
        if all == 0 && repository.is_some() {
            return;
        }
        let percent = (reproduced_count * 100).checked_div(all).unwrap_or(100);
        let _ = writeln!(
            out,
            "{:<60} {:<16} {all:>8} {reproduced_count:>10} {percent:>4}",
            repository.unwrap_or("all"),
            lint.unwrap_or("all")
        );
    }
}

fn told_of_reference(out: &mut String, compared: &ReferenceComparison) {
    for differing in &compared.differing {
        let _ = writeln!(out, "the reference differs: {differing}");
    }
    for unanswered in &compared.unanswered {
        let _ = writeln!(out, "not answered: {unanswered}");
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}
