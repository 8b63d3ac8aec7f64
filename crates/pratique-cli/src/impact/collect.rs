//! Counts and prints what changes, in the order of the inputs.

use std::collections::BTreeSet;
use std::sync::Arc;

use pratique_replay::{RequestApproximation, UnknownRequest};
use pratique_report::{ComparisonPage, Counts, Tally, TallyTable};
use pratique_review::PodPolicies;
use serde::Serialize;

use super::change::DecisionChange;
use super::report::ImpactReport;
use super::work::ImpactPart;
use crate::acceptance::{AcceptanceRules, AcceptanceSummary, JsonAcceptance};
use crate::arguments::{ComparisonFailOn, ImpactAnswerArguments, ImpactFormat};
use crate::evaluation::limitations;
use crate::evaluation::record::namespaced;
use crate::evaluation::summary::EvaluationSummary;
use crate::exit::{CliError, ExitStatus};
use crate::output::counted_nouns::{counted, noun};
use crate::output::json::is_zero;
use crate::output::notice::InputNotice;
use crate::output::table::{or, table};
use crate::output::text::{IndentedLines, PrintableText, text};
use crate::output::{self, PrintedOutput, json};
use crate::output_target::{self, OutputTarget, style_of};
use crate::project;
use crate::replay::counters::KeyedCounters;
use crate::replay::share::ReadShare;
use crate::review::review_error::ReviewError;
use crate::scan::report_files;
use crate::stream::checkpoint::CheckpointWriter;
#[cfg(feature = "kube")]
use crate::stream::checkpoint::{ResumableCounts as _, report_lost};
use crate::stream::progress::ProgressLine;
use crate::style::{StreamStyle, TextTone};

/// How many rows of a table are printed, and how many examples of a policy.
const MAX_ROWS: usize = 20;
const MAX_EXAMPLES: usize = 3;

/// Counts and prints what changes.
pub(super) struct ImpactCollector<'a> {
    arguments: &'a ImpactAnswerArguments,
    pub(super) report: ImpactReport,
    progress: ProgressLine,
    pub(super) outputs: Vec<OutputTarget<ImpactFormat>>,
    share: Arc<ReadShare>,
    checkpoints: Option<CheckpointWriter>,
    evaluated: EvaluationSummary,
    acceptance: &'a AcceptanceRules,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonImpact<'a> {
    requests: u64,
    same: u64,
    newly_refused: u64,
    #[serde(skip_serializing_if = "is_zero")]
    accepted: u64,
    newly_allowed: u64,
    undecided: u64,
    not_subject: u64,
    changed_meanwhile: u64,
    errors: usize,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    notes: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notices: Vec<InputNotice>,
    /// What was evaluated, and what was not.
    evaluated: &'a str,
    unknown: &'a KeyedCounters<UnknownRequest>,
    approximations: &'a KeyedCounters<RequestApproximation>,
    refused: &'a Tally,
    allowed: &'a Tally,
    /// What exceptions and a baseline accept.
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted_findings: Option<JsonAcceptance>,
}

impl<'a> ImpactCollector<'a> {
    /// `report` has what was counted before.
    pub(super) fn new(
        arguments: &'a ImpactAnswerArguments,
        acceptance: &'a AcceptanceRules,
        evaluated: EvaluationSummary,
        report: ImpactReport,
        share: Arc<ReadShare>,
        checkpoints: Option<CheckpointWriter>,
    ) -> Self {
        let mut report = report;
        let prints_report = arguments.outputs.is_printed(ImpactFormat::Human);
        report.notices.leave_to_report(prints_report);
        ImpactCollector {
            arguments,
            report,
            progress: ProgressLine::new(arguments.outputs.is_printed(ImpactFormat::Ndjson)),
            outputs: Vec::new(),
            share,
            checkpoints,
            evaluated,
            acceptance,
        }
    }

