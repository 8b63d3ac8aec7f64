//! Policies evaluated for a request, as `pratique review` does.

use pratique::api_objects::{ApiObjects, GivenRequest, ReceivedRequest};
use pratique::authorization::Authorizer;
use pratique::policy::object_model::Refused;
use pratique::{EvalContext, ObjectModel, Outcome};
use pratique_explain::Recorder;
use pratique_policy::DenialCause;
use pratique_review::reads_managed_fields;
use serde::Serialize;
use std::sync::Arc;

use crate::access;
use crate::cluster::Cluster;
use crate::decision_report::{DecisionRecorder, DecisionReport};
use crate::expansion::{Decided, Workload};
use crate::findings::Finding;
use crate::input::{self, Input};
use crate::policies::{self, Loaded, Report};
use crate::request::Evaluate;

/// The answer to an [`Evaluate`]: the problems of the inputs, or the decision.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluation {
    #[serde(flatten)]
    report: Report,
    /// The assumptions that were made.
    notes: Vec<String>,
    /// The decision, and how it came about.
    #[serde(flatten)]
    decision: Option<Box<DecisionReport>>,
}

/// Evaluates a request.
pub(crate) fn evaluate(arguments: &Evaluate) -> Evaluation {
    let mut evaluation = Evaluation::default();
    let report = &mut evaluation.report;
    let loaded = policies::load(arguments, report);
    let cluster = Cluster::read(&arguments.cluster, &mut report.problems);
    let input = input::request(arguments, &cluster, &mut report.problems);
    let authorizer = access::authorizer(arguments.authorizer.as_deref(), &cluster).map_err(|problems| {
        report.problems.extend(problems);
    });
    let (Some(loaded), Some(input), Ok(authorizer), true) =
        (loaded, input, authorizer, report.problems.is_empty())
    else {
        return evaluation;
    };
    evaluation.notes.clone_from(&input.notes);
    let engine = Engine {
        arguments,
        loaded: &loaded,
        cluster: &cluster,
        authorizer,
    };
    let workload = Workload::of(&input, arguments.expand, &loaded);
    let mut decided = match engine.decide(input) {
        Ok(decided) => decided,
        Err(problem) => {
            evaluation.report.problems.push(*problem);
            return evaluation;
        }
    };
    let of_pod = workload.map_or(Ok(()), |workload| workload.decide_pod(&engine, &mut decided));
    if let Err(problem) = of_pod {
        evaluation.report.problems.push(*problem);
    }
    evaluation.decision = Some(Box::new(decided.report));
    evaluation
}

/// What decides about requests.
pub(crate) struct Engine<'a> {
    arguments: &'a Evaluate,
    loaded: &'a Loaded,
    cluster: &'a Cluster,
    authorizer: Arc<dyn Authorizer>,
}

/// How the object of a request is processed besides admission.
enum Stage<'s> {
    /// A server sent it, and it stays as it is.
    Unchanged,
    /// It stays as it was written.
    Given(GivenRequest),
    Sent(&'s ApiObjects),
    Received(Box<ReceivedRequest<'s>>),
}

impl Stage<'_> {
    fn model(&self) -> Option<&dyn ObjectModel> {
        match self {
            Stage::Unchanged => None,
            Stage::Given(given) => Some(given),
            Stage::Sent(objects) => Some(*objects),
            Stage::Received(received) => Some(&**received),
        }
    }
}

impl Engine<'_> {
    /// The decision on a request.
    pub(crate) fn decide(&self, input: Input) -> Result<Decided, Box<Finding>> {
        let Engine {
            arguments,
            loaded,
            cluster,
            authorizer,
        } = self;
        let Input {
            mut request,
            is_sent,
            received,
            ..
        } = input;
        let api_objects = match arguments.as_given {
            true => None,
            false => {
                let manages = reads_managed_fields(&loaded.sets);
                Some(cluster.kinds.clone().with_managed_fields(manages))
            }
        };
        let mut warnings = match received {
            Ok(warnings) => warnings,
            Err(outcome) => {
                let report = DecisionReport::refused(*outcome, &request);
                return Ok(Decided { report, request });
            }
        };
        let stage = match (&api_objects, is_sent) {
            (None, true) => Stage::Unchanged,
            (None, false) => Stage::Given(GivenRequest::new(&request)),
            (Some(objects), true) => Stage::Sent(objects),
            (Some(objects), false) => match objects.receive_recorded(&mut request) {
                Ok(received) => {
                    warnings.extend_from_slice(received.unknown_fields());
                    warnings.extend_from_slice(received.warnings());
                    Stage::Received(Box::new(received))
                }
                Err(refused) => {
                    let report = DecisionReport::refused(refusal(refused), &request);
                    return Ok(Decided { report, request });
                }
            },
        };
        // The namespace of an object is assumed to exist; with a whole request, `cluster` has all that exists.
        let assumed = arguments.request.is_none().then_some(request.namespace.as_str());
        let view = cluster.view(assumed);
        let recorder = Recorder::new();
        let mut decisions = DecisionRecorder::default();
        let context = EvalContext::new(&view, Arc::clone(authorizer))
            .with_object_model(stage.model())
            .with_trace(&recorder);
        let evaluated = loaded.admission.admit_policies(&request, context, &mut decisions);
        let mut outcome = evaluated.map_err(|error| {
            Finding::plain(
                "not-evaluated",
                format!("the request cannot be evaluated: {error}"),
            )
        })?;
        outcome.warnings.splice(0..0, warnings);
        let mut explanation = recorder.explanation();
        for (origin, set) in &loaded.sets {
            explanation.locate(*origin, set);
        }
        let defaults = match &stage {
            Stage::Received(received) => received.defaults(),
            Stage::Unchanged | Stage::Given(_) | Stage::Sent(_) => Vec::new(),
        };
        let report = DecisionReport::new(outcome, &request, &explanation, decisions, defaults);
        Ok(Decided { report, request })
    }
}

/// The outcome of a request that a server refuses before admission.
fn refusal(refused: Refused) -> Outcome {
    let mut outcome = Outcome::refused(*refused.status);
    outcome.cause = Some(DenialCause::Rule);
    outcome.warnings = refused.warnings;
    outcome
}
