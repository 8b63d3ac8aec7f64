//! Reviews a part of the inputs, up to what is to be printed.

use std::sync::Arc;

use pratique::UnfinishedEvaluation;
use pratique::api_objects::ApiObjects;
use pratique_json::Value;
use pratique_manifest::ManifestSet;
use pratique_policy::Origin;
use pratique_request::{AssumedResource, review};
use pratique_review::{
    ChainRequest, Decision, PreparedObject, Review, ReviewDetail, ReviewInput, Reviewer, StepRecord,
    WorkloadPods, decode_warnings,
};
use pratique_schema::Release;
use pratique_types::Operation;

use crate::acceptance::{AcceptanceRules, AcceptedFindings};
use crate::arguments::ReviewFormat;
use crate::evaluation::assumptions::depends_on_resource;
use crate::evaluation::decision::read_decision;
use crate::evaluation::definitions::AssumedKind;
use crate::evaluation::diff;
use crate::evaluation::expansion::ExpansionRule;
use crate::evaluation::github;
use crate::evaluation::input_request::InputRequest;
use crate::evaluation::limitations::ObjectLimitations;
use crate::evaluation::record::{DecisionRecord, SERVER_WARNING};
use crate::evaluation::report::{self, HumanReview, JsonReview, ShownDetail};
use crate::evaluation::request::RequestBuilder;
use crate::evaluation::result::{MadePod, ReviewResult};
use crate::evaluation::state::ClusterState;
use crate::evaluation::unexpanded_workloads::UnexpandedWorkloads;
use crate::exit::CliError;
use crate::input::fields::PieceFields;
use crate::input::rendering::RenderedInputs;
use crate::input::{InputError, InputObject, ParsedObjects, piece};
use crate::output::PrintedOutput;
use crate::output::github::{AnnotationCounts, WorkflowCommands};
use crate::output::json::ReleaseLine;
use crate::output::notice::InputNotice;
use crate::output::text::PrintableText;
use crate::review::input_policies::{self, ForeignPolicies};
use crate::review::object_comparison::OperationCounts;
use crate::review::object_files::ResultObject;
use crate::review::tally::ReviewTally;
use crate::stream::input_errors::{JsonError, described};
use crate::stream::ordered_work::UnitTurn;
use crate::stream::read::InputUnit;
use crate::stream::repeated_objects::NamedInput;
use crate::style::StreamStyle;

/// Reviews the objects of inputs.
pub(super) struct InputReviewer<'a> {
    pub(super) builder: RequestBuilder<'a>,
    pub(super) reviewer: Reviewer<'a>,
    /// The policies, to which explanations refer.
    pub(super) sets: &'a [(Origin, ManifestSet)],
    pub(super) display: DisplayOptions,
    /// Of which workloads the Pods are reviewed.
    pub(super) expansion: ExpansionRule<'a>,
    /// Which findings are accepted.
    pub(super) acceptance: &'a AcceptanceRules,
    /// What objects were made of.
    pub(super) rendered: RenderedInputs,
}

/// Which decisions are shown, and how.
#[derive(Clone, Debug)]
pub(super) struct DisplayOptions {
    /// The outputs, of which the first is that on standard output.
    pub(super) outputs: Vec<DisplayedOutput>,
    /// The release that decides.
    pub(super) release: &'static Release,
    pub(super) quiet: bool,
    pub(super) summary: bool,
    /// Whether the steps of the chain that do nothing are shown.
    pub(super) explain: bool,
    /// Whether each failed validation is shown.
    pub(super) all: bool,
    /// Whether the objects that are allowed are needed.
    pub(super) keeps_objects: bool,
}

/// An output, and the style of its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct DisplayedOutput {
    pub(super) format: ReviewFormat,
    pub(super) style: StreamStyle,
}

/// How many bytes of output a part of a result has at least, unless it is the last.
const PART: usize = 256 << 10;

