//! The whole chain of an API server over one request after another: defaults, its own admission plugins, policies and webhooks.

use std::sync::{Mutex, PoisonError};

use pratique::api_objects::{ApiObjects, ReceiveOptions, ReceivedRequest, RequestedService};
use pratique::authorization::CheckDecider;
use pratique::cluster::Cluster;
use pratique::observer::ChainObserver;
use pratique::policy::PolicyObserver;
use pratique::webhook::{Conditions, EndedCall, WebhookObserver};
use pratique::{
    Admission, AdmissionContext, AdmissionRequest, Attributes, ObjectModel, Outcome, UnfinishedEvaluation,
};
use pratique_json::{Value, text_at};
use pratique_state::{PluginState, StoredPart, is_stored_request};
use pratique_types::{Operation, Reason, Status};
use tokio::runtime::Runtime;

use crate::chain::{self, ReviewStep};
use crate::decisions::{DecisionRecorder, FAILED_CONDITION, ignored_failure};
use crate::exchange::WebhookExchange;
use crate::input::ReviewInput;
use crate::invalid_cause::{self, ObjectChange};
use crate::preparation::{Preparation, dropped_fields, refused_outcome};
use crate::review_detail::{ReviewDetail, StepRecord};
use crate::reviewer::Review;

/// The parts of the chain besides policies and webhooks.
#[derive(Debug)]
pub struct WholeChain {
    objects: ApiObjects,
    preparation: Preparation,
    /// The state of plugins after the requests so far. Requests are evaluated one after another.
    state: Mutex<PluginState>,
    /// What the inputs have for the Pods of controllers, wherever it stands: a controller tries again until its Pod is created.
    for_controllers: Vec<Value<'static>>,
}

/// What evaluates a request besides the state of plugins.
pub(crate) type ChainEngine<'e> = (&'e Admission, &'e dyn CheckDecider, &'e Runtime);

impl WholeChain {
    /// A chain with a state of the cluster, and what controllers find when they try again to create a Pod.
    pub fn new(state: PluginState, for_controllers: Vec<Value<'static>>, preparation: Preparation) -> Self {
        WholeChain {
            preparation,
            objects: state.api_objects.clone(),
            state: Mutex::new(state),
            for_controllers,
        }
    }

    /// The kinds whose objects are completed.
    pub fn api_objects(&self) -> &ApiObjects {
        &self.objects
    }

    pub(crate) fn validates(&self) -> bool {
        self.preparation.validates
    }

    /// Does with a request what the server does before the first step of its chain: decodes and defaults its object. That depends
    /// on no request before.
    pub(crate) fn receive<'s>(&'s self, input: &ReviewInput<'s>) -> ChainRequest<'s> {
        let mut request = input.request.clone();
        if input.is_sent {
            return ChainRequest {
                request,
                received: Ok(None),
            };
        }
        let options = ReceiveOptions {
            has_no_plugins: false,
            ..self.preparation.receive_options(self.objects.gates())
        };
        let received = match self.objects.receive_with(&mut request, options) {
            Ok(received) => {
                let unknown = received.unknown_fields().to_vec();
                match self.preparation.validated(&request.kind, unknown) {
                    Ok(warnings) => Ok(Some((received, warnings))),
                    Err(why) => Err(Outcome::refused(Status::failure(Reason::BadRequest, why))),
                }
            }
            Err(refused) => Err(refused_outcome(refused)),
        };
        ChainRequest {
            request,
            received: received.map_err(Box::new),
        }
    }

