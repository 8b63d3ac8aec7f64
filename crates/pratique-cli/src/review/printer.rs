//! Prints what was reviewed, in order, and counts it.

use std::collections::HashSet;

use pratique_review::{PodPolicies, SourceFile};

use crate::acceptance::{AcceptanceRules, AcceptanceSummary, AcceptedFindings, JsonAcceptance};
use crate::arguments::{AnswerArguments, FailOn, ReviewFormat};
use crate::evaluation::assumed::AssumedKinds;
use crate::evaluation::github;
use crate::evaluation::junit;
use crate::evaluation::limitations::{self, Limitations};
use crate::evaluation::record::Record;
use crate::evaluation::sarif;
use crate::evaluation::summary::EvaluationSummary;
use crate::evaluation::unbound::EvaluationScope;
use crate::evaluation::unexpanded::UnexpandedWorkloads;
use crate::exit::{CliError, ExitStatus};
use crate::input::sources::{self, SourceCounts};
use crate::input::{PassedOver, PassedOverLine, WithPassedOver};
use crate::output::notice::{Notice, Notices};
use crate::output::text::{Text, text};
use crate::output::{self, json};
use crate::project;
use crate::review::answers::PrintedAnswers;
use crate::review::compared::Operations;
use crate::review::object_files::ObjectFiles;
use crate::review::tally::Tally;
use crate::review::work::{End, Reviewed};
use crate::stream::input_errors::{InputErrors, JsonError};
use crate::stream::progress::Progress;

/// After how many errors the rest of a file is not reviewed.
const MAX_ERRORS: usize = 1000;

/// Prints what comes of the inputs.
pub(super) struct Printer<'a> {
    arguments: &'a AnswerArguments,
    pub(super) errors: InputErrors,
    /// The errors of the state: a file of it that is an input as well has them once.
    of_state: HashSet<JsonError>,
    tally: Tally,
    accepted: AcceptedFindings,
    pub(super) operations: Operations,
    pub(super) policies: usize,
    progress: Progress,
    answers: PrintedAnswers,
    /// Where the objects that are allowed are written to.
    object_files: Option<ObjectFiles>,
    records: Vec<Record>,
    assumed: AssumedKinds,
    unexpanded: UnexpandedWorkloads,
    pub(super) notices: Notices,
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

/// The line about files that are no objects of the API, if there are any.
fn sources_line(sources: &[SourceFile]) -> Text {
    sources::summary(sources).map_or_else(Text::new, |summary| text!("{}\n", summary))
}

/// Whether answers are printed as they come, and all of them.
fn prints_answers(arguments: &AnswerArguments) -> bool {
    match arguments.output {
        ReviewFormat::Human => !arguments.summary && !arguments.quiet,
        ReviewFormat::Json
        | ReviewFormat::Ndjson
        | ReviewFormat::Github
        | ReviewFormat::Diff
        | ReviewFormat::Yaml => true,
        ReviewFormat::Sarif | ReviewFormat::Junit => false,
    }
}

impl<'a> Printer<'a> {
    /// A printer; `errors` and `notices` are those that were found and told before.
    ///
    /// # Errors
    /// There is no directory for objects that are to be written.
    pub(super) fn new(
        arguments: &'a AnswerArguments,
        errors: InputErrors,
        notices: Notices,
    ) -> Result<Self, CliError> {
        let directory = arguments.output_dir.as_deref();
        Ok(Printer {
            answers: PrintedAnswers::new(arguments.all),
            object_files: directory.map(ObjectFiles::create).transpose()?,
            arguments,
            of_state: errors.all().iter().cloned().collect(),
            errors,
            tally: Tally::default(),
            accepted: AcceptedFindings::default(),
            operations: Operations::default(),
            policies: 0,
            progress: Progress::new(prints_answers(arguments)),
            records: Vec::new(),
            assumed: AssumedKinds::default(),
            unexpanded: UnexpandedWorkloads::default(),
            notices,
            limitations: Limitations::default(),
            file_errors: 0,
            is_given_up: false,
            path_has_something: false,
            object_count: 0,
            empty_lists: 0,
            sources: Vec::new(),
        })
    }