    /// Counts and prints what came of a part of the inputs.
    pub(super) fn collect(&mut self, mut part: ImpactPart) -> Result<(), CliError> {
        if let (Some(checkpoints), Some(start)) = (&mut self.checkpoints, part.start.take()) {
            checkpoints.keep(&self.report, start)?;
        }
        let fatal = self
            .report
            .faults
            .collect(std::mem::take(&mut part.faults), &mut self.progress);
        self.report.count_not_subject(part.not_subject);
        part.named
            .drain(..)
            .for_each(|input| self.report.named.add(input));
        part.tell(
            (&mut self.report.assumed, &mut self.report.limitations),
            &mut self.report.notices,
            &mut self.progress,
        );
        self.report.unexpanded.add(part.unexpanded);
        self.report.accepted.add(part.accepted);
        let prints_lines = self.arguments.outputs.has(ImpactFormat::Ndjson);
        let mut out = PrintedOutput::default();
        for row in part.results {
            if prints_lines && row.change != DecisionChange::Same {
                out.json_line(&row)?;
            }
            self.report.count(row);
        }
        if !out.is_empty() {
            self.progress.clear();
        }
        output_target::add_in_format(&mut self.outputs, ImpactFormat::Ndjson, &out)?;
        let (requests, refused) = (
            self.report.requests(),
            self.report.count_of(DecisionChange::NewlyRefused),
        );
        self.progress.show_line(|duration| {
            format!(
                "{} compared, {refused} newly refused{}",
                counted(requests, "request", "requests"),
                self.share.line(requests, duration)
            )
        });
        fatal.map_or(Ok(()), Err)
    }

    /// Reports how far the comparison came before the cluster was lost.
    #[cfg(feature = "kube")]
    pub(super) fn lost(&mut self) {
        self.progress.clear();
        report_lost::<ImpactReport>(&self.report.counted(), self.checkpoints.as_ref());
    }

