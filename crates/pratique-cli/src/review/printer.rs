//! Prints what was reviewed, in order, and counts it.

use pratique_review::{PodPolicies, SourceFile};

use crate::acceptance::{AcceptanceRules, AcceptanceSummary, AcceptedFindings};
use crate::arguments::{AnswerArguments, FailOn, ReviewFormat};
use crate::evaluation::assumptions::AssumedKinds;
use crate::evaluation::junit;
use crate::evaluation::limitations::{self, ObjectLimitations};
use crate::evaluation::record::DecisionRecord;
use crate::evaluation::summary::EvaluationSummary;
use crate::evaluation::unbound::EvaluationScope;
use crate::evaluation::unexpanded_workloads::UnexpandedWorkloads;
use crate::exit::{CliError, ExitStatus};
use crate::input::PassedOver;
use crate::input::sources;
use crate::output::github::AnnotationCounts;
use crate::output::notice::{InputNotice, InputNotices};
use crate::output::text::{PrintableText, text};
use crate::output::{self, PrintedOutput};
use crate::output_target::{self, OutputTarget};
use crate::project;
use crate::review::answers::PrintedAnswers;
use crate::review::ending::ReviewEnding;
use crate::review::input_policies::{self, ForeignPolicies, PathObjects};
use crate::review::object_comparison::OperationCounts;
use crate::review::object_files::ObjectFiles;
use crate::review::tally::ReviewTally;
use crate::review::work::{DisplayedOutput, PartEnd, ReviewedPart};
use crate::stream::input_errors::InputErrors;
use crate::stream::progress::ProgressLine;
use crate::stream::repeated_objects::NamedInputs;

/// After how many errors the rest of a file is not reviewed.
const MAX_ERRORS: usize = 1000;

/// Prints what comes of the inputs.
pub(super) struct ReviewPrinter<'a> {
    arguments: &'a AnswerArguments,
    outputs: Vec<OutputTarget<ReviewFormat>>,
    annotations: AnnotationCounts,
    pub(super) errors: InputErrors,
    tally: ReviewTally,
    accepted: AcceptedFindings,
    pub(super) operations: OperationCounts,
    pub(super) policies: usize,
    named: NamedInputs,
    progress: ProgressLine,
    answers: PrintedAnswers,
    side_answers: PrintedAnswers,
    /// Where the objects that are allowed are written to.
    object_files: Option<ObjectFiles>,
    records: Vec<DecisionRecord>,
    assumed: AssumedKinds,
    unexpanded: UnexpandedWorkloads,
    pub(super) notices: InputNotices,
    limitations: ObjectLimitations,
    /// Errors of the current file, and whether the rest of it is dropped.
    file_errors: usize,
    is_given_up: bool,
    /// Whether the current path of the user has an object, an empty list or an error.
    path_has_something: bool,
    path_objects: PathObjects,
    /// What is told of paths whose policies are not evaluated for other objects.
    unevaluated: Vec<InputNotice>,
    foreign: ForeignPolicies,
    /// Whether policies were given as inputs, and none as policies.
    lacks_policies: bool,
    pub(super) object_count: usize,
    pub(super) empty_lists: usize,
    /// Files that are no objects of the API.
    pub(super) sources: Vec<SourceFile>,
}

/// The line about files that are no objects of the API, if there are any.
fn sources_line(sources: &[SourceFile]) -> PrintableText {
    sources::summary(sources).map_or_else(PrintableText::new, |summary| text!("{}\n", summary))
}

/// Whether answers are printed as they come, and all of them.
fn prints_answers(format: ReviewFormat, arguments: &AnswerArguments) -> bool {
    match format {
        ReviewFormat::Human => !arguments.summary && !arguments.quiet,
        ReviewFormat::Json
        | ReviewFormat::Ndjson
        | ReviewFormat::Github
        | ReviewFormat::Diff
        | ReviewFormat::Yaml => true,
        ReviewFormat::Sarif | ReviewFormat::Junit => false,
    }
}

