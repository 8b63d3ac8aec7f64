//! The whole chain of an API server: defaults, its own admission plugins, policies and webhooks, step by step.

mod announce;
mod plugins;
pub(crate) mod shown;

use std::sync::{Mutex, PoisonError};

use pratique::api_objects::ApiObjects;
use pratique::authorization::Decider;
use pratique::object_model::Refused;
use pratique::{Admission, AdmissionContext, AdmissionRequest, ObjectModel, Objects, Outcome, Unfinished};
use pratique_json::Value;
use pratique_suite::chain::{self, Admitted};
use pratique_types::{Operation, Reason, Status};
use tokio::runtime::Runtime;

pub(super) use announce::announce;
pub(super) use plugins::start;
pub(super) use pratique_suite::chain::{PluginState, Step};
pub(super) use shown::{JsonStep, diffs, human, json};

use super::exchange::Exchanges;
use super::phases::Phases;
use super::received::InputRequest;

/// The parts of the chain besides policies and webhooks.
pub(super) struct Chain {
    objects: ApiObjects,
    phases: Phases,
    /// The state of plugins after the requests so far. Requests are evaluated one after another.
    state: Mutex<PluginState>,
    /// What the inputs have for the Pods of controllers, wherever it stands: a controller tries again until its Pod is created.
    for_controllers: Vec<Value<'static>>,
}

/// What evaluates a request besides the state of plugins.
type Engine<'e> = (&'e Admission, &'e dyn Decider, &'e Runtime);

impl Chain {
    /// A chain with a state of the cluster.
    pub(super) fn new(state: PluginState, for_controllers: Vec<Value<'static>>, phases: Phases) -> Self {
        Chain {
            phases,
            objects: state.api_objects.clone(),
            state: Mutex::new(state),
            for_controllers,
        }
    }

    /// The kinds whose objects are completed.
    pub(super) fn api_objects(&self) -> &ApiObjects {
        &self.objects
    }

    /// Evaluates a request by the whole chain, and carries out what it changes. Gives the steps too.
    pub(super) fn evaluate(
        &self,
        engine: Engine<'_>,
        cluster: &Objects,
        input: &InputRequest<'_>,
        exchanges: &mut Exchanges,
    ) -> Result<(Outcome, Vec<Step>), Unfinished> {
        let mut request = input.request.clone();
        let received = match input.is_sent {
            true => Ok(None),
            false => self.objects.receive(&mut request).map(Some),
        };
        let received = match received {
            Ok(received) => received,
            Err(Refused { status, warnings }) => {
                let mut outcome = Outcome::refused(*status);
                outcome.warnings = warnings;
                return Ok((outcome, Vec::new()));
            }
        };
        let unknown = received
            .as_ref()
            .map(|received| received.unknown_fields())
            .unwrap_or_default();
        let unknown = match self.phases.validated(&request.kind, unknown.to_vec()) {
            Ok(warnings) => warnings,
            Err(why) => {
                let refused = Outcome::refused(Status::failure(Reason::BadRequest, why));
                return Ok((refused, Vec::new()));
            }
        };
        let model: &dyn ObjectModel = match &received {
            Some(received) => received,
            None => &self.objects,
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.enter(&request.namespace);
        let asked = (&request, &input.request.object);
        let admitted = admit(engine, cluster, &state, asked, model, exchanges)?;
        let admitted = match self.later_state(&state, input, &admitted.outcome) {
            Some(later) => {
                let mut again = Exchanges::default();
                let retried = admit(engine, cluster, &later, asked, model, &mut again)?;
                if retried.outcome.allowed() {
                    *exchanges = again;
                    retried
                } else {
                    admitted
                }
            }
            None => admitted,
        };
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
        Ok((outcome, steps))
    }

    /// The state in which a controller tries again to create a Pod that was not allowed: with what the inputs have for it after
    /// its workload. `None` where nothing is tried again.
    fn later_state(
        &self,
        state: &PluginState,
        input: &InputRequest<'_>,
        outcome: &Outcome,
    ) -> Option<PluginState> {
        if outcome.allowed() || input.parent.is_none() {
            return None;
        }
        let namespace = &input.request.namespace;
        let is_found = |object: &&Value<'static>| {
            let named = object.at(&["metadata", "namespace"]).and_then(Value::as_str);
            named.is_none_or(|named| named == namespace)
        };
        let mut later = state.clone();
        let mut has_more = false;
        for object in self.for_controllers.iter().filter(is_found) {
            has_more |= later.add_missing(object);
        }
        has_more.then_some(later)
    }
}

/// Evaluates a request in a state of plugins.
fn admit(
    (admission, decider, runtime): Engine<'_>,
    cluster: &Objects,
    state: &PluginState,
    asked: (&AdmissionRequest<'_>, &Value<'_>),
    model: &dyn ObjectModel,
    exchanges: &mut Exchanges,
) -> Result<Admitted, Unfinished> {
    let context = AdmissionContext::new(cluster)
        .with_decider(decider)
        .with_plugins(state.inputs());
    runtime.block_on(chain::admit(admission, asked, model, context, exchanges))
}
