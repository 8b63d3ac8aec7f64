//! Counts and prints what was replayed, in the order of the logs.

use std::sync::Arc;

use pratique_arrow::ResultRow;
use pratique_report::{ComparisonPage, Decision, Evaluation};
use serde::Serialize;

use super::comparison::DecisionComparison;
use super::counts::JsonCounts;
use super::decision::evaluation;
use super::finding::PrintedFindings;
use super::report::ReplayReport;
use super::share::ReadShare;
use super::work::ReplayPart;
use crate::acceptance::{AcceptanceRules, JsonAcceptance};
use crate::arguments::{ComparisonFailOn, ReplayAnswerArguments, ReplayFormat};
use crate::evaluation::results::ResultWriters;
use crate::evaluation::summary::EvaluationSummary;
use crate::evaluation::unbound::EvaluationScope;
use crate::exit::{CliError, ExitStatus};
use crate::input::{PassedOver, PassedOverLine, WithPassedOver};
use crate::output::counted_nouns::{counted, noun};
use crate::output::notice::{InputNotice, InputNotices};
use crate::output::text::{PrintableText, text};
use crate::output::{self, json};
use crate::output_target::{self, OutputTarget};
use crate::project;
use crate::replay::replay_error::ReplayError;
use crate::scan::report_files;
use crate::stream::checkpoint::CheckpointWriter;
use crate::stream::progress::ProgressLine;

/// Counts and prints what was replayed.
pub(super) struct ReplayCollector<'a> {
    arguments: &'a ReplayAnswerArguments,
    report: ReplayReport,
    findings: PrintedFindings,
    progress: ProgressLine,
    share: Arc<ReadShare>,
    checkpoints: Option<CheckpointWriter>,
    /// The outputs that are no columns.
    pub(super) outputs: Vec<OutputTarget<ReplayFormat>>,
    pub(super) results: ResultWriters,
    /// Files that were passed over, and whether they are listed.
    pub(super) passed_over: PassedOver,
    pub(super) lists_passed_over: bool,
    /// Warnings, which were told.
    pub(super) notices: InputNotices,
    evaluated: EvaluationSummary,
    acceptance: &'a AcceptanceRules,
}

/// The counts with what else is told.
#[derive(Serialize)]
struct JsonReplay<'a> {
    #[serde(flatten)]
    counts: JsonCounts<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notices: Vec<InputNotice>,
    /// What was evaluated, and what was not.
    evaluated: &'a str,
    /// What exceptions and a baseline accept.
    #[serde(rename = "acceptedFindings", skip_serializing_if = "Option::is_none")]
    accepted: Option<JsonAcceptance>,
}

impl<'a> ReplayCollector<'a> {
    /// `report` has what was counted before.
    pub(super) fn new(
        arguments: &'a ReplayAnswerArguments,
        acceptance: &'a AcceptanceRules,
        evaluated: EvaluationSummary,
        report: ReplayReport,
        share: Arc<ReadShare>,
        checkpoints: Option<CheckpointWriter>,
    ) -> Self {
        let prints = arguments.outputs.is_printed(ReplayFormat::Ndjson);
        let prints_findings = arguments.outputs.is_printed(ReplayFormat::Human) && !arguments.summary;
        ReplayCollector {
            arguments,
            report,
            findings: PrintedFindings::new(arguments.all),
            progress: ProgressLine::new(prints || prints_findings),
            outputs: Vec::new(),
            share,
            checkpoints,
            results: ResultWriters::default(),
            passed_over: PassedOver::default(),
            lists_passed_over: false,
            notices: InputNotices::default(),
            evaluated,
            acceptance,
        }
    }