impl<'a> ReviewPrinter<'a> {
    /// A printer; `errors` and `notices` are those that were found and told before.
    ///
    /// # Errors
    /// An output cannot be written, or there is no directory for objects that are to be.
    pub(super) fn new(
        arguments: &'a AnswerArguments,
        errors: InputErrors,
        notices: InputNotices,
    ) -> Result<Self, CliError> {
        let directory = arguments.output_dir.as_deref();
        let outputs = OutputTarget::open_all(&arguments.outputs.choices()?)?;
        let main = outputs
            .first()
            .map_or(ReviewFormat::Human, |output| output.format);
        Ok(ReviewPrinter {
            answers: PrintedAnswers::new(arguments.all),
            side_answers: PrintedAnswers::naming_all(arguments.all),
            object_files: directory.map(ObjectFiles::create).transpose()?,
            arguments,
            errors,
            tally: ReviewTally::default(),
            accepted: AcceptedFindings::default(),
            operations: OperationCounts::default(),
            policies: 0,
            named: NamedInputs::default(),
            progress: ProgressLine::new(prints_answers(main, arguments)),
            outputs,
            annotations: AnnotationCounts::default(),
            records: Vec::new(),
            assumed: AssumedKinds::default(),
            unexpanded: UnexpandedWorkloads::default(),
            notices,
            limitations: ObjectLimitations::default(),
            file_errors: 0,
            is_given_up: false,
            path_has_something: false,
            path_objects: PathObjects::default(),
            unevaluated: Vec::new(),
            foreign: ForeignPolicies::default(),
            lacks_policies: false,
            object_count: 0,
            empty_lists: 0,
            sources: Vec::new(),
        })
    }

    /// The outputs, as decisions are shown in them.
    pub(super) fn displayed_outputs(&self) -> Vec<DisplayedOutput> {
        let outputs = self.outputs.iter().map(|output| DisplayedOutput {
            format: output.format,
            style: output.style(),
        });
        outputs.collect()
    }

    /// Prints what came of a part of the inputs.
    pub(super) fn print(&mut self, mut reviewed: ReviewedPart) -> Result<(), CliError> {
        self.add_named(&mut reviewed);
        let is_silent = reviewed.side_answers.is_empty()
            && reviewed.printed.iter().all(PrintedOutput::is_empty)
            && reviewed.answers.is_empty()
            && reviewed.errors.is_empty()
            && reviewed.notices.is_empty()
            && reviewed.end.is_none();
        if !is_silent {
            self.progress.clear();
        }
        let printed = self.add(reviewed);
        self.progress.show(self.object_count, self.tally.denied);
        printed
    }

    /// Adds the objects of a part by their names. What is dropped with the rest of a file is not among them.
    fn add_named(&mut self, reviewed: &mut ReviewedPart) {
        let is_dropped = self.is_given_up && !matches!(reviewed.end, Some(PartEnd::File));
        let named = std::mem::take(&mut reviewed.named).into_iter();
        named
            .filter(|_| !is_dropped)
            .for_each(|input| self.named.add(input));
    }