    /// Prints the counts, and gives the exit status.
    pub(super) fn end(mut self, pod_policies: &PodPolicies<'_>) -> Result<ExitStatus, CliError> {
        self.progress.clear();
        for notice in self.report.named.notices() {
            self.report.notices.tell(notice);
        }
        for notice in self.report.unexpanded.warnings(pod_policies) {
            self.report.notices.tell(notice);
        }
        let report = &mut self.report;
        limitations::tell_kinds(&report.assumed, &report.limitations, &mut report.notices);
        self.evaluated
            .count_unvalidated(report.limitations.unvalidated_count());
        report.notes.extend(report.limitations.unvalidated_notes());
        let errors = self.report.faults.count();
        self.report.faults.report_hidden();
        if self.report.requests() + self.report.not_subject == 0 && errors == 0 {
            let inputs = self.report.run.inputs.join(", ");
            return Err(CliError::Review(ReviewError::NothingToReview { inputs }));
        }
        let accepted = self.acceptance.end_requests(&self.report.accepted, "impact")?;
        for notice in accepted.notices() {
            self.report.notices.tell(notice);
        }
        self.write_page(errors)?;
        let outputs = std::mem::take(&mut self.outputs);
        output_target::print_all(outputs, |format, is_stdout| match format {
            ImpactFormat::Human => output::print(&self.human(errors, &accepted, style_of(is_stdout))),
            ImpactFormat::Json => project::print_with_report("impact", &self.json(errors, &accepted)),
            ImpactFormat::Ndjson => {
                self.report.faults.print_json()?;
                self.report.notices.print_lines()?;
                project::print_line("impact")?;
                let summary = self.json(errors, &accepted);
                output::print_json_line(&json::SummaryLine { summary })
            }
        })?;
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.remove()?;
        }
        Ok(self.status(errors, accepted.has_expired()))
    }

    /// Writes the page, if it is asked for.
    fn write_page(&self, errors: usize) -> Result<(), CliError> {
        let [refused, accepted, allowed, undecided, same] = [
            DecisionChange::NewlyRefused,
            DecisionChange::Accepted,
            DecisionChange::NewlyAllowed,
            DecisionChange::Undecided,
            DecisionChange::Same,
        ]
        .map(|change| self.report.count_of(change));
        let lead = format!(
            "Of {}, {refused} {} newly refused.",
            counted(self.report.requests(), "request", "requests"),
            noun(refused, "is", "are")
        );
        let changed = self.changed_meanwhile();
        let notices = self.report.notices.list();
        let notes = self
            .report
            .notes
            .iter()
            .cloned()
            .chain(notices.iter().map(InputNotice::line))
            .chain(changed)
            .chain(self.of_logs());
        let notes: Vec<String> = notes.collect();
        let page = ComparisonPage {
            title: "What a change of policies does",
            lead: &lead,
            numbers: &[
                ("newly refused", refused),
                ("newly allowed", allowed),
                ("newly refused and accepted", accepted),
                ("undecided", undecided),
                ("the same", same),
                ("not subject to admission", self.report.not_subject),
                ("not read", u64::try_from(errors).unwrap_or(u64::MAX)),
            ],
            sections: &[
                ("Newly refused", &self.report.refused),
                ("Newly allowed", &self.report.allowed),
                ("Undecided", &self.report.undecided),
            ],
            notes: &notes,
            about: &[
                ("Inputs", self.report.run.inputs.join(", ")),
                ("Evaluated", self.evaluated.as_str().to_owned()),
            ],
        };
        report_files::write_page(page, "impact", &self.arguments.comparison)
    }

    fn json(&self, errors: usize, accepted: &AcceptanceSummary) -> JsonImpact<'_> {
        JsonImpact {
            requests: self.report.requests(),
            same: self.report.count_of(DecisionChange::Same),
            newly_refused: self.report.count_of(DecisionChange::NewlyRefused),
            accepted: self.report.count_of(DecisionChange::Accepted),
            newly_allowed: self.report.count_of(DecisionChange::NewlyAllowed),
            undecided: self.report.count_of(DecisionChange::Undecided),
            not_subject: self.report.not_subject,
            changed_meanwhile: self.report.changed_meanwhile,
            errors,
            notes: &self.report.notes,
            notices: self.report.notices.list(),
            evaluated: self.evaluated.as_str(),
            unknown: &self.report.unknown,
            approximations: &self.report.approximations,
            refused: &self.report.refused,
            allowed: &self.report.allowed,
            accepted_findings: accepted.json(),
        }
    }

    fn human(&self, errors: usize, accepted: &AcceptanceSummary, style: StreamStyle) -> PrintableText {
        let of_accepted = match self.report.count_of(DecisionChange::Accepted) {
            0 => String::new(),
            count => format!(", {count} newly refused and accepted"),
        };
        let mut out = text!(
            "{}: {} newly refused{}, {} newly allowed, {} undecided, {} the same\n",
            counted(self.report.requests(), "request", "requests"),
            self.report.count_of(DecisionChange::NewlyRefused),
            of_accepted,
            self.report.count_of(DecisionChange::NewlyAllowed),
            self.report.count_of(DecisionChange::Undecided),
            self.report.count_of(DecisionChange::Same)
        );
        if self.report.not_subject > 0 {
            out.push(&text!(
                "{} not subject to admission\n",
                counted(self.report.not_subject, "event is", "events are")
            ));
        }
        if let Some(changed) = self.changed_meanwhile() {
            out.push(&text!("{}\n", changed));
        }
        if errors > 0 {
            out.push(&text!("{}\n", counted(errors, "error", "errors")));
        }
        for note in &self.report.notes {
            out.push(&text!("note: {}\n", note));
        }
        out.push(&self.report.notices.lines());
        for (title, tone, tally) in [
            ("newly refused", TextTone::Bad, &self.report.refused),
            ("newly allowed", TextTone::Good, &self.report.allowed),
            ("undecided", TextTone::Warning, &self.report.undecided),
        ] {
            if tally.total().requests() > 0 {
                out.push(&text!("\n{}\n{}", style.paint(tone, title), tables(tally)));
                out.push(&examples(tally, style));
            }
        }
        for note in self.of_logs() {
            out.push(&text!("{}\n", note));
        }
        for (subject, explanation) in self.report.explanations.values() {
            out.push(&text!("\n{}\n{}", subject, explanation));
        }
        out.push(&accepted.human());
        out.push(&self.evaluated.line());
        out
    }

    /// Counts of what logs do not hold, and of what was approximated therefore.
    fn of_logs(&self) -> impl Iterator<Item = String> {
        let unknown = self.report.unknown.iter();
        let unknown = unknown.map(|(why, count)| format!("{} {count}", why.name()));
        let approximated = self.report.approximations.iter();
        let approximated =
            approximated.map(|(approximation, count)| format!("{} {count}", approximation.name()));
        let lists: [(&str, Vec<String>); 2] = [
            ("not in the log", unknown.collect()),
            ("approximated", approximated.collect()),
        ];
        let lists = lists.into_iter().filter(|(_, items)| !items.is_empty());
        lists.map(|(label, items)| format!("{label}: {}", items.join(", ")))
    }

    /// How many objects changed while objects were listed, if any.
    fn changed_meanwhile(&self) -> Option<String> {
        let changed = self.report.changed_meanwhile;
        (changed > 0).then(|| format!("{} changed meanwhile", counted(changed, "object", "objects")))
    }

    fn status(&self, errors: usize, has_expired: bool) -> ExitStatus {
        self.arguments.comparison.status(|on| match on {
            ComparisonFailOn::Refused => {
                has_expired
                    || self.report.count_of(DecisionChange::NewlyRefused) > self.arguments.max_new_refusals
            }
            ComparisonFailOn::Allowed => self.report.count_of(DecisionChange::NewlyAllowed) > 0,
            ComparisonFailOn::Error => errors > 0,
            ComparisonFailOn::Warn => self.report.notices.count() > 0,
            ComparisonFailOn::Undecided => self.report.count_of(DecisionChange::Undecided) > 0,
        })
    }
}

