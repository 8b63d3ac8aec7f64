//! Counts and prints what comes of the inputs, in their order.

use std::collections::BTreeSet;

use pratique_arrow::ResultRow;
use pratique_report::{Decision, Evaluation, NamespaceLimits, NamespaceReports, Report};
use pratique_review::{PodPolicies, SourceFile};
use pratique_schema::Release;

#[cfg(feature = "kube")]
use super::apply;
use super::counts::ScanCounts;
use super::ending::{AppliedReports, ScanEnding};
use super::human;
use super::report_files;
use super::work::{FailedObject, ScannedPart};
use crate::acceptance::AcceptanceRules;
use crate::arguments::{FailOn, FailureArguments, ScanAnswerArguments, ScanFormat};
use crate::evaluation::limitations;
use crate::evaluation::record::DecisionRecord;
use crate::evaluation::results::ResultWriters;
use crate::evaluation::summary::EvaluationSummary;
use crate::exit::{CliError, ExitStatus};
use crate::output;
use crate::output::counted_nouns::counted;
use crate::output::notice::{InputNotice, InputNotices};
use crate::output::text::text;
use crate::output_target::{self, OutputTarget};
use crate::scan::scan_error::ScanError;
use crate::stream::checkpoint::CheckpointWriter;
#[cfg(feature = "kube")]
use crate::stream::checkpoint::report_lost;
use crate::stream::input_errors::{InputErrors, JsonError};
use crate::stream::progress::{ProgressLine, rate_and_rest};

/// How many errors are printed.
const MAX_PRINTED: usize = 1000;
/// How many objects SARIF and JUnit have, which are printed at the end.
const MAX_RECORDS: usize = 20_000;

/// Counts what comes of the inputs.
pub(super) struct ScanCollector<'a> {
    arguments: &'a ScanAnswerArguments,
    acceptance: &'a AcceptanceRules,
    counts: ScanCounts,
    user: &'a str,
    progress: ProgressLine,
    /// How much there is of all inputs, if that is known: bytes, or objects.
    size: Option<u64>,
    /// How much of it was read.
    done: u64,
    printed_errors: usize,
    records: Vec<DecisionRecord>,
    errors: Vec<JsonError>,
    /// Files that are no objects of the API.
    pub(super) sources: Vec<SourceFile>,
    notices: InputNotices,
    /// The errors of the state, which are counted where it is: a file of it that is an input as well has them once.
    pub(super) of_state: InputErrors,
    /// What is evaluated, once it is known.
    evaluated: Option<EvaluationSummary>,
    /// How many objects SARIF and JUnit leave out.
    omitted: u64,
    /// For the output of such objects.
    namespaces: Option<NamespaceReports>,
    checkpoints: Option<CheckpointWriter>,
    pub(super) results: ResultWriters,
    /// The outputs that are no columns.
    pub(super) outputs: Vec<OutputTarget<ScanFormat>>,
    /// The cluster that reports are applied to.
    #[cfg(feature = "kube")]
    pub(super) server: Option<pratique_kube::ApiServer>,
}

impl<'a> ScanCollector<'a> {
    /// `counts` are those of before, `user` the one who sends the requests, and `size` how much there is of all inputs.
    pub(super) fn new(
        (arguments, acceptance): (&'a ScanAnswerArguments, &'a AcceptanceRules),
        counts: ScanCounts,
        user: &'a str,
        size: Option<u64>,
        checkpoints: Option<CheckpointWriter>,
    ) -> Self {
        ScanCollector {
            arguments,
            acceptance,
            counts,
            user,
            progress: ProgressLine::new(arguments.outputs.is_printed(ScanFormat::Ndjson)),
            size,
            done: 0,
            printed_errors: 0,
            records: Vec::new(),
            errors: Vec::new(),
            sources: Vec::new(),
            notices: InputNotices::default(),
            of_state: InputErrors::default(),
            evaluated: None,
            omitted: 0,
            checkpoints,
            results: ResultWriters::default(),
            outputs: Vec::new(),
            #[cfg(feature = "kube")]
            server: None,
            namespaces: arguments
                .outputs
                .any(|format| format.report_api().is_some())
                .then(|| NamespaceReports::new(NamespaceLimits::default())),
        }
    }

    /// Counts an error that was reported.
    pub(super) fn count_error(&mut self, place: &str, message: &str) -> Result<(), CliError> {
        self.count_failed(place, message, "", "")?;
        self.keep_error(JsonError {
            place: place.to_owned(),
            message: message.to_owned(),
        });
        Ok(())
    }