/// The results of a part of the inputs.
#[derive(Default)]
pub(super) struct ReviewedPart {
    /// What is printed as it comes, for each output.
    pub(super) printed: Vec<PrintedOutput>,
    /// How many annotations of GitHub are among it.
    pub(super) annotations: AnnotationCounts,
    /// The answers as text, of which not all are printed whole.
    pub(super) answers: Vec<HumanReview>,
    /// The objects that are allowed, for files.
    pub(super) objects: Vec<ResultObject>,
    /// The answers that are told beside an output without them.
    pub(super) side_answers: Vec<HumanReview>,
    pub(super) notices: Vec<InputNotice>,
    pub(super) tally: ReviewTally,
    pub(super) accepted: AcceptedFindings,
    pub(super) operations: OperationCounts,
    /// How many objects configure admission.
    pub(super) policies: usize,
    /// How many of them bind policies.
    pub(super) bindings: usize,
    /// Policies of other engines.
    pub(super) foreign: ForeignPolicies,
    /// The objects by their names, of which each should be there once.
    pub(super) named: Vec<NamedInput>,
    pub(super) errors: Vec<JsonError>,
    /// They as text.
    pub(super) error_text: PrintableText,
    /// The resources that were assumed where the decision depends on them, with the places of objects.
    pub(super) assumed: Vec<AssumedKind>,
    /// The decisions, for outputs that begin with what is known at the end.
    pub(super) records: Vec<DecisionRecord>,
    /// Workloads whose Pods were not reviewed.
    pub(super) unexpanded: UnexpandedWorkloads,
    /// What an API server does and the review did not.
    pub(super) limitations: ObjectLimitations,
    /// How many objects there were.
    pub(super) object_count: usize,
    pub(super) empty_lists: usize,
    /// Ends the command.
    pub(super) fatal: Option<CliError>,
    pub(super) end: Option<PartEnd>,
}

/// A request before it is decided about.
struct OpenRequest<'o> {
    input: InputRequest<'o>,
    pods: WorkloadPods,
    prepared: PreparedObject<'o>,
    /// As the chain received it, if one is run.
    received: Option<ChainRequest<'o>>,
}

/// Where a part of the inputs ends.
pub(super) enum PartEnd {
    File,
    Path(String),
}

