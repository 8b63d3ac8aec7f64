//! Records what each step of the chain does to a request.

use pratique_schema::Release;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use pratique::ObjectModel;
use pratique::object_model::{ConversionError, ObjectMutator, PreparedObject, RefusedRequest};
use pratique::observer::{AdmissionPhase, ChainStep, StepResult};
use pratique::policy::Cluster;
use pratique_json::Value;
use pratique_types::{AdmissionRequest, GroupVersionKind, ObjectForm};

/// The name of the step in which an API server sets defaults.
pub const DEFAULTING: &str = "defaulting";

/// A step of the chain, and its effect on a request.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewStep {
    /// The admission plugin; [`DEFAULTING`] and [`PREPARATION`](pratique::observer::PREPARATION) for what a server does besides.
    pub name: String,
    /// The policy or webhook.
    pub by: Option<String>,
    /// The phase of the chain.
    pub phase: AdmissionPhase,
    /// Whether it ran in the second round.
    pub is_reinvoked: bool,
    /// Its effect.
    pub did: StepEffect,
}

/// The effect of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum StepEffect {
    /// It let the request pass.
    Passed,
    /// It changed the object.
    Changed {
        /// The object before.
        old_object: Arc<Value<'static>>,
        /// The object as it left it.
        new_object: Arc<Value<'static>>,
    },
    /// It refused the request, with this message.
    Refused(String),
    /// It depends on what was not given.
    Undecided(String),
}

/// Records the steps of a request.
pub(super) struct StepRecorder<'m> {
    release: &'static Release,
    model: &'m RecordingModel<'m>,
    /// The object as the last step left it.
    last: Arc<Value<'static>>,
    steps: Vec<ReviewStep>,
}

impl<'m> StepRecorder<'m> {
    /// Begins with an object as it was sent, and as it is after defaulting.
    pub(super) fn new(
        release: &'static Release,
        sent: &Value<'_>,
        defaulted: &Value<'_>,
        model: &'m RecordingModel<'m>,
    ) -> Self {
        let mut recorder = StepRecorder {
            release,
            model,
            last: owned(release, sent),
            steps: Vec::new(),
        };
        recorder.changed(DEFAULTING, None, (AdmissionPhase::Mutating, false), defaulted);
        recorder
    }

    pub(super) fn record(&mut self, step: &ChainStep<'_>) {
        let at = (step.phase, step.is_reinvoked);
        let changes = self.model.take();
        for change in changes {
            self.changed(step.name, Some(change.name), at, &change.object);
        }
        if step.may_differ {
            self.changed(step.name, None, at, step.attributes.object);
        }
        let did = match step.result {
            StepResult::Refused(status) => StepEffect::Refused(status.message.clone()),
            StepResult::Undecided(undecided) => StepEffect::Undecided(undecided.missing.to_string()),
            _ if self.is_of(step) => return,
            _ => StepEffect::Passed,
        };
        self.push(step.name, None, at, did);
    }

    /// Whether the last step that was recorded is this one.
    fn is_of(&self, step: &ChainStep<'_>) -> bool {
        let last = self.steps.last();
        last.is_some_and(|last| {
            last.name == step.name && last.phase == step.phase && last.is_reinvoked == step.is_reinvoked
        })
    }

    fn changed(&mut self, name: &str, by: Option<String>, at: (AdmissionPhase, bool), object: &Value<'_>) {
        if *object == *self.last {
            return;
        }
        let new_object = owned(self.release, object);
        let old_object = std::mem::replace(&mut self.last, Arc::clone(&new_object));
        self.push(
            name,
            by,
            at,
            StepEffect::Changed {
                old_object,
                new_object,
            },
        );
    }

    fn push(
        &mut self,
        name: &str,
        by: Option<String>,
        (phase, is_reinvoked): (AdmissionPhase, bool),
        did: StepEffect,
    ) {
        self.steps.push(ReviewStep {
            name: name.to_owned(),
            by,
            phase,
            is_reinvoked,
            did,
        });
    }

    /// The steps.
    pub(super) fn into_steps(self) -> Vec<ReviewStep> {
        self.steps
    }
}

/// A copy that borrows nothing but the names of fields.
fn owned(release: &'static Release, object: &Value<'_>) -> Arc<Value<'static>> {
    Arc::new(object.owned_within(release.tables().types))
}

/// An object model that records what each policy and webhook makes of the object.
pub(crate) struct RecordingModel<'m> {
    model: &'m dyn ObjectModel,
    kind: &'m GroupVersionKind,
    changes: Mutex<Vec<RecordedChange>>,
}

/// What a policy or webhook made of the object.
pub(crate) struct RecordedChange {
    pub(crate) name: String,
    pub(crate) is_webhook: bool,
    pub(crate) object: Value<'static>,
}

impl RecordedChange {
    /// Who it was: `policy add-proxy`.
    pub(crate) fn author(&self) -> String {
        author(&self.name, self.is_webhook)
    }
}

fn author(name: &str, is_webhook: bool) -> String {
    let noun = if is_webhook { "webhook" } else { "policy" };
    format!("{noun} {name}")
}

#[cfg(feature = "webhooks")]
impl ReviewStep {
    /// Who did what the step did: `LimitRanger`, `policy add-proxy`.
    pub(crate) fn author(&self) -> String {
        match &self.by {
            Some(name) => author(
                name,
                self.name == pratique_manifest::ManifestPlugin::MutatingAdmissionWebhook.name(),
            ),
            None => self.name.clone(),
        }
    }
}

impl<'m> RecordingModel<'m> {
    /// Records changes of objects of a kind: those of other versions are recorded once they are converted back.
    pub(crate) fn new(model: &'m dyn ObjectModel, kind: &'m GroupVersionKind) -> Self {
        RecordingModel {
            model,
            kind,
            changes: Mutex::default(),
        }
    }

    /// The changes since this was asked before.
    pub(crate) fn take(&self) -> Vec<RecordedChange> {
        std::mem::take(&mut *self.changes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ObjectModel for RecordingModel<'_> {
    fn set_defaults(&self, kind: &GroupVersionKind, object: &mut Value<'_>, mutator: ObjectMutator<'_>) {
        self.model.set_defaults(kind, object, mutator);
        if kind == self.kind {
            let (ObjectMutator::Policy(name) | ObjectMutator::Webhook(name)) = mutator;
            let change = RecordedChange {
                name: name.to_owned(),
                is_webhook: matches!(mutator, ObjectMutator::Webhook(_)),
                object: object.clone().into_owned(),
            };
            let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
            changes.push(change);
        }
    }

    fn convert(&self, kind: &GroupVersionKind, object: &mut Value<'_>) -> Result<(), ConversionError> {
        self.model.convert(kind, object)
    }

    fn prepare<'v>(
        &self,
        request: &AdmissionRequest<'_>,
        object: (&mut Cow<'_, Value<'v>>, ObjectForm),
        cluster: &dyn Cluster,
    ) -> Result<PreparedObject, RefusedRequest> {
        self.model.prepare(request, object, cluster)
    }
}