    fn keep_error(&mut self, error: JsonError) {
        if self.errors.len() < MAX_PRINTED {
            self.errors.push(error);
        }
    }

    fn count_failed(
        &mut self,
        place: &str,
        message: &str,
        api_version: &str,
        kind: &str,
    ) -> Result<(), CliError> {
        let evaluation = Evaluation {
            decision: Decision::Failed,
            api_version,
            kind,
            user: self.user,
            place,
            ..Evaluation::default()
        };
        self.counts.report.tally_mut().count(&evaluation);
        self.counts.report.add_problem(place, message);
        if let Some(namespaces) = &mut self.namespaces {
            namespaces.count_problem(place, message);
        }
        self.results.push(&ResultRow {
            evaluation,
            message,
            then: None,
        })
    }

    /// Counts and prints what came of a part of the inputs.
    pub(super) fn collect(&mut self, scanned: ScannedPart) -> Result<(), CliError> {
        let says_something =
            !(scanned.out.is_empty() && scanned.failed.is_empty() && scanned.notices.is_empty());
        if says_something {
            self.progress.clear();
        }
        if let Some(start) = scanned.start {
            self.done = start.done;
            if let Some(checkpoints) = &mut self.checkpoints {
                checkpoints.keep(&self.counts, start)?;
            }
        }
        for notice in scanned.notices {
            if !self.reports_notices() {
                self.note(&notice.to_text());
            }
            self.add_notice(notice);
        }
        for input in scanned.named {
            self.counts.named.add(input);
        }
        for assumed in scanned.assumed {
            self.counts.assumed.add(assumed);
        }
        for note in scanned.limitations.unvalidated_notes() {
            self.counts.report.add_note(&note);
        }
        self.counts.limitations.add(scanned.limitations);
        self.counts.unexpanded.add(scanned.unexpanded);
        for failed in scanned.failed {
            self.failed(failed)?;
        }
        let is_kept = self.arguments.outputs.any(ScanFormat::lists_records);
        for controlled_decision in scanned.found {
            self.counts
                .accepted
                .count(&controlled_decision.record, self.acceptance);
            let evaluation = controlled_decision.evaluation(self.user);
            self.counts.report.tally_mut().count(&evaluation);
            if let Some(namespaces) = &mut self.namespaces {
                namespaces.count(&evaluation);
            }
            if !self.results.is_empty() {
                self.results.push(&ResultRow {
                    evaluation,
                    message: controlled_decision.record.message.as_deref().unwrap_or_default(),
                    then: None,
                })?;
            }
            if is_kept && controlled_decision.has_findings() {
                if self.records.len() < MAX_RECORDS {
                    self.records.push(controlled_decision.record);
                } else {
                    self.omitted += 1;
                }
            }
        }
        output_target::add_in_format(&mut self.outputs, ScanFormat::Ndjson, &scanned.out)?;
        let total = self.counts.report.tally().total();
        let (objects, denied) = (total.requests(), total.denied);
        self.progress.show_line(|duration| {
            format!(
                "{} scanned, {denied} denied{}",
                counted(objects, "object", "objects"),
                rate_and_rest(objects, self.done, self.size, duration)
            )
        });
        scanned.fatal.map_or(Ok(()), Err)
    }

    /// Whether the output on standard output has the notices as text, so that they are not told beside it.
    fn reports_notices(&self) -> bool {
        self.arguments.outputs.is_printed(ScanFormat::Human)
    }

    /// Adds a notice, which was told.
    pub(super) fn add_notice(&mut self, notice: InputNotice) {
        self.counts
            .report
            .add_notice(&notice.rule, &notice.place, &notice.message);
        if let (true, Some(namespaces)) = (notice.is_finding(), &mut self.namespaces) {
            namespaces.count_finding(&notice.rule, &notice.place, &notice.message);
        }
        self.notices.add(notice);
    }

    /// Says which release decides, in reports for dashboards.
    pub(super) fn set_release(&mut self, release: &Release) {
        if let Some(namespaces) = &mut self.namespaces {
            namespaces.set_release(&release.to_string());
        }
    }

    /// Says what is evaluated.
    pub(super) fn set_evaluated(&mut self, evaluated: EvaluationSummary) {
        self.counts.report.set_evaluated(evaluated.as_str());
        self.evaluated = Some(evaluated);
    }