    fn add(&mut self, mut reviewed: ReviewedPart) -> Result<(), CliError> {
        match reviewed.end {
            Some(PartEnd::File) => (self.file_errors, self.is_given_up) = (0, false),
            Some(PartEnd::Path(path)) => {
                let has_something = std::mem::take(&mut self.path_has_something);
                let objects = std::mem::take(&mut self.path_objects);
                self.unevaluated.extend(objects.unevaluated(&path));
                if !has_something && self.object_count + self.errors.count() > 0 {
                    self.notices
                        .tell(InputNotice::new("no-object", path, "there is no object in it"));
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
        reviewed.errors.retain(|error| !self.errors.has(error));
        for answer in &reviewed.side_answers {
            output::eprint(&self.side_answers.print(answer));
        }
        if !reviewed.errors.is_empty() {
            output::eprint(&reviewed.error_text);
        }
        for assumed in reviewed.assumed {
            self.assumed.add(assumed);
        }
        self.unexpanded.add(reviewed.unexpanded);
        self.limitations.add(reviewed.limitations);
        self.tally.add(reviewed.tally);
        self.accepted.add(reviewed.accepted);
        self.operations.add(reviewed.operations);
        self.policies += reviewed.policies;
        self.path_objects.all += reviewed.object_count;
        self.path_objects.policies += reviewed.policies;
        self.path_objects.bindings += reviewed.bindings;
        self.foreign.add(reviewed.foreign);
        self.records.extend(reviewed.records);
        self.annotations.add(reviewed.annotations);
        let answers = &mut self.answers;
        if let Some(human) = output_target::in_format(&mut self.outputs, ReviewFormat::Human) {
            human.print(|| {
                let mut answers = reviewed.answers.iter().map(|answer| answers.print(answer));
                answers.try_for_each(|text| output::print(&text))
            })?;
        }
        if let Some(files) = &mut self.object_files {
            reviewed
                .objects
                .iter()
                .try_for_each(|object| files.write(object))?;
        }
        for (output, printed) in self.outputs.iter_mut().zip(&reviewed.printed) {
            output.add(printed)?;
        }
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

    /// Tells what was done with policies among the inputs. `evaluates` is whether they are evaluated as well, `has_none` whether
    /// nobody named policies.
    pub(super) fn report_policies(&mut self, evaluates: bool, has_none: bool) {
        for notice in self.foreign.notices() {
            self.notices.tell(notice);
        }
        // Policies alone are objects like others: there is nothing that they could have been given for.
        let is_question = !evaluates && has_none && self.object_count > self.policies;
        let unevaluated = std::mem::take(&mut self.unevaluated);
        self.lacks_policies = has_none && !self.foreign.is_empty();
        if !is_question || unevaluated.is_empty() {
            return input_policies::report(self.policies, evaluates);
        }
        self.lacks_policies = true;
        for notice in unevaluated {
            self.notices.tell(notice);
        }
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
        for notice in self.named.notices() {
            self.notices.tell(notice);
        }
        for notice in self.assumed.notices(", or name the resource with --resource") {
            self.notices.tell(notice);
        }
        for notice in self.unexpanded.warnings(pod_policies) {
            self.notices.tell(notice);
        }
        // They were told before.
        self.notices.extend(scope.notices());
        let count = self.errors.count();
        let limitations = self.limitations.list(false);
        let undefined = limitations::notices(&limitations).collect::<Vec<_>>();
        let failure = &self.arguments.failure;
        let why_unevaluated = if !scope.can_deny() {
            Some(junit::NOTHING_REFUSES)
        } else if self.lacks_policies {
            Some("policies among the inputs are not evaluated")
        } else if self.object_count == 0 && count == 0 {
            Some("there is nothing to review")
        } else {
            None
        };
        let mut status = failure.status(|on| match on {
            FailOn::Deny => self.tally.denied > 0,
            FailOn::Warn => {
                self.tally.warned + self.tally.ignored + self.notices.count() + undefined.len() > 0
            }
            FailOn::Audit => self.tally.audited > 0,
            FailOn::Error => count > 0,
            FailOn::Undecided => self.tally.undecided > 0 || why_unevaluated.is_some(),
        });
        if accepted.fails(failure) {
            status = status.worse(Some(ExitStatus::Failure));
        }
        let summary = self.arguments.summary;
        let counts = text!(
            "{}\n{}{}{}{}",
            self.tally.line(count),
            accepted.human(),
            scope.counted(),
            sources_line(&self.sources),
            evaluated.line()
        );
        let mut of_servers = self.notices.clone();
        of_servers.extend(undefined.iter().cloned());
        of_servers.extend(project::notices("review"));
        let evaluated_line = evaluated.as_str().to_owned();
        evaluated.add_accepted(accepted);
        let ending = ReviewEnding {
            tally: &self.tally,
            summary,
            left_out: self.answers.left_out(),
            counts,
            passed_over,
            lists_passed_over,
            errors: &self.errors,
            notices: &self.notices,
            of_servers: of_servers.list(),
            warnings: self.notices.count() + undefined.len(),
            limitations: &limitations,
            sources: &self.sources,
            records: &self.records,
            accepted,
            evaluated: &evaluated_line,
            evaluated_with_accepted: evaluated.as_str(),
            rule: junit::PassRule {
                failure,
                why_unevaluated,
            },
            exit_code: status.number(),
            annotations: self.annotations,
        };
        let main = self.outputs.first().map(|output| output.format);
        output_target::print_all(self.outputs, |format, is_stdout| ending.print(format, is_stdout))?;
        let main = main.unwrap_or(ReviewFormat::Human);
        limitations::report(&limitations, main, self.arguments.quiet);
        Ok(status)
    }
}
