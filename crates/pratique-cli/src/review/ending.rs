//! What a review prints at its end, in each of its outputs.

use pratique_review::SourceFile;

use crate::acceptance::{AcceptanceSummary, JsonAcceptance};
use crate::arguments::ReviewFormat;
use crate::evaluation::github;
use crate::evaluation::junit::{self, PassRule};
use crate::evaluation::limitations::{self, ReportedLimitation};
use crate::evaluation::record::DecisionRecord;
use crate::evaluation::sarif;
use crate::exit::CliError;
use crate::input::sources::{self, SourceCounts};
use crate::input::{PassedOver, PassedOverLine, WithPassedOver};
use crate::output::github::AnnotationCounts;
use crate::output::notice::{InputNotice, InputNotices};
use crate::output::text::{PrintableText, text};
use crate::output::{self, json};
use crate::project;
use crate::review::tally::ReviewTally;
use crate::stream::input_errors::InputErrors;

/// What is known at the end of a review.
pub(super) struct ReviewEnding<'e> {
    pub(super) tally: &'e ReviewTally,
    /// Whether counts stand for decisions.
    pub(super) summary: bool,
    /// How many objects were not named.
    pub(super) left_out: PrintableText,
    /// The last lines of text.
    pub(super) counts: PrintableText,
    pub(super) passed_over: &'e PassedOver,
    pub(super) lists_passed_over: bool,
    pub(super) errors: &'e InputErrors,
    pub(super) notices: &'e InputNotices,
    /// The notices in outputs for servers, which have no other lines.
    pub(super) of_servers: Vec<InputNotice>,
    /// How many warnings there are that are no decisions on objects.
    pub(super) warnings: usize,
    pub(super) limitations: &'e [ReportedLimitation],
    /// Files that are no objects of the API.
    pub(super) sources: &'e [SourceFile],
    pub(super) records: &'e [DecisionRecord],
    pub(super) accepted: &'e AcceptanceSummary,
    /// What was evaluated, and what was not.
    pub(super) evaluated: &'e str,
    pub(super) evaluated_with_accepted: &'e str,
    pub(super) rule: PassRule<'e>,
    pub(super) exit_code: u8,
    /// The annotations that were printed before.
    pub(super) annotations: AnnotationCounts,
}

/// The counts as JSON.
#[derive(serde::Serialize)]
struct JsonSummary<'a> {
    #[serde(flatten)]
    tally: &'a ReviewTally,
    errors: usize,
    /// Files that were not evaluated, by what they are.
    #[serde(skip_serializing_if = "SourceCounts::is_empty")]
    sources: SourceCounts,
    /// The warnings that are no decisions on objects.
    #[serde(skip_serializing_if = "json::is_zero")]
    warnings: usize,
    /// What was evaluated, and what was not.
    evaluated: &'a str,
    /// What exceptions and a baseline accept.
    #[serde(rename = "acceptedFindings", skip_serializing_if = "Option::is_none")]
    accepted: Option<JsonAcceptance>,
}

/// A line of JSON.
#[derive(serde::Serialize)]
struct AcceptedLine {
    #[serde(rename = "acceptedFindings")]
    accepted: JsonAcceptance,
}

impl ReviewEnding<'_> {
    /// Prints the end of an output. What a format has no place for is told on standard error, if it is the one on standard output.
    pub(super) fn print(&self, format: ReviewFormat, is_stdout: bool) -> Result<(), CliError> {
        let passed_over = || self.passed_over.to_text(self.lists_passed_over);
        let tell = |text: &PrintableText| {
            if is_stdout {
                output::eprint(text);
            }
        };
        match format {
            ReviewFormat::Human => {
                let table = if self.summary {
                    self.tally.table()
                } else {
                    PrintableText::new()
                };
                output::print(&text!(
                    "{}\n{}{}{}{}{}{}",
                    table,
                    &self.left_out,
                    self.tally.reasons.human(),
                    self.tally.describe_stopped(),
                    passed_over(),
                    self.notices.lines_of_server(),
                    &self.counts
                ))
            }
            ReviewFormat::Json | ReviewFormat::Ndjson => self.print_lines(),
            ReviewFormat::Sarif => {
                tell(&passed_over());
                let log = sarif::log(
                    self.records,
                    self.errors.as_slice(),
                    &self.of_servers,
                    self.limitations,
                    self.sources,
                    self.evaluated_with_accepted,
                    self.exit_code,
                );
                output::print_sarif(&log)
            }
            ReviewFormat::Junit => {
                tell(&passed_over());
                let errors = self.errors.as_slice();
                let xml = junit::evaluation_document(
                    "review",
                    self.records,
                    errors,
                    &self.of_servers,
                    self.sources,
                    self.evaluated_with_accepted,
                    &self.rule,
                );
                output::print_xml(&xml)
            }
            ReviewFormat::Github => {
                let mut commands = github::run(self.errors.as_slice(), &self.of_servers);
                self.tally.reasons.annotate(&mut commands);
                sources::annotate(self.sources, &mut commands);
                commands.log(&text!("{}{}", passed_over(), &self.counts));
                commands.count_printed(self.annotations);
                output::print_github(&commands)
            }
            ReviewFormat::Diff | ReviewFormat::Yaml => {
                tell(&text!(
                    "{}{}{}",
                    self.tally.reasons.human(),
                    passed_over(),
                    &self.counts
                ));
                Ok(())
            }
        }
    }

    /// Prints the last lines of JSON.
    fn print_lines(&self) -> Result<(), CliError> {
        self.errors.print_json()?;
        self.notices.print_lines()?;
        limitations::print_lines(self.limitations)?;
        project::print_line("review")?;
        sources::print_json_lines(self.sources)?;
        let passed_over = self.passed_over.json(self.lists_passed_over);
        if self.summary {
            let value = JsonSummary {
                tally: self.tally,
                errors: self.errors.count(),
                sources: SourceCounts::new(self.sources),
                warnings: self.warnings,
                evaluated: self.evaluated,
                accepted: self.accepted.json(),
            };
            let summary = WithPassedOver { value, passed_over };
            return output::print_json_line(&json::SummaryLine { summary });
        }
        if let Some(accepted) = self.accepted.json() {
            output::print_json_line(&AcceptedLine { accepted })?;
        }
        match passed_over {
            Some(passed_over) => output::print_json_line(&PassedOverLine { passed_over }),
            None => Ok(()),
        }
    }
}
