//! Prints what was reviewed, in order, and counts it.

use std::collections::BTreeMap;

use pratique_suite::SourceFile;
use pratique_types::GroupResource;

use super::assumed::AssumedKinds;
use super::compared::Operations;
use super::input_errors::InputErrors;
use super::junit;
use super::limitations::{self, Limitations};
use super::progress::Progress;
use super::record::Record;
use super::sarif;
use super::tally::Tally;
use super::unbound::EvaluationScope;
use super::unexpanded::PodPolicies;
use super::work::{End, Reviewed};
use crate::arguments::{AnswerArguments, FailOn, ReviewFormat};
use crate::exit::{CliError, ExitStatus};
use crate::input::sources::{self, SourceCounts};
use crate::input::{PassedOver, PassedOverLine, WithPassedOver};
use crate::output::text::{Text, text};
use crate::output::{self, json};

/// After how many errors the rest of a file is not reviewed.
const MAX_ERRORS: usize = 1000;

/// Prints what comes of the inputs.
pub(super) struct Printer<'a> {
    arguments: &'a AnswerArguments,
    pub(super) errors: InputErrors,
    tally: Tally,
    pub(super) operations: Operations,
    pub(super) policies: usize,
    progress: Progress,
    records: Vec<Record>,
    assumed: AssumedKinds,
    unexpanded: BTreeMap<GroupResource, usize>,
    limitations: Limitations,
    /// Errors of the current file, and whether the rest of it is dropped.
    file_errors: usize,
    is_given_up: bool,
    /// Whether the current path of the user has an object, an empty list or an error.
    path_has_something: bool,
    pub(super) object_count: usize,
    pub(super) empty_lists: usize,
    /// Files that are no objects of the API.
    pub(super) sources: Vec<SourceFile>,
}

/// The counts as JSON.
#[derive(serde::Serialize)]
struct JsonSummary<'a> {
    #[serde(flatten)]
    tally: &'a Tally,
    errors: usize,
    /// Files that were not evaluated, by what they are.
    #[serde(skip_serializing_if = "SourceCounts::is_empty")]
    sources: SourceCounts,
}

/// The line about files that are no objects of the API, if there are any.
fn sources_line(sources: &[SourceFile]) -> Text {
    sources::summary(sources).map_or_else(Text::new, |summary| text!("{}\n", summary))
}

/// Whether answers are printed as they come, and all of them.
fn prints_answers(arguments: &AnswerArguments) -> bool {
    match arguments.output {
        ReviewFormat::Human => !arguments.summary && !arguments.quiet,
        ReviewFormat::Json | ReviewFormat::Ndjson | ReviewFormat::Github | ReviewFormat::Diff => true,
        ReviewFormat::Sarif | ReviewFormat::Junit => false,
    }
}

impl<'a> Printer<'a> {
    /// A printer; `errors` are those that were found before.
    pub(super) fn new(arguments: &'a AnswerArguments, errors: InputErrors) -> Self {
        Printer {
            arguments,
            errors,
            tally: Tally::default(),
            operations: Operations::default(),
            policies: 0,
            progress: Progress::new(prints_answers(arguments)),
            records: Vec::new(),
            assumed: AssumedKinds::default(),
            unexpanded: BTreeMap::new(),
            limitations: Limitations::default(),
            file_errors: 0,
            is_given_up: false,
            path_has_something: false,
            object_count: 0,
            empty_lists: 0,
            sources: Vec::new(),
        }
    }

    /// Prints what came of a part of the inputs.
    pub(super) fn print(&mut self, reviewed: Reviewed) -> Result<(), CliError> {
        let says_something = !reviewed.notes.as_str().is_empty()
            || reviewed.out.len() > 0
            || !(reviewed.errors.is_empty() && reviewed.assumed.is_empty())
            || reviewed.end.is_some();
        if says_something {
            self.progress.clear();
        }
        let printed = self.add(reviewed);
        self.progress.show(self.object_count, self.tally.denied);
        printed
    }

