//! The whole chain of an API server over one request after another: defaults, its own admission plugins, policies and webhooks.

use std::sync::{Mutex, PoisonError};

use pratique::api_objects::{ApiObjects, ReceiveOptions};
use pratique::authorization::Decider;
use pratique::observer::ChainObserver;
use pratique::policy::PolicyObserver;
use pratique::webhook::{Called, WebhookObserver};
use pratique::{Admission, AdmissionContext, AdmissionRequest, ObjectModel, Objects, Outcome, Unfinished};
use pratique_json::Value;
use pratique_state::PluginState;
use pratique_types::{Operation, Reason, Status};
use tokio::runtime::Runtime;

use crate::chain::{self, Admitted};
use crate::decisions::DecisionRecorder;
use crate::exchange::WebhookExchange;
use crate::input::ReviewInput;
use crate::invalid_cause::{self, ObjectChange};
use crate::preparation::{Preparation, dropped_fields, refused_outcome};
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
pub(crate) type ChainEngine<'e> = (&'e Admission, &'e dyn Decider, &'e Runtime);

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

    /// Evaluates a request by the whole chain, and carries out what it changes.
    pub(crate) fn evaluate(
        &self,
        engine: ChainEngine<'_>,
        cluster: &Objects,
        input: &ReviewInput<'_>,
    ) -> Result<Review, Unfinished> {
        let mut request = input.request.clone();
        let received = if input.is_sent {
            None
        } else {
            let options = ReceiveOptions {
                has_no_plugins: false,
                ..self.preparation.receive_options(self.objects.gates())
            };
            match self.objects.receive_with(&mut request, options) {
                Ok(received) => Some(received),
                Err(refused) => return Ok(refused_review(refused_outcome(refused))),
            }
        };
        let unknown = received
            .as_ref()
            .map(|received| received.unknown_fields())
            .unwrap_or_default();
        let unknown = match self.preparation.validated(&request.kind, unknown.to_vec()) {
            Ok(warnings) => warnings,
            Err(why) => {
                let refused = Outcome::refused(Status::failure(Reason::BadRequest, why));
                return Ok(refused_review(refused));
            }
        };
        let model: &dyn ObjectModel = match &received {
            Some(received) => received,
            None => &self.objects,
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.enter(&request.namespace);
        let asked = (&request, &input.request.object);
        let mut recorder = ExchangeRecorder::default();
        let mut admitted = admit(engine, cluster, &state, asked, model, &mut recorder)?;
        if let Some(later) = self.later_state(&state, input, &admitted.outcome) {
            let mut again = ExchangeRecorder::default();
            let retried = admit(engine, cluster, &later, asked, model, &mut again)?;
            // What was refused at first is decided by the last try. What is undecided may have been allowed at once.
            if retried.outcome.allowed() || admitted.outcome.status.is_some() {
                (admitted, recorder) = (retried, again);
            }
        }
        let Admitted {
            mut outcome,
            steps,
            mut object,
        } = admitted;
        if let Some(received) = &received {
            let warnings = unknown.into_iter().chain(received.warnings().iter().cloned());
            outcome.warnings.splice(0..0, warnings);
        }
        let is_stored =
            matches!(request.operation, Operation::Create | Operation::Update) && received.is_some();
        if is_stored && outcome.allowed() {
            // What is read from the storage is defaulted once more: a claim is pending. What cannot be converted stays as it is.
            drop(self.objects.complete(&request.kind, &mut object));
        }
        state.apply(&request, &object, &outcome);
        if outcome.allowed() {
            outcome.object =
                Some(object).filter(|object| *object != input.request.object && !object.is_null());
        }
        let mut causes = Vec::new();
        if let (Some(received), Some(status)) = (&received, &outcome.status)
            && received.is_refused()
        {
            let invalid = received.invalid_object();
            let changes = ObjectChange::of_steps(&steps);
            causes = invalid_cause::causes(&request, status, invalid.as_ref(), &changes);
        }
        Ok(Review {
            steps: Some(steps),
            causes,
            dropped: received.as_ref().map(dropped_fields).unwrap_or_default(),
            ..recorder.into_review(outcome)
        })
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

/// Evaluates a request in a state of plugins.
fn admit(
    (admission, decider, runtime): ChainEngine<'_>,
    cluster: &Objects,
    state: &PluginState,
    asked: (&AdmissionRequest<'_>, &Value<'_>),
    model: &dyn ObjectModel,
    recorder: &mut ExchangeRecorder,
) -> Result<Admitted, Unfinished> {
    let context = AdmissionContext::new(cluster)
        .with_decider(decider)
        .with_plugins(state.inputs());
    runtime.block_on(chain::admit(admission, asked, model, context, recorder))
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
    fn policies(&mut self) -> Option<&mut dyn PolicyObserver> {
        Some(&mut self.decisions)
    }

    fn webhooks(&mut self) -> Option<&mut dyn WebhookObserver> {
        Some(self)
    }
}

impl WebhookObserver for ExchangeRecorder {
    fn called(&mut self, called: &Called<'_>) {
        self.exchanges.push(WebhookExchange::from(called));
    }
}