    /// Counts and prints what came of a part of the logs.
    pub(super) fn collect(&mut self, mut part: ReplayPart) -> Result<(), CliError> {
        self.report.faults.leave_out_known(&mut part.faults);
        if !part.out.is_empty() || !part.findings.is_empty() {
            self.progress.clear();
        }
        if let (Some(checkpoints), Some(start)) = (&mut self.checkpoints, part.start) {
            checkpoints.keep(&self.report, start)?;
        }
        for (place, message) in part.faults.errors() {
            self.results.push(&failed(place, message))?;
        }
        let fatal = self.report.faults.collect(part.faults, &mut self.progress);
        self.report.limitations.add(part.limitations);
        self.report.accepted.add(part.accepted);
        for why in part.not_subject {
            self.report.counts.count_not_subject(why);
        }
        for row in &part.rows {
            self.report.counts.count(row);
            let evaluation = evaluation(&row.subject, &row.now, &row.place);
            self.report.now.count(&evaluation);
            if !self.results.is_empty() {
                let comparison = row.comparison.to_string();
                self.results.push(&row.result(evaluation, &comparison))?;
            }
        }
        if let Some(human) = output_target::in_format(&mut self.outputs, ReplayFormat::Human) {
            let mut findings = part.findings.into_iter();
            human.print(|| findings.try_for_each(|finding| output::print(&self.findings.print(finding))))?;
        }
        output_target::add_in_format(&mut self.outputs, ReplayFormat::Ndjson, &part.out)?;
        let (entries, requests) = (self.report.counts.entries(), self.report.counts.requests());
        let refused = self.report.counts.count_of(DecisionComparison::RefusedNow);
        self.progress.show_line(|duration| {
            format!(
                "{} read, {} replayed, {refused} refused now{}",
                counted(entries, "event", "events"),
                counted(requests, "request", "requests"),
                self.share.line(entries, duration)
            )
        });
        fatal.map_or(Ok(()), Err)
    }

    /// Prints the counts, and gives the exit status.
    pub(super) fn end(mut self, scope: &EvaluationScope, forgotten: u64) -> Result<ExitStatus, CliError> {
        self.progress.clear();
        self.results.finish()?;
        let unvalidated = self.report.limitations.unvalidated_count();
        self.evaluated.count_unvalidated(unvalidated);
        let errors = self.report.faults.count();
        self.report.faults.report_hidden();
        if !self.report.counts.has_events() && errors == 0 {
            let logs = self.report.run.inputs.join(", ");
            return Err(CliError::Replay(ReplayError::NothingToReplay { logs }));
        }
        let accepted = self.acceptance.end_requests(&self.report.accepted, "replay")?;
        for notice in accepted.notices() {
            self.notices.tell(notice);
        }
        self.write_page(errors, forgotten)?;
        let status = self.status(errors, scope, accepted.has_expired());
        let (passed_over, lists) = (&self.passed_over, self.lists_passed_over);
        let outputs = std::mem::take(&mut self.outputs);
        output_target::print_all(outputs, |format, _| match format {
            ReplayFormat::Human => {
                let tables = self.report.counts.human(&self.report.now, errors, forgotten);
                let mut notes = PrintableText::new();
                for note in self.report.limitations.unvalidated_notes() {
                    notes.push(&text!("note: {}\n", note));
                }
                output::print(&text!(
                    "{}{}{}{}{}{}{}{}",
                    self.findings.left_out(),
                    tables,
                    accepted.human(),
                    self.notices.lines(),
                    scope.counted(),
                    passed_over.to_text(lists),
                    notes,
                    self.evaluated.line()
                ))
            }
            ReplayFormat::Json => {
                let report = WithPassedOver {
                    value: self.json(errors, forgotten, accepted.json()),
                    passed_over: passed_over.json(lists),
                };
                project::print_with_report("replay", &report)
            }
            ReplayFormat::Ndjson => {
                self.report.faults.print_json()?;
                self.notices.print_lines()?;
                project::print_line("replay")?;
                if self.arguments.summary {
                    let summary = WithPassedOver {
                        value: self.json(errors, forgotten, accepted.json()),
                        passed_over: passed_over.json(lists),
                    };
                    return output::print_json_line(&json::SummaryLine { summary });
                }
                match passed_over.json(lists) {
                    Some(passed_over) => output::print_json_line(&PassedOverLine { passed_over }),
                    None => Ok(()),
                }
            }
            // They were written as they came.
            ReplayFormat::Parquet | ReplayFormat::Arrow => Ok(()),
        })?;
        let printed = self.arguments.outputs.printed();
        if printed.is_some_and(|format| format.columns().is_some()) {
            output::eprint(&passed_over.to_text(lists));
        }
        self.checkpoints
            .as_ref()
            .map_or(Ok(()), CheckpointWriter::remove)?;
        Ok(status)
    }