    fn add(&mut self, reviewed: Reviewed) -> Result<(), CliError> {
        match reviewed.end {
            Some(End::File) => (self.file_errors, self.is_given_up) = (0, false),
            Some(End::Path(path)) => {
                let has_something = std::mem::take(&mut self.path_has_something);
                if !has_something && self.object_count + self.errors.count() > 0 {
                    output::eprint(&output::warning_at(&path, "there is no object in it"));
                }
            }
            None => {}
        }
        if self.is_given_up {
            return Ok(());
        }
        self.object_count += reviewed.object_count;
        self.empty_lists += reviewed.empty_lists;
        self.path_has_something |= reviewed.object_count + reviewed.empty_lists + reviewed.errors.len() > 0;
        if !reviewed.notes.as_str().is_empty() {
            output::eprint(&reviewed.notes);
        }
        for (assumed, place) in reviewed.assumed {
            self.assumed
                .report(assumed, &place, ", or name the resource with --resource");
        }
        for (resource, count) in reviewed.unexpanded {
            *self.unexpanded.entry(resource).or_default() += count;
        }
        self.limitations.add(reviewed.limitations);
        self.tally.add(reviewed.tally);
        self.operations.add(reviewed.operations);
        self.policies += reviewed.policies;
        self.records.extend(reviewed.records);
        reviewed.out.print()?;
        let count = reviewed.errors.len();
        let place = reviewed.errors.last().map(|error| error.place.clone());
        self.errors.extend(reviewed.errors);
        self.file_errors += count;
        if let (true, Some(place)) = (self.file_errors > MAX_ERRORS, place) {
            self.is_given_up = true;
            // The reader has given up the part itself.
            if count <= MAX_ERRORS {
                self.errors.report(
                    place,
                    format!("the file has more than {MAX_ERRORS} errors: from here on it is not read"),
                );
            }
        }
        reviewed.fatal.map_or(Ok(()), Err)
    }

    /// Ends the line about progress.
    pub(super) fn end_progress(&mut self) {
        self.progress.clear();
    }

    /// Prints what comes at the end, and gives the exit status.
    pub(super) fn end(
        self,
        scope: &EvaluationScope,
        pod_policies: &PodPolicies<'_>,
        passed_over: &PassedOver,
        lists_passed_over: bool,
    ) -> Result<ExitStatus, CliError> {
        if let Some(warning) = pod_policies.warning(&self.unexpanded) {
            output::eprint(&warning);
        }
        let count = self.errors.count();
        let status = self.arguments.failure.status(|on| match on {
            FailOn::Deny => self.tally.denied > 0,
            FailOn::Warn => self.tally.warned > 0,
            FailOn::Audit => self.tally.audited > 0,
            FailOn::Error => count > 0,
            FailOn::Undecided => self.tally.undecided > 0 || !scope.can_deny(),
        });
        let summary = self.arguments.summary;
        let limitations = self.limitations.list(self.arguments.quiet);
        match self.arguments.output {
            ReviewFormat::Human => {
                let table = match summary {
                    true => self.tally.table(),
                    false => Text::new(),
                };
                output::print(&text!(
                    "{}\n{}{}\n{}{}",
                    table,
                    passed_over.text(lists_passed_over),
                    self.tally.line(count),
                    scope.counted(),
                    sources_line(&self.sources)
                ))?;
            }
            ReviewFormat::Json | ReviewFormat::Ndjson => {
                self.errors.print_json()?;
                limitations::print_lines(&limitations)?;
                output::print_project_line("review")?;
                sources::print_json_lines(&self.sources)?;
                let passed_over = passed_over.json(lists_passed_over);
                if summary {
                    let value = JsonSummary {
                        tally: &self.tally,
                        errors: count,
                        sources: SourceCounts::of(&self.sources),
                    };
                    let summary = WithPassedOver { value, passed_over };
                    output::print_json_line(&json::Summary { summary })?;
                } else if let Some(passed_over) = passed_over {
                    output::print_json_line(&PassedOverLine { passed_over })?;
                }
            }
            ReviewFormat::Sarif => {
                output::eprint(&passed_over.text(lists_passed_over));
                output::print_json(&sarif::log(
                    &self.records,
                    self.errors.all(),
                    &limitations,
                    &self.sources,
                    status.number(),
                ))?;
            }
            ReviewFormat::Junit => {
                output::eprint(&passed_over.text(lists_passed_over));
                output::print_xml(&junit::of(
                    "review",
                    &self.records,
                    self.errors.all(),
                    &self.sources,
                ))?;
            }
            ReviewFormat::Github => {
                let line = text!(
                    "{}{}\n{}{}",
                    passed_over.text(lists_passed_over),
                    self.tally.line(count),
                    scope.counted(),
                    sources_line(&self.sources)
                );
                let mut commands = output::github::Commands::default();
                for error in self.errors.all() {
                    commands.annotate("error", None, &error.place, &error.message);
                }
                sources::annotate(&self.sources, &mut commands);
                commands.log(&line);
                output::print_github(&commands)?;
            }
            ReviewFormat::Diff => output::eprint(&passed_over.text(lists_passed_over)),
        }
        limitations::report(&limitations, self.arguments.output);
        Ok(status)
    }
}
