//! Counts and prints what an upgrade breaks and changes, in the order of the inputs.

use std::sync::Arc;

use pratique_review::PodPolicies;

use super::finding::{UpgradeEffect, UpgradeFinding};
use super::outputs::ComparedUpgrade;
use super::report::UpgradeReport;
use super::work::UpgradePart;
use crate::arguments::{UpgradeAnswerArguments, UpgradeFailOn, UpgradeFormat};
use crate::destination::{self, FileReaders};
use crate::evaluation::assumptions::AssumedKinds;
use crate::evaluation::limitations::{self, ObjectLimitations};
use crate::evaluation::summary::EvaluationSummary;
use crate::evaluation::unexpanded_workloads::UnexpandedWorkloads;
use crate::exit::{CliError, ExitStatus};
use crate::output::counted_nouns::counted;
use crate::output::table::table;
use crate::output::text::{IndentedLines, PrintableText, text};
use crate::output::{self, PrintedOutput, json};
use crate::output_target::{self, OutputTarget, style_of};
use crate::project;
use crate::replay::share::ReadShare;
use crate::review::review_error::ReviewError;
use crate::stream::progress::ProgressLine;
use crate::stream::repeated_objects::NamedInputs;
use crate::style::{StreamStyle, TextTone};

/// How many groups of an effect are printed with an example.
const MAX_EXAMPLES: usize = 40;

/// Counts and prints what is found.
pub(super) struct UpgradeCollector<'a> {
    pub(super) arguments: &'a UpgradeAnswerArguments,
    pub(super) report: UpgradeReport,
    pub(super) named: NamedInputs,
    pub(super) outputs: Vec<OutputTarget<UpgradeFormat>>,
    pub(super) progress: ProgressLine,
    pub(super) share: Arc<ReadShare>,
    pub(super) assumed: AssumedKinds,
    pub(super) limitations: ObjectLimitations,
    pub(super) unexpanded: UnexpandedWorkloads,
    pub(super) evaluated: EvaluationSummary,
    pub(super) releases: [String; 2],
    pub(super) inputs: Vec<String>,
    /// Whether there is something to compare besides requests.
    pub(super) has_more: bool,
}

impl UpgradeCollector<'_> {
    /// Counts and prints a finding.
    fn add(&mut self, finding: UpgradeFinding, out: &mut PrintedOutput) -> Result<(), CliError> {
        if self.arguments.outputs.has(UpgradeFormat::Ndjson) {
            out.json_line(&finding)?;
        }
        self.report.add(finding);
        Ok(())
    }

    /// Counts and prints findings that are about no request.
    pub(super) fn collect_findings(&mut self, findings: Vec<UpgradeFinding>) -> Result<(), CliError> {
        let mut out = PrintedOutput::default();
        for finding in findings {
            self.add(finding, &mut out)?;
        }
        output_target::add_in_format(&mut self.outputs, UpgradeFormat::Ndjson, &out)
    }

    /// Counts and prints what came of a part of the inputs.
    pub(super) fn collect(&mut self, mut part: UpgradePart) -> Result<(), CliError> {
        let fatal = self
            .report
            .faults
            .collect(std::mem::take(&mut part.faults), &mut self.progress);
        let (report, results) = (&mut self.report, std::mem::take(&mut part.results));
        report.requests = report.requests.saturating_add(results.requests);
        report.same = report.same.saturating_add(results.same);
        report.not_subject = report.not_subject.saturating_add(part.not_subject);
        report.changed_meanwhile = report.changed_meanwhile.saturating_add(results.changed_meanwhile);
        results
            .unknown
            .into_iter()
            .for_each(|why| report.unknown.add(why));
        let approximations = results.approximations.into_iter();
        approximations.for_each(|approximation| report.approximations.add(approximation));
        self.report.notes.extend(part.limitations.unvalidated_notes());
        part.named.drain(..).for_each(|input| self.named.add(input));
        part.tell(
            (&mut self.assumed, &mut self.limitations),
            &mut self.report.notices,
            &mut self.progress,
        );
        self.unexpanded.add(part.unexpanded);
        let mut out = PrintedOutput::default();
        for finding in results.findings {
            self.add(finding, &mut out)?;
        }
        if !out.is_empty() {
            self.progress.clear();
        }
        output_target::add_in_format(&mut self.outputs, UpgradeFormat::Ndjson, &out)?;
        let (requests, breaking) = (self.report.requests, self.report.count_of(UpgradeEffect::Breaks));
        self.progress.show_line(|duration| {
            format!(
                "{} compared, {breaking} breaking{}",
                counted(requests, "request", "requests"),
                self.share.line(requests, duration)
            )
        });
        fatal.map_or(Ok(()), Err)
    }

    /// Prints what was found, and gives the exit status.
    pub(super) fn end(mut self, pod_policies: &PodPolicies<'_>) -> Result<ExitStatus, CliError> {
        self.progress.clear();
        for notice in self.named.notices() {
            self.report.notices.tell(notice);
        }
        for notice in self.unexpanded.warnings(pod_policies) {
            self.report.notices.tell(notice);
        }
        limitations::tell_kinds(&self.assumed, &self.limitations, &mut self.report.notices);
        self.report.faults.report_hidden();
        let is_empty = self.report.requests + self.report.not_subject == 0;
        if is_empty && !self.has_more && self.report.faults.count() == 0 {
            let inputs = self.inputs.join(", ");
            return Err(CliError::Review(ReviewError::NothingToReview { inputs }));
        }
        let status = self.status();
        let outputs = std::mem::take(&mut self.outputs);
        let compared = ComparedUpgrade {
            report: &self.report,
            releases: self.releases.clone(),
            evaluated: self.evaluated.as_str(),
            inputs: self.inputs.clone(),
        };
        if let Some(path) = &self.arguments.page {
            destination::write(path, &compared.page().to_string(), FileReaders::Usual)?;
        }
        output_target::print_all(outputs, |format, is_stdout| match format {
            UpgradeFormat::Human => output::print(&human(&compared, style_of(is_stdout))),
            UpgradeFormat::Json => project::print_with_report("upgrade", &compared.json(true)),
            UpgradeFormat::Ndjson => {
                self.report.faults.print_json()?;
                self.report.notices.print_lines()?;
                project::print_line("upgrade")?;
                let summary = compared.json(false);
                output::print_json_line(&json::SummaryLine { summary })
            }
            UpgradeFormat::Sarif => output::print_sarif(&compared.sarif(status.number())),
            UpgradeFormat::Junit => output::print_xml(&compared.junit(|on| self.arguments.fails_on(on))),
            UpgradeFormat::Github => {
                output::print_github(&compared.github())?;
                // Runners show what is no command in the log.
                output::print(&summary(&compared))
            }
        })?;
        Ok(status)
    }

    fn status(&self) -> ExitStatus {
        self.arguments.status(|on| match on {
            UpgradeFailOn::Breaks => self.report.count_of(UpgradeEffect::Breaks) > 0,
            UpgradeFailOn::Changes => self.report.count_of(UpgradeEffect::Changes) > 0,
            UpgradeFailOn::Deprecated => self.report.count_of(UpgradeEffect::Deprecated) > 0,
            UpgradeFailOn::Undecided => self.report.count_of(UpgradeEffect::Undecided) > 0,
            UpgradeFailOn::Error => self.report.faults.count() > 0,
        })
    }
}