    /// Prints what came of a part of the inputs.
    pub(super) fn print(&mut self, reviewed: Reviewed) -> Result<(), CliError> {
        let is_silent = reviewed.notes.as_str().is_empty()
            && reviewed.out.len() == 0
            && reviewed.answers.is_empty()
            && reviewed.errors.is_empty()
            && reviewed.assumed.is_empty()
            && reviewed.notices.is_empty()
            && reviewed.end.is_none();
        if !is_silent {
            self.progress.clear();
        }
        let printed = self.add(reviewed);
        self.progress.show(self.object_count, self.tally.denied);
        printed
    }

    fn add(&mut self, mut reviewed: Reviewed) -> Result<(), CliError> {
        match reviewed.end {
            Some(End::File) => (self.file_errors, self.is_given_up) = (0, false),
            Some(End::Path(path)) => {
                let has_something = std::mem::take(&mut self.path_has_something);
                if !has_something && self.object_count + self.errors.count() > 0 {
                    self.notices
                        .tell(Notice::new("no-object", path, "there is no object in it"));
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
        for notice in reviewed.notices {
            if !self.notices.has(&notice) {
                self.notices.tell(notice);
            }
        }
        reviewed.errors.retain(|error| !self.of_state.contains(error));
        if !reviewed.errors.is_empty() {
            reviewed.notes.push(&reviewed.error_text);
        }
        if !reviewed.notes.as_str().is_empty() {
            output::eprint(&reviewed.notes);
        }
        for assumed in reviewed.assumed {
            let place = assumed.place.clone();
            let help = ", or name the resource with --resource";
            if let Some(message) = self.assumed.report(assumed, help) {
                self.notices
                    .add(Notice::new(limitations::UNKNOWN_KIND, place, message));
            }
        }
        self.unexpanded.add(reviewed.unexpanded);
        self.limitations.add(reviewed.limitations);
        self.tally.add(reviewed.tally);
        self.accepted.add(reviewed.accepted);
        self.operations.add(reviewed.operations);
        self.policies += reviewed.policies;
        self.records.extend(reviewed.records);
        for answer in &reviewed.answers {
            let text = self.answers.print(answer);
            output::print(&text)?;
        }
        if let Some(files) = &mut self.object_files {
            reviewed
                .objects
                .iter()
                .try_for_each(|object| files.write(object))?;
        }
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

    /// Ends what is accepted, and tells how it differs from a baseline.
    pub(super) fn accepted(&mut self, acceptance: &AcceptanceRules) -> Result<AcceptanceSummary, CliError> {
        let is_whole = self.errors.count() == 0;
        let accepted = acceptance.end(&self.accepted, "review", is_whole)?;
        for notice in accepted.notices() {
            self.notices.tell(notice);
        }
        Ok(accepted)
    }

    /// Prints what comes at the end, and gives the exit status.
    pub(super) fn end(
        mut self,
        (scope, accepted): (&EvaluationScope, &AcceptanceSummary),
        pod_policies: &PodPolicies<'_>,
        passed_over: &PassedOver,
        lists_passed_over: bool,
        evaluated: EvaluationSummary,
    ) -> Result<ExitStatus, CliError> {
        let mut evaluated = evaluated;
        evaluated.count_unvalidated(self.limitations.unvalidated_count());
        for notice in self.unexpanded.warnings(pod_policies) {
            self.notices.tell(notice);
        }
        // They were told before.
        self.notices.extend(scope.notices());
        let count = self.errors.count();
        let limitations = self.limitations.list(self.arguments.quiet);
        let undefined = limitations::notices(&limitations).collect::<Vec<_>>();
        let failure = &self.arguments.failure;
        let mut status = failure.status(|on| match on {
            FailOn::Deny => self.tally.denied > 0,
            FailOn::Warn => self.tally.warned + self.notices.count() + undefined.len() > 0,
            FailOn::Audit => self.tally.audited > 0,
            FailOn::Error => count > 0,
            FailOn::Undecided => self.tally.undecided > 0 || !scope.can_deny(),
        });
        if accepted.fails(failure) {
            status = status.worse(Some(ExitStatus::Failure));
        }
        let summary = self.arguments.summary;
        let counts = text!(
            "{}{}\n{}{}{}",
            self.tally.line(count),
            accepted.human(),
            scope.counted(),
            sources_line(&self.sources),
            evaluated.line()
        );
        match self.arguments.output {
            ReviewFormat::Human => {
                let table = if summary { self.tally.table() } else { Text::new() };
                output::print(&text!(
                    "{}\n{}{}{}{}",
                    table,
                    self.answers.left_out(),
                    self.tally.reasons.human(),
                    passed_over.text(lists_passed_over),
                    counts
                ))?;
            }
            ReviewFormat::Json | ReviewFormat::Ndjson => {
                self.errors.print_json()?;
                self.notices.print_lines()?;
                limitations::print_lines(&limitations)?;
                project::print_line("review")?;
                sources::print_json_lines(&self.sources)?;
                let passed_over = passed_over.json(lists_passed_over);
                if summary {
                    let value = JsonSummary {
                        tally: &self.tally,
                        errors: count,
                        sources: SourceCounts::of(&self.sources),
                        warnings: self.notices.count() + undefined.len(),
                        evaluated: evaluated.as_str(),
                        accepted: accepted.json(),
                    };
                    let summary = WithPassedOver { value, passed_over };
                    output::print_json_line(&json::Summary { summary })?;
                } else {
                    if let Some(accepted) = accepted.json() {
                        output::print_json_line(&AcceptedLine { accepted })?;
                    }
                    if let Some(passed_over) = passed_over {
                        output::print_json_line(&PassedOverLine { passed_over })?;
                    }
                }
            }
            ReviewFormat::Sarif => {
                evaluated.add_accepted(accepted);
                output::eprint(&passed_over.text(lists_passed_over));
                self.notices.extend(undefined);
                self.notices.extend(project::notices("review"));
                output::print_sarif(&sarif::log(
                    &self.records,
                    self.errors.all(),
                    &self.notices.all(),
                    &limitations,
                    &self.sources,
                    evaluated.as_str(),
                    status.number(),
                ))?;
            }
            ReviewFormat::Junit => {
                output::eprint(&passed_over.text(lists_passed_over));
                self.notices.extend(undefined);
                self.notices.extend(project::notices("review"));
                let rule = junit::PassRule {
                    failure: &self.arguments.failure,
                    is_evaluated: scope.can_deny(),
                };
                let (errors, notices) = (self.errors.all(), self.notices.all());
                let xml = junit::of("review", &self.records, errors, &notices, &self.sources, &rule);
                output::print_xml(&xml)?;
            }
            ReviewFormat::Github => {
                self.notices.extend(undefined);
                self.notices.extend(project::notices("review"));
                let line = text!("{}{}", passed_over.text(lists_passed_over), counts);
                let mut commands = github::run(self.errors.all(), &self.notices.all());
                sources::annotate(&self.sources, &mut commands);
                commands.log(&line);
                output::print_github(&commands)?;
            }
            ReviewFormat::Diff => output::eprint(&passed_over.text(lists_passed_over)),
            ReviewFormat::Yaml => output::eprint(&text!(
                "{}{}{}",
                self.tally.reasons.human(),
                passed_over.text(lists_passed_over),
                counts
            )),
        }
        limitations::report(&limitations, self.arguments.output);
        Ok(status)
    }
}
