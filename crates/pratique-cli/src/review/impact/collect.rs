//! Counts and prints what changes, in the order of the inputs.

use std::collections::BTreeMap;
use std::sync::Arc;

use pratique_report::{Action, ComparisonPage, Counts, Finding, Limits, Table, Tally};
use serde::Serialize;

use super::change::{Change, Row};
use super::work::Part;
use crate::arguments::{ImpactAnswerArguments, ImpactFormat, ReplayFailOn};
use crate::exit::{CliError, ExitStatus};
use crate::output::counted::{counted, noun};
use crate::output::table::table;
use crate::output::text::{Lines, Text, text};
use crate::output::{self, Printed};
use crate::review::input_errors::InputErrors;
use crate::review::progress::Progress;
use crate::review::replay::decided::{Decided, evaluation};
use crate::review::replay::faults::CountedFaults;
use crate::review::replay::share::ReadShare;
use crate::review::scan::written;
use crate::style::{Style, Tone};

/// How many rows of a table are printed, and how many examples of a policy.
const MAX_ROWS: usize = 20;
const MAX_EXAMPLES: usize = 3;
/// Of how many policies a refusal is explained.
const MAX_EXPLAINED: usize = 20;

/// Counts and prints what changes.
pub(super) struct Collector<'a> {
    arguments: &'a ImpactAnswerArguments,
    faults: CountedFaults,
    changes: BTreeMap<Change, u64>,
    unknown: BTreeMap<&'static str, u64>,
    approximations: BTreeMap<&'static str, u64>,
    not_subject: u64,
    /// What is newly refused, with what the new policies find; and newly allowed, with what the old ones found.
    refused: Tally,
    allowed: Tally,
    /// The policies that are undecided, old and new.
    undecided: Tally,
    explanations: BTreeMap<String, (String, Text)>,
    progress: Progress,
    share: Arc<ReadShare>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonImpact<'a> {
    requests: u64,
    same: u64,
    newly_refused: u64,
    newly_allowed: u64,
    undecided: u64,
    not_subject: u64,
    errors: usize,
    unknown: &'a BTreeMap<&'static str, u64>,
    approximations: &'a BTreeMap<&'static str, u64>,
    refused: &'a Tally,
    allowed: &'a Tally,
}

#[derive(Serialize)]
struct SummaryLine<'a> {
    summary: JsonImpact<'a>,
}

impl<'a> Collector<'a> {
    /// `errors` are those that were found before.
    pub(super) fn new(
        arguments: &'a ImpactAnswerArguments,
        errors: InputErrors,
        share: Arc<ReadShare>,
    ) -> Self {
        let tally = || Tally::new(Limits::default());
        Collector {
            arguments,
            faults: CountedFaults::new(errors),
            changes: BTreeMap::new(),
            unknown: BTreeMap::new(),
            approximations: BTreeMap::new(),
            not_subject: 0,
            refused: tally(),
            allowed: tally(),
            undecided: tally(),
            explanations: BTreeMap::new(),
            progress: Progress::new(arguments.output == ImpactFormat::Ndjson),
            share,
        }
    }

    /// Counts and prints what came of a part of the inputs.
    pub(super) fn collect(&mut self, part: Part) -> Result<(), CliError> {
        let fatal = self.faults.collect(part.faults, &mut self.progress);
        self.not_subject = self.not_subject.saturating_add(part.not_subject);
        let mut out = Printed::default();
        for row in part.rows {
            if self.arguments.output == ImpactFormat::Ndjson && row.change != Change::Same {
                out.json_line(&row)?;
            }
            self.count(row);
        }
        if out.len() > 0 {
            self.progress.clear();
        }
        out.print()?;
        let (requests, refused) = (self.requests(), self.of(Change::NewlyRefused));
        self.progress.show_line(|taken| {
            format!(
                "{} compared, {refused} newly refused{}",
                counted(requests, "request", "requests"),
                self.share.line(requests, taken)
            )
        });
        fatal.map_or(Ok(()), Err)
    }

    fn count(&mut self, row: Row) {
        let one_more = |count: &mut u64| *count = count.saturating_add(1);
        one_more(self.changes.entry(row.change).or_default());
        for told in &row.approximations {
            one_more(self.approximations.entry(told).or_default());
        }
        match row.change {
            Change::Same => {}
            Change::NewlyRefused => self.refused.count(&only(&row, &row.new, Action::Deny)),
            Change::NewlyAllowed => self.allowed.count(&only(&row, &row.old, Action::Deny)),
            Change::Undecided => {
                if let Some(why) = row.unknown {
                    one_more(self.unknown.entry(why).or_default());
                }
                let by = match row.new.undecided.is_empty() {
                    true => &row.old,
                    false => &row.new,
                };
                self.undecided.count(&only(&row, by, Action::Undecided));
            }
        }
        if let Some(explanation) = row.explanation {
            let findings = row.new.findings();
            let refuses = findings.iter().find(|finding| finding.action == Action::Deny);
            let policy = refuses
                .map(|finding| finding.policy.to_owned())
                .unwrap_or_default();
            if self.explanations.len() < MAX_EXPLAINED {
                let shown = format!("{}: {}", row.place, row.subject);
                self.explanations.entry(policy).or_insert((shown, explanation));
            }
        }
    }