/// Tables of what was found, with an example of each row.
fn human(compared: &ComparedUpgrade<'_>, style: StreamStyle) -> PrintableText {
    let report = compared.report;
    let mut out = text!("{}\n", compared.headline());
    let errors = report.faults.count();
    if errors > 0 {
        out.push(&text!("{}\n", counted(errors, "error", "errors")));
    }
    for notice in report.notices.list() {
        out.push(&text!("warning: {}\n", notice.line()));
    }
    for effect in UpgradeEffect::ALL {
        let groups: Vec<_> = report.groups_of(effect).collect();
        if groups.is_empty() {
            continue;
        }
        let tone = match effect {
            UpgradeEffect::Breaks => TextTone::Bad,
            UpgradeEffect::Changes | UpgradeEffect::Undecided => TextTone::Warning,
            UpgradeEffect::Deprecated => TextTone::Faint,
        };
        let rows = groups.iter().map(|group| {
            let count = group.count.to_string();
            vec![group.rule.name().to_owned(), group.about.clone(), count]
        });
        let rows: Vec<Vec<String>> = rows.collect();
        out.push(&text!(
            "\n{}\n{}",
            style.paint(tone, effect.heading()),
            table(&["WHAT", "ABOUT", "COUNT"], 2, &rows)
        ));
        for group in groups.iter().take(MAX_EXAMPLES) {
            let (place, finding) = (&group.first.place, group.describe());
            let lines = IndentedLines {
                text: &finding,
                indent: "  ",
            };
            match place.as_str() {
                "" => out.push(&text!("{}\n", lines)),
                place => out.push(&text!("{}: {}\n", style.paint(TextTone::Place, place), lines)),
            }
        }
        let more = groups.len().saturating_sub(MAX_EXAMPLES);
        if more > 0 {
            out.push(&text!("and {} without an example: -o json has all\n", more));
        }
    }
    out.push(&text!("\n"));
    for told in compared.told().into_iter().chain(compared.more()) {
        out.push(&text!("{}\n", told));
    }
    out
}

/// The counts, and what is told besides.
fn summary(compared: &ComparedUpgrade<'_>) -> PrintableText {
    let mut out = text!("{}\n", compared.headline());
    for told in compared.told().into_iter().chain(compared.more()) {
        out.push(&text!("{}\n", told));
    }
    out
}