impl InputReviewer<'_> {
    /// Reviews a part of the inputs. What comes of it is emitted in parts, so that not much of it is held.
    pub(super) fn review(&self, unit: InputUnit, turn: UnitTurn, emit: &mut dyn FnMut(ReviewedPart)) {
        let mut reviewed = ReviewedPart::default();
        match unit {
            InputUnit::Piece { path, piece, state } => {
                let objects = piece::read(&path, &piece, state.release());
                let fields = PieceFields::new(&path, &piece);
                let given = (objects, turn);
                if let Err(error) = self.objects(given, (&state, &fields), &mut reviewed, emit) {
                    reviewed.fatal = Some(error);
                }
            }
            InputUnit::Notices(notices) => reviewed.notices.extend(notices),
            InputUnit::Fault(fault) => reviewed.fault(fault),
            InputUnit::EndOfFile => reviewed.end = Some(PartEnd::File),
            InputUnit::EndOfPath(path) => reviewed.end = Some(PartEnd::Path(path)),
        }
        emit(reviewed);
    }

    fn objects(
        &self,
        (objects, turn): (ParsedObjects<'_>, UnitTurn),
        (state, fields): (&ClusterState, &PieceFields<'_>),
        reviewed: &mut ReviewedPart,
        emit: &mut dyn FnMut(ReviewedPart),
    ) -> Result<(), CliError> {
        reviewed.empty_lists = objects.empty_lists;
        reviewed.object_count = objects.objects.len();
        reviewed.notices.extend(objects.reading_warnings());
        for fault in objects.faults {
            reviewed.fault(fault);
        }
        if self.reviewer.chain_objects().is_some() {
            return self.objects_in_chain((objects.objects, turn), (state, fields), reviewed, emit);
        }
        let built = objects
            .objects
            .into_iter()
            .map(|input| self.build(input, (state, fields), reviewed));
        let built: Vec<Result<InputRequest<'_>, InputError>> = built.collect();
        // Of an AdmissionReview the object in it counts.
        let is_in_order = |built: &InputRequest<'_>| self.reviewer.keeps_order_of(&built.request.object);
        let _turn = turn.begin_if(built.iter().flatten().any(is_in_order));
        for built in built {
            match built {
                Ok(built) => self.request(built, (state, Some(fields)), reviewed)?,
                Err(error) => reviewed.fault_of_request(error)?,
            }
            reviewed.emit_part(emit);
        }
        Ok(())
    }

    /// Reviews objects by a chain. What depends on no request before is done at once; the chain itself is run in the turn of the
    /// objects, after those of all parts before.
    fn objects_in_chain(
        &self,
        (objects, turn): (Vec<InputObject<'_>>, UnitTurn),
        (state, fields): (&ClusterState, &PieceFields<'_>),
        reviewed: &mut ReviewedPart,
        emit: &mut dyn FnMut(ReviewedPart),
    ) -> Result<(), CliError> {
        let built = objects
            .into_iter()
            .map(|input| self.build(input, (state, fields), reviewed));
        let built: Vec<Result<InputRequest<'_>, InputError>> = built.collect();
        let states = built.iter().map(|built| {
            let input = built.as_ref().ok()?;
            state.at(&input.location, &input.request.namespace)
        });
        let changed_states: Vec<Option<Arc<ClusterState>>> = states.collect();
        let states = || {
            changed_states
                .iter()
                .map(move |changed| changed.as_deref().unwrap_or(state))
        };
        let opened = built.into_iter().zip(states());
        let opened = opened.map(|(built, state)| {
            built.map(|input| {
                reviewed.operations.count(input.request.operation);
                let pods = self.expansion.pods_of(&input, false);
                self.open(input, pods, state)
            })
        });
        let opened: Vec<Result<OpenRequest<'_>, InputError>> = opened.collect();
        let has_pods = |open: &OpenRequest<'_>| matches!(open.pods, WorkloadPods::Evaluated(_));
        let expands = opened.iter().flatten().any(has_pods);
        turn.begin();
        if expands {
            // The Pod of a workload comes right after it, and is made of what the chain makes of it.
            for (opened, state) in opened.into_iter().zip(states()) {
                match opened {
                    Ok(mut open) => {
                        let review = self.decide(&mut open, state);
                        self.answer(&open, review, (state, Some(fields)), reviewed)?;
                    }
                    Err(error) => reviewed.fault_of_request(error)?,
                }
                reviewed.emit_part(emit);
            }
            return Ok(());
        }
        let decided = opened.into_iter().zip(states()).map(|(opened, state)| {
            opened.map(|mut open| {
                let review = self.decide(&mut open, state);
                (open, review)
            })
        });
        let decided: Vec<_> = decided.collect();
        drop(turn);
        for (decided, state) in decided.into_iter().zip(states()) {
            match decided {
                Ok((open, review)) => self.answer(&open, review, (state, Some(fields)), reviewed)?,
                Err(error) => reviewed.fault_of_request(error)?,
            }
            reviewed.emit_part(emit);
        }
        Ok(())
    }

    /// Builds the request of an input.
    fn build<'t>(
        &self,
        mut input: InputObject<'t>,
        (state, fields): (&ClusterState, &PieceFields<'_>),
        reviewed: &mut ReviewedPart,
    ) -> Result<InputRequest<'t>, InputError> {
        input.origin = self.rendered.origin(fields, &input.location, &input.object);
        let is_review = review::is_review(&input.object);
        let built = if is_review {
            decode_review(input, state.release(), reviewed)?
        } else {
            let number = input.location.document + 1;
            self.builder.input(input, &state.view.resolver, number)?
        };
        let resource = &built.request.resource;
        reviewed.policies += usize::from(input_policies::configures_admission(resource));
        reviewed.bindings += usize::from(input_policies::binds_policies(resource));
        reviewed.foreign.add_request(&built);
        reviewed.named.extend(NamedInput::from_request(&built, is_review));
        Ok(built)
    }

    fn request(
        &self,
        input: InputRequest<'_>,
        (state, fields): (&ClusterState, Option<&PieceFields<'_>>),
        reviewed: &mut ReviewedPart,
    ) -> Result<(), CliError> {
        let changed_state = state.at(&input.location, &input.request.namespace);
        let state = changed_state.as_deref().unwrap_or(state);
        reviewed.operations.count(input.request.operation);
        let pods = self.expansion.pods_of(&input, false);
        let mut open = self.open(input, pods, state);
        let review = self.decide(&mut open, state);
        self.answer(&open, review, (state, fields), reviewed)
    }

    /// Does what depends on no request before.
    fn open<'o>(
        &'o self,
        mut input: InputRequest<'o>,
        pods: WorkloadPods,
        state: &'o ClusterState,
    ) -> OpenRequest<'o> {
        OpenRequest {
            pods,
            prepared: self.reviewer.prepare(&mut input, state.api_objects()),
            received: self.reviewer.receive_in_chain(&input),
            input,
        }
    }

    /// Decides about a request.
    fn decide(
        &self,
        open: &mut OpenRequest<'_>,
        state: &ClusterState,
    ) -> Result<Review, UnfinishedEvaluation> {
        let detail = self.detail(open);
        let (input, prepared) = (&open.input, &open.prepared);
        match open.received.take() {
            Some(received) => {
                self.reviewer
                    .decide_in_chain(&state.view.objects, (input, prepared), received, detail)
            }
            None => self.reviewer.decide(&state.view.objects, input, prepared),
        }
    }

    /// What is looked at of the review of a request by the chain.
    fn detail(&self, open: &OpenRequest<'_>) -> ReviewDetail {
        if matches!(open.pods, WorkloadPods::Evaluated(_)) {
            return ReviewDetail::default();
        }
        let DisplayOptions { quiet, summary, .. } = self.display;
        let of_format = |format| match format {
            ReviewFormat::Human if summary => (StepRecord::Nothing, false),
            ReviewFormat::Human if quiet => (StepRecord::Remarkable, false),
            ReviewFormat::Human | ReviewFormat::Diff => (StepRecord::All, false),
            ReviewFormat::Json => (StepRecord::All, true),
            ReviewFormat::Ndjson | ReviewFormat::Yaml => (StepRecord::Remarkable, true),
            ReviewFormat::Github | ReviewFormat::Sarif | ReviewFormat::Junit => {
                (StepRecord::Remarkable, false)
            }
        };
        let formats = self.display.outputs.iter().map(|output| of_format(output.format));
        let (steps, shows_object) = formats.fold((StepRecord::Nothing, false), |most, one| {
            (most.0.max(one.0), most.1 || one.1)
        });
        ReviewDetail {
            steps,
            // A server completed what it sent, except for what is changed here.
            keeps_object: shows_object || self.display.keeps_objects || open.input.is_sent,
        }
    }

    /// Says what there is to say about a request that was decided about.
    fn answer(
        &self,
        open: &OpenRequest<'_>,
        review: Result<Review, UnfinishedEvaluation>,
        (state, fields): (&ClusterState, Option<&PieceFields<'_>>),
        reviewed: &mut ReviewedPart,
    ) -> Result<(), CliError> {
        let OpenRequest { input, pods, .. } = open;
        let result = self.assess(input, review, state, reviewed);
        if matches!(pods, WorkloadPods::Evaluated(_)) {
            self.workload((input, pods), result, (state, fields), reviewed)
        } else {
            reviewed.unexpanded.count(pods, input, false);
            self.show_if_decided(result, fields, reviewed)
        }
    }

    /// Reviews the deletions of stored objects that no input has.
    pub(super) fn deletions(
        &self,
        state: &ClusterState,
        emit: &mut dyn FnMut(ReviewedPart) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        for built in self.builder.deletions(&state.view.resolver) {
            let mut reviewed = ReviewedPart {
                object_count: 1,
                ..ReviewedPart::default()
            };
            match built {
                Ok(built) => self.request(built, (state, None), &mut reviewed)?,
                Err(error) => reviewed.fault(error),
            }
            emit(reviewed)?;
        }
        Ok(())
    }

    /// Reviews the Pod of a workload, as policies leave it, and shows the decisions on both: that on the workload names its Pod.
    fn workload(
        &self,
        (input, pods): (&InputRequest<'_>, &WorkloadPods),
        mut result: Option<ReviewResult<'_>>,
        (state, fields): (&ClusterState, Option<&PieceFields<'_>>),
        reviewed: &mut ReviewedPart,
    ) -> Result<(), CliError> {
        let decision = result.as_ref().map(|result| read_decision(&result.outcome));
        let changed = result.as_ref().and_then(|result| result.outcome.object.clone());
        let object = changed.as_ref().unwrap_or(&input.request.object);
        let pod = match self.expansion.pod(pods, decision, object, input) {
            Ok(Some(pod)) => pod,
            Ok(None) => return self.show_if_decided(result, fields, reviewed),
            Err(fault) => {
                self.show_if_decided(result, fields, reviewed)?;
                reviewed.fault(fault);
                return Ok(());
            }
        };
        let mut open = self.open(pod, WorkloadPods::None, state);
        let review = self.decide(&mut open, state);
        let mut of_pod = self.assess(&open.input, review, state, reviewed);
        let record = of_pod.as_mut().map(|of_pod| self.record(of_pod, fields));
        if let (Some(result), Some(record)) = (&mut result, &record) {
            result.pods.push(MadePod {
                name: record.name.clone(),
                decision: record.decision,
            });
        }
        self.show_if_decided(result, fields, reviewed)?;
        match of_pod.zip(record) {
            Some((of_pod, record)) => self.show(of_pod, record, fields, reviewed),
            None => Ok(()),
        }
    }

    /// The result of a review, with what there is to say about all such requests; an error is reported, and there is no result.
    fn assess<'q>(
        &self,
        input: &'q InputRequest<'q>,
        review: Result<Review, UnfinishedEvaluation>,
        state: &ClusterState,
        reviewed: &mut ReviewedPart,
    ) -> Option<ReviewResult<'q>> {
        match review {
            Ok(review) => {
                let mut result = ReviewResult::new(input, review);
                if let Some(explanation) = &mut result.explanation {
                    explanation.locate_in(self.sets);
                }
                // A server completed what it sent, except for what is changed here.
                let is_completed = !input.is_sent || result.outcome.object.is_some();
                if let (true, true, Some(objects)) =
                    (is_completed, input.received.is_ok(), self.api_objects(state))
                {
                    let validates = self.reviewer.validates();
                    reviewed
                        .limitations
                        .count(objects, input, &state.unusable, validates);
                }
                if let Some(assumed) = AssumedResource::from_request(&input.request) {
                    if depends_on_resource(&result.outcome) {
                        let kind = &input.request.kind;
                        let assumed = state.unusable.assumed(assumed, kind, input.place());
                        reviewed.assumed.push(assumed);
                    } else if input.received.is_ok() {
                        reviewed.limitations.count_unknown(assumed.kind, &input.place());
                    }
                }
                Some(result)
            }
            Err(why) => {
                reviewed.fault(input.unfinished(&why));
                None
            }
        }
    }

    /// The kinds whose objects are completed; `None` where objects stay as they are.
    fn api_objects<'s>(&'s self, state: &'s ClusterState) -> Option<&'s ApiObjects> {
        self.reviewer.chain_objects().or(state.api_objects())
    }

    fn show_if_decided(
        &self,
        result: Option<ReviewResult<'_>>,
        fields: Option<&PieceFields<'_>>,
        reviewed: &mut ReviewedPart,
    ) -> Result<(), CliError> {
        result.map_or(Ok(()), |mut result| {
            let record = self.record(&mut result, fields);
            self.show(result, record, fields, reviewed)
        })
    }

    /// The record of a decision, with what is accepted of it.
    fn record(&self, result: &mut ReviewResult<'_>, fields: Option<&PieceFields<'_>>) -> DecisionRecord {
        result.place_causes(fields);
        result.place_drops(fields);
        result.place_warnings(fields);
        let mut record = DecisionRecord::new(result);
        let request = &result.input.request;
        let object = if request.object.is_null() {
            &request.old_object
        } else {
            &request.object
        };
        self.acceptance.apply(&mut record, object);
        record
    }

    /// Shows a decision, and counts it.
    fn show(
        &self,
        result: ReviewResult<'_>,
        record: DecisionRecord,
        fields: Option<&PieceFields<'_>>,
        reviewed: &mut ReviewedPart,
    ) -> Result<(), CliError> {
        reviewed.tally.count(&record);
        reviewed.accepted.count(&record, self.acceptance);
        let DisplayOptions {
            ref outputs,
            quiet,
            summary,
            explain,
            all,
            keeps_objects,
            release,
        } = self.display;
        let detail = ShownDetail {
            all_steps: explain,
            all_findings: all,
            fields,
        };
        let is_clean = record.decision == Decision::Allowed
            && record.policies.is_empty()
            && record.accepted.is_empty()
            && record.warnings.is_empty()
            && record.dropped.is_empty()
            && record.pods.iter().all(MadePod::is_allowed);
        let object = stored_object(&result).filter(|_| record.decision == Decision::Allowed);
        if let (true, Some(object)) = (keeps_objects, object) {
            reviewed.objects.push(ResultObject::new(&record, object));
        }
        reviewed
            .printed
            .resize_with(outputs.len(), PrintedOutput::default);
        for (output, printed) in outputs.iter().zip(&mut reviewed.printed) {
            match output.format {
                ReviewFormat::Human if summary || (quiet && is_clean) => {}
                ReviewFormat::Human => {
                    let answer = report::one((&result, &record), detail, output.style);
                    reviewed.answers.push(answer);
                }
                ReviewFormat::Ndjson => printed.json_line(&ReleaseLine::new(&record, release))?,
                ReviewFormat::Github => {
                    let mut commands = WorkflowCommands::default();
                    github::annotate_record(&mut commands, &record);
                    reviewed.annotations.add(commands.counts());
                    printed.github(&commands);
                }
                ReviewFormat::Diff => printed.push_text(&diff::diff_text(&result, output.style)),
                ReviewFormat::Yaml => {
                    if let Some(object) = object.filter(|_| !keeps_objects) {
                        printed.yaml_document(object);
                    }
                }
                // They take the result, or are written at the end.
                ReviewFormat::Json | ReviewFormat::Sarif | ReviewFormat::Junit => {}
            }
        }
        let is_noted = match outputs.first().map(|output| output.format) {
            Some(ReviewFormat::Diff) => !result.outcome.allowed(),
            Some(ReviewFormat::Yaml) => object.is_none() && record.decision != Decision::Allowed,
            _ => false,
        };
        if is_noted {
            reviewed.note(&result, &record, detail);
        }
        let is_kept =
            |output: &DisplayedOutput| matches!(output.format, ReviewFormat::Sarif | ReviewFormat::Junit);
        let is_kept = outputs.iter().any(is_kept);
        let mut whole = outputs.iter().zip(&mut reviewed.printed);
        match whole.find(|(output, _)| output.format == ReviewFormat::Json) {
            Some((_, printed)) => {
                reviewed.records.extend(is_kept.then(|| record.clone()));
                let answer = JsonReview::new(result, record, explain);
                printed.json_line(&ReleaseLine::new(answer, release))
            }
            None => {
                reviewed.records.extend(is_kept.then_some(record));
                Ok(())
            }
        }
    }
}

/// The object of a request as the server would store it; `None` where nothing is stored, or a controller sends the request.
fn stored_object<'r>(result: &'r ReviewResult<'_>) -> Option<&'r Value<'r>> {
    let request = &result.input.request;
    let is_stored = matches!(request.operation, Operation::Create | Operation::Update);
    if !is_stored || result.input.parent.is_some() {
        return None;
    }
    let object = result.outcome.object.as_ref().unwrap_or(&request.object);
    (!object.is_null()).then_some(object)
}

/// Decodes the request of an AdmissionReview.
fn decode_review<'t>(
    input: InputObject<'t>,
    release: &'static Release,
    reviewed: &mut ReviewedPart,
) -> Result<InputRequest<'t>, InputError> {
    let place = input.place();
    let (location, origin) = (input.location, input.origin);
    match review::decode(&input.object.into_owned()) {
        Ok(request) => {
            reviewed.warn(&place, &decode_warnings(release, &request));
            Ok(InputRequest {
                input: ReviewInput::sent(request),
                location,
                origin,
            })
        }
        Err(error) => Err(InputError::Faulty {
            place,
            why: error.to_string(),
        }),
    }
}