    fn json(&self, errors: usize, forgotten: u64, accepted: Option<JsonAcceptance>) -> JsonReplay<'_> {
        JsonReplay {
            counts: self.report.counts.json(&self.report.now, errors, forgotten),
            notices: self.notices.list(),
            evaluated: self.evaluated.as_str(),
            accepted,
        }
    }

    /// Writes the page, if it is asked for.
    fn write_page(&self, errors: usize, forgotten: u64) -> Result<(), CliError> {
        let counts = &self.report.counts;
        let (requests, refused) = (counts.requests(), counts.count_of(DecisionComparison::RefusedNow));
        let lead = format!(
            "Of {}, {refused} that {} allowed {} refused now.",
            counted(requests, "request", "requests"),
            noun(refused, "was", "were"),
            noun(refused, "is", "are")
        );
        let mut notes = vec!["webhooks and built-in plugins are not run".to_owned()];
        if forgotten > 0 {
            notes.push(format!(
                "{} not remembered, as there are too many",
                counted(forgotten, "object was", "objects were")
            ));
        }
        notes.extend(self.report.limitations.unvalidated_notes());
        notes.extend(self.notices.list().iter().map(InputNotice::line));
        let page = ComparisonPage {
            title: "What policies say of an audit log",
            lead: &lead,
            numbers: &[
                ("refused now", refused),
                (
                    "allowed now",
                    self.report.counts.count_of(DecisionComparison::AllowedNow),
                ),
                (
                    "refused and accepted",
                    self.report.counts.count_of(DecisionComparison::Accepted),
                ),
                (
                    "undecided",
                    self.report.counts.count_of(DecisionComparison::Undecided),
                ),
                ("requests", requests),
                ("events", self.report.counts.entries()),
                ("not read", u64::try_from(errors).unwrap_or(u64::MAX)),
            ],
            sections: &[("Decisions now", &self.report.now)],
            notes: &notes,
            about: &[
                ("Logs", self.report.run.inputs.join(", ")),
                ("Evaluated", self.evaluated.as_str().to_owned()),
            ],
        };
        report_files::write_page(page, "replay", &self.arguments.comparison)
    }

    fn status(&self, errors: usize, scope: &EvaluationScope, has_expired: bool) -> ExitStatus {
        let some = |comparison| self.report.counts.count_of(comparison) > 0;
        self.arguments.comparison.status(|on| match on {
            ComparisonFailOn::Refused => has_expired || some(DecisionComparison::RefusedNow),
            ComparisonFailOn::Allowed => some(DecisionComparison::AllowedNow),
            ComparisonFailOn::Error => errors > 0,
            ComparisonFailOn::Warn => self.notices.count() > 0,
            ComparisonFailOn::Undecided => some(DecisionComparison::Undecided) || !scope.can_deny(),
        })
    }
}

/// The result of an entry that could not be read or evaluated.
fn failed<'r>(place: &'r str, message: &'r str) -> ResultRow<'r> {
    ResultRow {
        evaluation: Evaluation {
            decision: Decision::Failed,
            place,
            ..Evaluation::default()
        },
        message,
        then: None,
    }
}