/// The counts of a tally, by policy, namespace, user and owner.
fn tables(tally: &Tally) -> PrintableText {
    let mut out = PrintableText::new();
    let count_findings = |counts: Counts| counts.denied.saturating_add(counts.undecided);
    out.push(&top(
        &["POLICY", "BINDING"],
        tally.policies(),
        count_findings,
        |_| true,
    ));
    out.push(&top(&["NAMESPACE"], tally.namespaces(), requests, |_| true));
    out.push(&top(&["USER"], tally.users(), requests, |_| true));
    let is_owned = |[_, owner]: &[&str; 2]| !owner.is_empty();
    out.push(&top(&["NAMESPACE", "OWNER"], tally.owners(), requests, is_owned));
    out
}

/// The rows with the highest counts, of those that are shown.
fn top<const N: usize>(
    names: &[&str],
    counts: &TallyTable<N>,
    of: impl Fn(Counts) -> u64,
    is_shown: impl Fn(&[&str; N]) -> bool,
) -> PrintableText {
    let mut rows: Vec<([&str; N], u64)> = counts.rows().map(|(names, counts)| (names, of(counts))).collect();
    rows.retain(|(names, count)| *count > 0 && is_shown(names));
    if rows.is_empty() {
        return PrintableText::new();
    }
    rows.sort_by(|(left_names, left), (right_names, right)| {
        right.cmp(left).then(left_names.cmp(right_names))
    });
    let more = rows.len().saturating_sub(MAX_ROWS);
    rows.truncate(MAX_ROWS);
    let cells = rows.iter().map(|(names, count)| {
        let names = names.iter().map(|name| or(name, "(none)").to_owned());
        names.chain([count.to_string()]).collect()
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

fn examples(tally: &Tally, style: StreamStyle) -> PrintableText {
    let mut out = PrintableText::new();
    for (_, examples) in tally.examples() {
        for example in examples.take(MAX_EXAMPLES) {
            let place = style.paint(TextTone::Place, &example.place);
            let indent = "  ";
            let lines = IndentedLines {
                text: &example.message,
                indent,
            };
            out.push(&text!(
                "{}: {} {} {} by {}\n  {}\n",
                place,
                example.operation,
                example.kind,
                namespaced(&example.namespace, &example.name),
                example.user,
                lines
            ));
        }
    }
    out
}