    fn failed(&mut self, failed: FailedObject) -> Result<(), CliError> {
        let FailedObject { text, error, kind } = failed;
        if self.of_state.has(&error) {
            return Ok(());
        }
        self.note(&text);
        let (api_version, kind) = kind.unwrap_or_default();
        self.count_failed(&error.place, &error.message, &api_version, &kind)?;
        self.keep_error(error);
        Ok(())
    }

    /// Prints a note, unless there were too many.
    fn note(&mut self, note: &output::text::PrintableText) {
        self.printed_errors += 1;
        match self.printed_errors {
            count if count <= MAX_PRINTED => output::eprint(note),
            count if count == MAX_PRINTED + 1 => output::eprint(&output::warning(&text!(
                "more than {} errors and warnings: the rest is counted",
                MAX_PRINTED
            ))),
            _ => {}
        }
    }

    /// Reports how far the scan came before the cluster was lost.
    #[cfg(feature = "kube")]
    pub(super) fn lost(&mut self) {
        self.progress.clear();
        let counted = human::line(&self.counts.report.tally().total());
        report_lost::<ScanCounts>(&counted, self.checkpoints.as_ref());
    }

    /// Prints the report, and gives the exit status.
    pub(super) fn end(mut self, pod_policies: &PodPolicies<'_>) -> Result<ExitStatus, CliError> {
        self.progress.clear();
        if let Some(objects) = self.counts.named.take_shard() {
            self.counts.report.set_objects(objects);
        }
        for notice in self.counts.named.notices() {
            notice.tell_beside(self.reports_notices());
            self.add_notice(notice);
        }
        for notice in self.counts.unexpanded.warnings(pod_policies) {
            // Another shard may have the first of the workloads.
            self.counts.report.add_notice(&notice.rule, "", &notice.message);
            notice.tell_beside(self.reports_notices());
            self.notices.add(notice);
        }
        for notice in self.counts.assumed.notices("") {
            notice.tell_beside(self.reports_notices());
            // Another shard may find the kinds elsewhere.
            self.counts.report.add_notice(&notice.rule, "", &notice.message);
            self.notices.add(notice);
        }
        for notice in self.counts.limitations.kind_notices() {
            self.counts.report.add_notice(&notice.rule, "", &notice.message);
        }
        self.results.finish()?;
        if let Some(mut evaluated) = self.evaluated.take() {
            evaluated.count_unvalidated(self.counts.limitations.unvalidated_count());
            self.set_evaluated(evaluated);
        }
        let is_whole = self.counts.report.tally().total().failed == 0;
        let mut accepted = self.acceptance.end(&self.counts.accepted, "scan", is_whole)?;
        if !self.counts.report.is_whole() {
            accepted = accepted.without_unused();
        }
        if accepted.json().is_some() {
            self.counts.report.add_note(&accepted.line());
        }
        for notice in accepted.notices() {
            notice.tell_beside(self.reports_notices());
            self.add_notice(notice);
        }
        if let Some(evaluated) = &mut self.evaluated {
            evaluated.add_accepted(&accepted);
        }
        let report = &self.counts.report;
        let is_empty = report.tally().total().requests() == 0;
        if is_empty && report.missing().is_empty() {
            return Err(CliError::Scan(ScanError::NothingToScan {
                inputs: report.run().inputs.join(", "),
            }));
        }
        report_files::write(report, &self.arguments.reports)?;
        let omissions = self.tell_omissions();
        // Which kinds were not validated is a note of the report.
        let limitations = self.counts.limitations.list(true);
        let printed = self.arguments.outputs.printed();
        if !printed.is_some_and(ScanFormat::has_limitations) {
            limitations::tell(&limitations);
        }
        self.notices.extend(limitations::notices(&limitations));
        let failure = &self.arguments.failure;
        let mut status = status(&self.counts.report, false, failure);
        if accepted.fails(failure) {
            status = status.worse(Some(ExitStatus::Failure));
        }
        let applied = self.apply_reports();
        let is_applied = applied.iter().all(|applied| applied.is_complete);
        if !is_applied && failure.fails_on(FailOn::Error) {
            status = status.worse(Some(ExitStatus::Unread));
        }
        let outputs = std::mem::take(&mut self.outputs);
        let ending = ScanEnding {
            report: &self.counts.report,
            records: &self.records,
            errors: &self.errors,
            omissions: &omissions,
            notices: &self.notices,
            limited: &self.counts.limitations,
            limitations: &limitations,
            sources: &self.sources,
            namespaces: self.namespaces.as_ref(),
            applied: &applied,
            evaluated: self.evaluated.as_ref().map_or("", EvaluationSummary::as_str),
            failure,
            exit_code: status.number(),
        };
        output_target::print_all(outputs, |format, _| ending.print(format))?;
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.remove()?;
        }
        Ok(status)
    }

    /// Applies the reports to the cluster, if one is given for that; gives what is told of it in the place of each output.
    fn apply_reports(&self) -> Vec<AppliedReports> {
        #[cfg(feature = "kube")]
        if let (Some(server), Some(namespaces)) = (&self.server, &self.namespaces) {
            let total = self.counts.report.tally().total();
            let kept = match (total.failed, namespaces.unlisted()) {
                (0, 0) => None,
                (0, _) => Some("there are too many namespaces"),
                _ => Some("some objects could not be read"),
            };
            let formats = self.outputs.iter().map(|output| output.format);
            let applied = formats.filter_map(|format| {
                let applied = apply::apply(server, namespaces, format.report_api()?, kept);
                Some(AppliedReports {
                    format,
                    told: applied.human(),
                    is_complete: applied.is_complete(),
                })
            });
            return applied.collect();
        }
        Vec::new()
    }

    /// Tells what outputs leave out, as they are bounded; gives it for each of them.
    fn tell_omissions(&self) -> Vec<(ScanFormat, Vec<JsonError>)> {
        let mut told = BTreeSet::new();
        let of_output = |output: &OutputTarget<ScanFormat>| {
            let omissions = self.omissions(output.format);
            for message in &omissions {
                if told.insert(message.clone()) {
                    output::eprint(&output::warning(&text!("{}", message)));
                }
            }
            let errors = omissions.into_iter().map(|message| JsonError {
                place: self.counts.report.run().inputs.join(", "),
                message,
            });
            (output.format, errors.collect())
        };
        self.outputs.iter().map(of_output).collect()
    }

    /// Messages about what an output leaves out, as it is bounded.
    fn omissions(&self, format: ScanFormat) -> Vec<String> {
        let mut omissions = Vec::new();
        let lists_records = format.lists_records();
        if lists_records && self.omitted > 0 {
            omissions.push(format!(
                "{} not in this output, as it has no more than {MAX_RECORDS}: ndjson has all",
                counted(
                    self.omitted,
                    "more object with findings is",
                    "more objects with findings are"
                )
            ));
        }
        let failed = self.counts.report.tally().total().failed;
        let errors = u64::try_from(self.errors.len()).unwrap_or(u64::MAX);
        if lists_records && failed > errors {
            omissions.push(format!(
                "{} not in this output, as it has no more than {MAX_PRINTED}: ndjson has all",
                counted(failed - errors, "more error is", "more errors are")
            ));
        }
        if let (Some(_), Some(namespaces)) = (format.report_api(), &self.namespaces) {
            let (omitted, unlisted) = (namespaces.omitted(), namespaces.unlisted());
            if omitted > 0 {
                omissions.push(format!(
                    "{} counted in summaries and not listed, as reports are bounded: ndjson has all",
                    counted(omitted, "result is", "results are")
                ));
            }
            if unlisted > 0 {
                omissions.push(format!(
                    "{} in no report, as there are too many: ndjson has all",
                    counted(
                        unlisted,
                        "result of a further namespace is",
                        "results of further namespaces are"
                    )
                ));
            }
        }
        omissions
    }
}

/// The exit status. `lacks_parts` is whether something was to be counted that is not.
pub(super) fn status(report: &Report, lacks_parts: bool, arguments: &FailureArguments) -> ExitStatus {
    let total = report.tally().total();
    let notices: Vec<InputNotice> = report.notices().map(InputNotice::from).collect();
    let is_warned = notices.iter().any(InputNotice::is_counted);
    let is_refused = notices.iter().any(InputNotice::is_finding);
    arguments.status(|on| match on {
        FailOn::Deny => total.denied > 0 || is_refused,
        FailOn::Warn => total.warned > 0 || total.ignored > 0 || is_warned,
        FailOn::Audit => total.audited > 0,
        FailOn::Error => total.failed > 0,
        FailOn::Undecided => total.undecided > 0 || !report.run().can_deny || lacks_parts,
    })
}