    fn of(&self, change: Change) -> u64 {
        self.changes.get(&change).copied().unwrap_or_default()
    }

    fn requests(&self) -> u64 {
        self.changes
            .values()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Prints the counts, and gives the exit status.
    pub(super) fn end(mut self, inputs: &str) -> Result<ExitStatus, CliError> {
        self.progress.clear();
        let errors = self.faults.count();
        self.faults.tell_rest();
        if self.requests() + self.not_subject == 0 && errors == 0 {
            return Err(CliError::NothingToReview {
                inputs: inputs.to_owned(),
            });
        }
        self.write_page(inputs, errors)?;
        match self.arguments.output {
            ImpactFormat::Human => output::print(&self.human(errors, Style::of_stdout()))?,
            ImpactFormat::Json => output::print_json(&self.json(errors))?,
            ImpactFormat::Ndjson => {
                self.faults.print_json()?;
                let summary = self.json(errors);
                output::print_json_line(&SummaryLine { summary })?;
            }
        }
        Ok(self.status(errors))
    }

    /// Writes the page, if it is asked for.
    fn write_page(&self, inputs: &str, errors: usize) -> Result<(), CliError> {
        let [refused, allowed, undecided, same] = [
            Change::NewlyRefused,
            Change::NewlyAllowed,
            Change::Undecided,
            Change::Same,
        ]
        .map(|change| self.of(change));
        let lead = format!(
            "Of {}, {refused} {} newly refused.",
            counted(self.requests(), "request", "requests"),
            noun(refused, "is", "are")
        );
        let approximated = self.approximations.iter();
        let notes = approximated.map(|(told, count)| format!("approximated: {told} {count}"));
        let unknown = self
            .unknown
            .iter()
            .map(|(why, count)| format!("not known: {why} {count}"));
        let notes: Vec<String> = notes.chain(unknown).collect();
        let page = ComparisonPage {
            title: "What a change of policies does",
            lead: &lead,
            numbers: &[
                ("newly refused", refused),
                ("newly allowed", allowed),
                ("undecided", undecided),
                ("the same", same),
                ("not subject to admission", self.not_subject),
                ("not read", u64::try_from(errors).unwrap_or(u64::MAX)),
            ],
            sections: &[
                ("Newly refused", &self.refused),
                ("Newly allowed", &self.allowed),
                ("Undecided", &self.undecided),
            ],
            notes: &notes,
            about: &[("Inputs", inputs.to_owned())],
        };
        written::write_page(page, "impact", &self.arguments.report)
    }

    fn json(&self, errors: usize) -> JsonImpact<'_> {
        JsonImpact {
            requests: self.requests(),
            same: self.of(Change::Same),
            newly_refused: self.of(Change::NewlyRefused),
            newly_allowed: self.of(Change::NewlyAllowed),
            undecided: self.of(Change::Undecided),
            not_subject: self.not_subject,
            errors,
            unknown: &self.unknown,
            approximations: &self.approximations,
            refused: &self.refused,
            allowed: &self.allowed,
        }
    }

    fn human(&self, errors: usize, style: Style) -> Text {
        let mut out = text!(
            "{}: {} newly refused, {} newly allowed, {} undecided, {} the same\n",
            counted(self.requests(), "request", "requests"),
            self.of(Change::NewlyRefused),
            self.of(Change::NewlyAllowed),
            self.of(Change::Undecided),
            self.of(Change::Same)
        );
        if self.not_subject > 0 {
            out.push(&text!(
                "{} not subject to admission\n",
                counted(self.not_subject, "event is", "events are")
            ));
        }
        if errors > 0 {
            out.push(&text!("{}\n", counted(errors, "error", "errors")));
        }
        for (title, tone, tally) in [
            ("newly refused", Tone::Bad, &self.refused),
            ("newly allowed", Tone::Good, &self.allowed),
            ("undecided", Tone::Warning, &self.undecided),
        ] {
            if tally.total().requests() > 0 {
                out.push(&text!("\n{}\n{}", style.paint(tone, title), tables(tally)));
                out.push(&examples(tally, style));
            }
        }
        if !self.unknown.is_empty() {
            let unknown = self.unknown.iter().map(|(why, count)| format!("{why} {count}"));
            let unknown = unknown.collect::<Vec<_>>().join(", ");
            out.push(&text!("not in the log: {}\n", unknown));
        }
        if !self.approximations.is_empty() {
            let told = self
                .approximations
                .iter()
                .map(|(told, count)| format!("{told} {count}"));
            out.push(&text!("approximated: {}\n", told.collect::<Vec<_>>().join(", ")));
        }
        for (shown, explanation) in self.explanations.values() {
            out.push(&text!("\n{}\n{}", shown, explanation));
        }
        out
    }

