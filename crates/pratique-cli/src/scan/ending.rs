//! What a scan prints at its end, in each of its outputs.

use pratique_report::{NamespaceReports, Report};
use pratique_review::SourceFile;

use super::human;
use crate::arguments::{FailureArguments, ScanFormat};
use crate::evaluation::github;
use crate::evaluation::junit::{self, PassRule};
use crate::evaluation::limitations::{ObjectLimitations, ReportedLimitation};
use crate::evaluation::record::DecisionRecord;
use crate::evaluation::sarif;
use crate::evaluation::undecided_reasons::UndecidedReasons;
use crate::exit::CliError;
use crate::input::sources;
use crate::output::github::WorkflowCommands;
use crate::output::notice::InputNotices;
use crate::output::text::PrintableText;
use crate::output::{self, json};
use crate::stream::input_errors::JsonError;

/// What is known at the end of a scan.
pub(super) struct ScanEnding<'e> {
    pub(super) report: &'e Report,
    pub(super) records: &'e [DecisionRecord],
    pub(super) errors: &'e [JsonError],
    /// What each output leaves out.
    pub(super) omissions: &'e [(ScanFormat, Vec<JsonError>)],
    pub(super) notices: &'e InputNotices,
    /// What the kinds of objects lacked, and it as it is reported.
    pub(super) limited: &'e ObjectLimitations,
    pub(super) limitations: &'e [ReportedLimitation],
    /// Files that are no objects of the API.
    pub(super) sources: &'e [SourceFile],
    pub(super) namespaces: Option<&'e NamespaceReports>,
    pub(super) applied: &'e [AppliedReports],
    pub(super) evaluated: &'e str,
    pub(super) failure: &'e FailureArguments,
    pub(super) exit_code: u8,
}

/// What became of the reports of an output that were applied to a cluster.
#[cfg_attr(
    not(feature = "kube"),
    allow(dead_code, reason = "there is no cluster to apply them to")
)]
pub(super) struct AppliedReports {
    pub(super) format: ScanFormat,
    pub(super) told: PrintableText,
    pub(super) is_complete: bool,
}

impl ScanEnding<'_> {
    /// Prints the end of an output.
    pub(super) fn print(&self, format: ScanFormat) -> Result<(), CliError> {
        match format {
            ScanFormat::Human => output::print(&human::report_text(self.report, self.limited)),
            ScanFormat::Json => output::print_json(self.report),
            ScanFormat::Ndjson => {
                self.notices.print_lines()?;
                let summary = self.report;
                output::print_json_line(&json::SummaryLine { summary })
            }
            ScanFormat::Sarif => output::print_sarif(&sarif::log(
                self.records,
                &self.errors_of(format),
                &self.notices.list(),
                self.limitations,
                self.sources,
                self.evaluated,
                self.exit_code,
            )),
            ScanFormat::Junit => {
                let rule = PassRule {
                    failure: self.failure,
                    why_unevaluated: (!self.report.run().can_deny).then_some(junit::NOTHING_REFUSES),
                };
                let (errors, notices) = (self.errors_of(format), self.notices.list());
                let xml = junit::evaluation_document(
                    "scan",
                    self.records,
                    &errors,
                    &notices,
                    self.sources,
                    self.evaluated,
                    &rule,
                );
                output::print_xml(&xml)
            }
            ScanFormat::Github => {
                let mut commands = WorkflowCommands::default();
                let mut undecided = UndecidedReasons::default();
                for record in self.records {
                    github::annotate_record(&mut commands, record);
                    undecided.count(record);
                }
                let (errors, notices) = (self.errors_of(format), self.notices.list());
                github::annotate_run(&mut commands, &errors, &notices);
                undecided.annotate(&mut commands);
                sources::annotate(self.sources, &mut commands);
                commands.log(&human::ending_text(self.report));
                output::print_github(&commands)
            }
            ScanFormat::PolicyReport | ScanFormat::OpenReports => self.print_reports(format),
            // They were written as they came.
            ScanFormat::Parquet | ScanFormat::Arrow => Ok(()),
        }
    }

    /// Prints the reports, or what became of them.
    fn print_reports(&self, format: ScanFormat) -> Result<(), CliError> {
        let mut applied = self.applied.iter();
        if let Some(applied) = applied.find(|applied| applied.format == format) {
            return output::print(&applied.told);
        }
        match (self.namespaces, format.report_api()) {
            (Some(namespaces), Some(api)) => output::print_json(&namespaces.list(api)),
            _ => Ok(()),
        }
    }

    /// The errors that an output has, with what it leaves out.
    fn errors_of(&self, format: ScanFormat) -> Vec<JsonError> {
        let omissions = self.omissions.iter().filter(|(of, _)| *of == format);
        let omissions = omissions.flat_map(|(_, errors)| errors);
        self.errors.iter().chain(omissions).cloned().collect()
    }
}