    /// Evaluates a request by the whole chain, and carries out what it changes.
    pub(crate) fn evaluate(
        &self,
        engine: ChainEngine<'_>,
        cluster: &(dyn Cluster + Sync),
        (input, open): (&ReviewInput<'_>, &ChainRequest<'_>),
        detail: ReviewDetail,
    ) -> Result<Review, UnfinishedEvaluation> {
        let request = &open.request;
        let received = match &open.received {
            Ok(received) => received.as_ref(),
            Err(outcome) => return Ok(refused_review((**outcome).clone())),
        };
        let model: &dyn ObjectModel = match received {
            Some((received, _)) => received,
            None => &self.objects,
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.enter(&request.namespace);
        let asked = ChainQuestion {
            engine,
            cluster,
            request,
            sent: &input.request.object,
            model,
        };
        let mut detail = detail;
        if detail.steps == StepRecord::Remarkable && asked.is_repeatable() {
            let unrecorded = ReviewDetail {
                steps: StepRecord::Nothing,
                ..detail
            };
            let tried = asked.ask_in(&state, unrecorded)?;
            // Which fields are dropped is known only now: the chain prepares the object.
            let has_remarks = input.received.as_ref().is_ok_and(|warnings| !warnings.is_empty())
                || received.is_some_and(|(received, unknown)| {
                    !unknown.is_empty()
                        || !received.warnings().is_empty()
                        || !received.dropped_fields().is_empty()
                });
            if tried.is_unremarkable() && !has_remarks {
                return Ok(self.conclude(&mut state, open, input, tried));
            }
            detail.steps = StepRecord::All;
        }
        let mut admitted = asked.ask_in(&state, detail)?;
        if let Some(later) = self.later_state(&state, input, &admitted.outcome) {
            let retried = asked.ask_in(&later, detail)?;
            // What was refused at first is decided by the last try. What is undecided may have been allowed at once, so that a
            // refusal later decides nothing; of two that are undecided, the later one names what is still unknown.
            if retried.outcome.status.is_none() || admitted.outcome.status.is_some() {
                admitted = retried;
            }
        }
        Ok(self.conclude(&mut state, open, input, admitted))
    }

    /// Carries out what an evaluated request changes, and says what there is to say about it.
    fn conclude(
        &self,
        state: &mut PluginState,
        open: &ChainRequest<'_>,
        input: &ReviewInput<'_>,
        answer: ChainAnswer,
    ) -> Review {
        let ChainAnswer {
            mut outcome,
            steps,
            object,
            recorder,
        } = answer;
        let request = &open.request;
        let received = open.received.as_ref().ok().and_then(Option::as_ref);
        if let Some((received, unknown)) = received {
            let warnings = unknown.iter().chain(received.warnings());
            outcome.warnings.splice(0..0, warnings.cloned());
        }
        let AdmittedObject { name, part, kept } = object;
        let is_completed =
            matches!(request.operation, Operation::Create | Operation::Update) && received.is_some();
        let completed = |mut object: Value<'static>| {
            if is_completed {
                // What is read from the storage is defaulted once more: a claim is pending. What cannot be converted stays as it is.
                drop(self.objects.complete(&request.kind, &mut object));
            }
            object
        };
        let part = match part {
            StoredPart::Whole(object) => StoredPart::Whole(completed(object)),
            other => other,
        };
        let whole = match (kept, &part) {
            (KeptObject::Whole(object), _) => Some(completed(object)),
            (KeptObject::Part, StoredPart::Whole(object)) => Some(object.clone()),
            (KeptObject::Nothing | KeptObject::Part, _) => None,
        };
        state.apply_part(request, &name, part, &outcome);
        if outcome.allowed() {
            outcome.object = whole.filter(|object| *object != input.request.object && !object.is_null());
        }
        let mut causes = Vec::new();
        if let (Some((received, _)), Some(status)) = (received, &outcome.status)
            && received.is_refused()
        {
            let invalid = received.invalid_object();
            let changes = ObjectChange::of_steps(&steps);
            causes = invalid_cause::causes(request, status, invalid.as_ref(), &changes);
        }
        Review {
            steps: Some(steps),
            causes,
            dropped: received.map_or_else(Vec::new, |(received, _)| dropped_fields(received)),
            ..recorder.into_review(outcome)
        }
    }

    /// The state in which a controller tries again to create a Pod that was not allowed: with what the inputs have for it after
    /// its workload. `None` where nothing is tried again.
    fn later_state(
        &self,
        state: &PluginState,
        input: &ReviewInput<'_>,
        outcome: &Outcome,
    ) -> Option<PluginState> {
        if outcome.allowed() || input.parent.is_none() {
            return None;
        }
        let namespace = &input.request.namespace;
        let is_in_namespace = |object: &&Value<'static>| {
            let named = object.at(&["metadata", "namespace"]).and_then(Value::as_str);
            named.is_none_or(|named| named == namespace)
        };
        let mut later = state.clone();
        let mut has_more = false;
        for object in self.for_controllers.iter().filter(is_in_namespace) {
            has_more |= later.add_missing(object);
        }
        has_more.then_some(later)
    }
}

/// The review of a request that the server refuses before the first step of its chain.
fn refused_review(outcome: Outcome) -> Review {
    Review {
        steps: Some(Vec::new()),
        ..Review::new(outcome)
    }
}

/// A request in the chain, as the server received it.
#[derive(Debug)]
pub struct ChainRequest<'s> {
    request: AdmissionRequest<'s>,
    /// With the messages about unknown fields; `None` if a server sent it. Or what the server answers before the first step.
    received: Result<Option<(ReceivedRequest<'s>, Vec<String>)>, Box<Outcome>>,
}

impl ChainRequest<'_> {
    /// The Service of the request, as it asks for addresses and ports.
    pub(crate) fn requested_service(&self) -> Option<RequestedService> {
        let received = self.received.as_ref().ok().and_then(Option::as_ref);
        received.and_then(|(received, _)| received.requested_service())
    }
}

/// What is asked of the chain, whatever the state.
struct ChainQuestion<'q> {
    engine: ChainEngine<'q>,
    cluster: &'q (dyn Cluster + Sync),
    request: &'q AdmissionRequest<'q>,
    /// The object before the server received it.
    sent: &'q Value<'q>,
    model: &'q dyn ObjectModel,
}

/// What the chain answers.
struct ChainAnswer {
    outcome: Outcome,
    steps: Vec<ReviewStep>,
    object: AdmittedObject,
    recorder: ExchangeRecorder,
}