impl ReviewedPart {
    /// Emits the results so far, if they are many.
    fn emit_part(&mut self, emit: &mut dyn FnMut(ReviewedPart)) {
        if self.len() >= PART {
            emit(std::mem::take(self));
        }
    }

    /// How many bytes there are to print, about.
    fn len(&self) -> usize {
        let answers = self.answers.iter().chain(&self.side_answers);
        let answers = answers.map(HumanReview::len);
        let objects = self.objects.iter().map(ResultObject::len);
        let printed = self.printed.iter().map(PrintedOutput::len);
        printed.sum::<usize>() + answers.sum::<usize>() + objects.sum::<usize>()
    }

    /// Adds an answer that is told beside the output.
    fn note(&mut self, result: &ReviewResult<'_>, record: &DecisionRecord, detail: ShownDetail<'_, '_>) {
        let detail = ShownDetail {
            all_steps: false,
            ..detail
        };
        let answer = report::one((result, record), detail, StreamStyle::of_stderr());
        self.side_answers.push(answer);
    }

    fn warn(&mut self, place: &str, messages: &[String]) {
        let notices = messages
            .iter()
            .map(|message| InputNotice::new(SERVER_WARNING, place, message));
        self.notices.extend(notices);
    }

    /// Reports why there is no request of an input, unless that ends the command.
    fn fault_of_request(&mut self, error: InputError) -> Result<(), CliError> {
        match error {
            InputError::Cli(error) => Err(error),
            error => {
                self.fault(error);
                Ok(())
            }
        }
    }

    fn fault(&mut self, fault: InputError) {
        match described(fault, StreamStyle::of_stderr()) {
            Ok((text, errors)) => {
                self.error_text.push(&text);
                self.errors.extend(errors);
            }
            Err(error) => self.fatal = Some(error),
        }
    }
}