    /// The exit status: refusals take precedence over errors, and these over what is undecided.
    fn status(&self, errors: usize) -> ExitStatus {
        let fails = |on: ReplayFailOn, holds: bool| holds && self.arguments.fail_on.contains(&on);
        let refused = self.of(Change::NewlyRefused) > self.arguments.max_new_refusals;
        if fails(ReplayFailOn::Refused, refused)
            || fails(ReplayFailOn::Allowed, self.of(Change::NewlyAllowed) > 0)
        {
            ExitStatus::Failure
        } else if fails(ReplayFailOn::Error, errors > 0) {
            ExitStatus::Unread
        } else if fails(ReplayFailOn::Undecided, self.of(Change::Undecided) > 0) {
            ExitStatus::Undecided
        } else {
            ExitStatus::Success
        }
    }
}

/// A decision with the findings of one action only.
fn only<'r>(row: &'r Row, decided: &'r Decided, action: Action) -> pratique_report::Evaluation<'r> {
    let mut evaluation = evaluation(&row.subject, decided, &row.place);
    evaluation
        .findings
        .retain(|finding: &Finding<'_>| finding.action == action);
    evaluation
}

/// The counts of a tally, by policy, namespace, user and owner.
fn tables(tally: &Tally) -> Text {
    let mut out = Text::new();
    let found = |counts: Counts| counts.denied.saturating_add(counts.undecided);
    out.push(&top(&["POLICY", "BINDING"], tally.policies(), found, |_| true));
    out.push(&top(&["NAMESPACE"], tally.namespaces(), requests, |_| true));
    out.push(&top(&["USER"], tally.users(), requests, |_| true));
    let is_owned = |[_, owner]: &[&str; 2]| !owner.is_empty();
    out.push(&top(&["NAMESPACE", "OWNER"], tally.owners(), requests, is_owned));
    out
}

/// The rows with the highest counts, of those that are shown.
fn top<const N: usize>(
    names: &[&str],
    counts: &Table<N>,
    of: impl Fn(Counts) -> u64,
    is_shown: impl Fn(&[&str; N]) -> bool,
) -> Text {
    let mut rows: Vec<([&str; N], u64)> = counts.rows().map(|(names, counts)| (names, of(counts))).collect();
    rows.retain(|(names, count)| *count > 0 && is_shown(names));
    if rows.is_empty() {
        return Text::new();
    }
    rows.sort_by(|(left_names, left), (right_names, right)| {
        right.cmp(left).then(left_names.cmp(right_names))
    });
    let more = rows.len().saturating_sub(MAX_ROWS);
    rows.truncate(MAX_ROWS);
    let cells = rows.iter().map(|(names, count)| {
        let shown = names.iter().map(|name| match *name {
            "" => "(none)".to_owned(),
            name => name.to_owned(),
        });
        shown.chain([count.to_string()]).collect()
    });
    let cells: Vec<Vec<String>> = cells.collect();
    let header: Vec<&str> = names.iter().copied().chain(["REQUESTS"]).collect();
    let mut out = table(&header, names.len(), &cells);
    if more > 0 {
        out.push(&text!("and {} more\n", more));
    }
    out
}

fn requests(counts: Counts) -> u64 {
    counts.requests()
}

fn examples(tally: &Tally, style: Style) -> Text {
    let mut out = Text::new();
    for (_, examples) in tally.examples() {
        for example in examples.take(MAX_EXAMPLES) {
            let name = match example.namespace.as_str() {
                "" => example.name.clone(),
                namespace => format!("{namespace}/{}", example.name),
            };
            let place = style.paint(Tone::Place, &example.place);
            let indent = "  ";
            let lines = Lines {
                text: &example.message,
                indent,
            };
            out.push(&text!(
                "{}: {} {} {} by {}\n  {}\n",
                place,
                example.operation,
                example.kind,
                name,
                example.user,
                lines
            ));
        }
    }
    out
}