/// What is kept of an object that is admitted.
#[derive(Debug)]
struct AdmittedObject {
    name: String,
    /// For the state.
    part: StoredPart,
    /// For whoever shows it.
    kept: KeptObject,
}

/// What is kept of an object that is admitted, to show it.
#[derive(Debug)]
enum KeptObject {
    /// Nobody shows it.
    Nothing,
    /// The part for the state is all of it.
    Part,
    /// All of it.
    Whole(Value<'static>),
}

impl ChainAnswer {
    /// Whether there is nothing to say but that the request is allowed.
    fn is_unremarkable(&self) -> bool {
        self.outcome.allowed() && self.outcome.warnings.is_empty() && self.recorder.decisions.0.is_empty()
    }
}

impl ChainQuestion<'_> {
    /// Whether the same can be asked again: webhooks may have side effects.
    fn is_repeatable(&self) -> bool {
        let (admission, ..) = self.engine;
        !admission.has_webhooks()
    }

    /// Evaluates the request in a state of plugins.
    fn ask_in(&self, state: &PluginState, detail: ReviewDetail) -> Result<ChainAnswer, UnfinishedEvaluation> {
        let (admission, decider, runtime) = self.engine;
        let context = AdmissionContext::new(self.cluster)
            .with_decider(decider)
            .with_plugins(state.inputs())
            .without_objects();
        let mut observer = AdmissionRecorder {
            field_names: admission.release().tables().types,
            state,
            keeps_object: detail.keeps_object,
            recorder: ExchangeRecorder::default(),
            object: AdmittedObject {
                name: String::new(),
                part: StoredPart::Nothing,
                kept: KeptObject::Nothing,
            },
        };
        let (outcome, steps) = if detail.steps == StepRecord::Nothing {
            let context = context.with_object_model(self.model);
            let admitted = admission.admit(self.request, context, &mut observer);
            (runtime.block_on(admitted)?, Vec::new())
        } else {
            let asked = (self.request, self.sent);
            let admitted = chain::admit(admission, asked, self.model, context, &mut observer);
            let admitted = runtime.block_on(admitted)?;
            (admitted.outcome, admitted.steps)
        };
        Ok(ChainAnswer {
            outcome,
            steps,
            object: observer.object,
            recorder: observer.recorder,
        })
    }
}

/// Takes what is kept of the object that is admitted, and what [`ExchangeRecorder`] records.
struct AdmissionRecorder<'s> {
    state: &'s PluginState,
    keeps_object: bool,
    /// The text in which the names of fields lie.
    field_names: &'static str,
    recorder: ExchangeRecorder,
    object: AdmittedObject,
}

impl ChainObserver for AdmissionRecorder<'_> {
    fn measures_time(&self) -> bool {
        false
    }

    fn policies(&mut self) -> Option<&mut dyn PolicyObserver> {
        self.recorder.policies()
    }

    fn webhooks(&mut self) -> Option<&mut dyn WebhookObserver> {
        self.recorder.webhooks()
    }

    fn admitted(&mut self, attributes: &Attributes<'_>) {
        let Attributes { request, object, .. } = attributes;
        text_at(object, &["metadata", "name"]).clone_into(&mut self.object.name);
        if is_stored_request(request) {
            self.object.part = self.state.stored_part(&request.kind, object);
        }
        if self.keeps_object {
            self.object.kept = if matches!(self.object.part, StoredPart::Whole(_)) {
                KeptObject::Part
            } else {
                KeptObject::Whole(object.owned_within(self.field_names))
            };
        }
    }
}

/// Records the exchanges of a request with webhooks, and the decisions of its policies.
#[derive(Debug, Default)]
pub(crate) struct ExchangeRecorder {
    exchanges: Vec<WebhookExchange>,
    decisions: DecisionRecorder,
}

impl ExchangeRecorder {
    /// A review with an outcome and what was recorded.
    pub(crate) fn into_review(self, outcome: Outcome) -> Review {
        Review {
            decisions: self.decisions.0,
            webhooks: self.exchanges,
            ..Review::new(outcome)
        }
    }
}

impl ChainObserver for ExchangeRecorder {
    fn measures_time(&self) -> bool {
        false
    }

    fn policies(&mut self) -> Option<&mut dyn PolicyObserver> {
        Some(&mut self.decisions)
    }

    fn webhooks(&mut self) -> Option<&mut dyn WebhookObserver> {
        Some(self)
    }
}

impl WebhookObserver for ExchangeRecorder {
    fn called(&mut self, called: &EndedCall<'_>) {
        self.exchanges.push(WebhookExchange::from(called));
    }

    fn conditions(&mut self, conditions: &Conditions<'_>) {
        let Some(error) = conditions.ignored else {
            return;
        };
        let names = (conditions.webhook.to_owned(), conditions.configuration.to_owned());
        let decision = ignored_failure(names, FAILED_CONDITION, error);
        // A mutating webhook that is called again may fail again.
        self.decisions.push_once(decision);
    }
}
