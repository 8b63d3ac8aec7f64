//! The run of a request through the admission chain.
//!
//! The order is: plugins that mutate, mutating policies, mutating webhooks, the plugins that come after them; all once
//! more if a policy or webhook changed the object; the steps at [`StepPlace::Schema`]; preparation by the [`ObjectModel`], if
//! there is one; the registry's checks; plugins that validate, validating policies, validating webhooks, the plugins that
//! come after them. Of policies and webhooks, static ones come before those of the API.

pub(crate) mod end;
mod mutate;
mod plugins;
mod prepare;
mod validate;
#[cfg(feature = "webhooks")]
mod webhooks;

use std::collections::BTreeMap;
use std::sync::Arc;
#[cfg(feature = "webhooks")]
use std::time::Instant;

use pratique_json::Value;
use pratique_policy::{
    Cluster, EvalContext, HeldMemory, Interrupt, ObjectModel, PolicyTrace, UnfinishedEvaluation, same,
};
use pratique_types::{AdmissionRequest, ObjectForm, Reason, Status};

use crate::admission::Admission;
use crate::authorization::{Authorizer, CheckDecider, NoAuthorizer, RequestAnswers};
use crate::clock::RunStopwatch;
use crate::cluster::{DynParamSource, WithParams};
use crate::deadline::{check_interrupt, interrupted, within};
use crate::image_reviews::ImageAnswers;
use crate::limits::Limits;
use crate::observer::{AdmissionPhase, AdmissionPhases, ChainObserver, ChainSpan, ChainStep, StepResult};
use crate::outcome::{Outcome, OutcomeMemory};
use crate::panics::caught_async;
use crate::plugins::PluginInputs;
use crate::step::{Attributes, DynStep, StepOutcome, StepPlace};

use end::ChainEnd;

/// The inputs of a decision besides the request and the configuration.
#[derive(Clone)]
#[non_exhaustive]
pub struct AdmissionContext<'c> {
    /// The view of the cluster, which does not change during the request.
    pub cluster: &'c (dyn Cluster + Sync),
    /// Answers authorization checks.
    pub decider: &'c dyn CheckDecider,
    /// Answers checks at once where it can; only the others are sent to the decider.
    pub authorizer: Option<Arc<dyn Authorizer>>,
    /// A source of params that the cluster does not have.
    pub params: Option<&'c dyn DynParamSource>,
    /// The state of the cluster for plugins.
    pub plugins: PluginInputs<'c>,
    /// The bounds of the work for the request.
    pub limits: Limits,
    /// The processing of the object between the steps of the chain.
    pub object_model: Option<&'c dyn ObjectModel>,
    /// Observes the evaluation of policies.
    pub trace: Option<&'c (dyn PolicyTrace + Sync)>,
    /// Whether the outcome has the objects, of which copies are made for it.
    pub keeps_objects: bool,
}

impl<'c> AdmissionContext<'c> {
    /// A context without an authorizer and without limits.
    pub fn new(cluster: &'c (dyn Cluster + Sync)) -> Self {
        AdmissionContext {
            cluster,
            decider: &NoAuthorizer,
            authorizer: None,
            params: None,
            plugins: PluginInputs::default(),
            limits: Limits::default(),
            object_model: None,
            trace: None,
            keeps_objects: true,
        }
    }

    /// Sets the decider of authorization checks.
    #[must_use]
    pub fn with_decider(self, decider: &'c dyn CheckDecider) -> Self {
        AdmissionContext { decider, ..self }
    }

    /// Sets the authorizer that answers checks at once; checks that it answers as pending are sent to the decider.
    #[must_use]
    pub fn with_authorizer(self, authorizer: Arc<dyn Authorizer>) -> Self {
        AdmissionContext {
            authorizer: Some(authorizer),
            ..self
        }
    }

    /// Adds a source of params besides the cluster.
    #[must_use]
    pub fn with_params(self, params: &'c dyn DynParamSource) -> Self {
        AdmissionContext {
            params: Some(params),
            ..self
        }
    }

    /// Defaults the object after each mutation, and prepares it between the phases, by this model. Without one, objects
    /// stay as policies and webhooks leave them.
    #[must_use]
    pub fn with_object_model(self, object_model: &'c dyn ObjectModel) -> Self {
        AdmissionContext {
            object_model: Some(object_model),
            ..self
        }
    }

    /// Observes the evaluation of policies expression by expression. A policy that waits for an authorization check is
    /// evaluated, and observed, again once it is answered.
    #[must_use]
    pub fn with_trace(self, trace: &'c (dyn PolicyTrace + Sync)) -> Self {
        AdmissionContext {
            trace: Some(trace),
            ..self
        }
    }

    /// Leaves the objects out of the outcome, where nothing looks at them but an
    /// [observer](ChainObserver::admitted) of the one that is admitted.
    #[must_use]
    pub fn without_objects(self) -> Self {
        AdmissionContext {
            keeps_objects: false,
            ..self
        }
    }

    /// Sets the state of the cluster for plugins; without it, plugins that look something up are undecided.
    #[must_use]
    pub fn with_plugins(self, plugins: PluginInputs<'c>) -> Self {
        AdmissionContext { plugins, ..self }
    }

    /// Bounds the work, by a deadline, an interrupt, or [`Limits`].
    #[must_use]
    pub fn with_limits(self, limits: impl Into<Limits>) -> Self {
        AdmissionContext {
            limits: limits.into(),
            ..self
        }
    }
}

impl Admission {
    /// Evaluates a request by the whole chain. It is taken as it is given: what no API server sends may match nothing, and be
    /// allowed, so a request from elsewhere is [validated](AdmissionRequest::validate) first, as a [`Live`](crate::Live) does.
    ///
    /// Pending authorization checks are sent together; policies are evaluated again once the answers have arrived. The
    /// future can be dropped at any time.
    ///
    /// # Errors
    /// An authorization check was sent and never answered, or the request was interrupted before its deadline.
    pub async fn admit(
        &self,
        request: &AdmissionRequest<'_>,
        context: AdmissionContext<'_>,
        observer: &mut dyn ChainObserver,
    ) -> Result<Outcome, UnfinishedEvaluation> {
        self.run_chain((request, None), AdmissionPhases::Both, context, observer)
            .await
    }

    /// As [`admit`](Self::admit), of a request that is given away: its object is changed and prepared where it is, and is no part of
    /// the request any more. The outcome has no objects, so that an [observer](ChainObserver::admitted) takes what it needs of them;
    /// it sees none where the request is refused while it is prepared.
    ///
    /// # Errors
    /// As [`admit`](Self::admit).
    // Rows `chain-*` of `benches/`: a copy for the first plugin that changes the object, and one to prepare, are an eighth.
    pub async fn admit_owned(
        &self,
        request: AdmissionRequest<'_>,
        context: AdmissionContext<'_>,
        observer: &mut dyn ChainObserver,
    ) -> Result<Outcome, UnfinishedEvaluation> {
        let mut request = request;
        let object = std::mem::take(&mut request.object);
        let context = context.without_objects();
        self.run_chain((&request, Some(object)), AdmissionPhases::Both, context, observer)
            .await
    }

    /// Evaluates a request by one phase of the chain, for servers that do something else in between. The steps at
    /// [`StepPlace::Schema`] belong to the mutating phase, the registry's checks to the validating phase.
    ///
    /// # Errors
    /// As [`admit`](Self::admit).
    pub async fn admit_phase(
        &self,
        request: &AdmissionRequest<'_>,
        phase: AdmissionPhase,
        context: AdmissionContext<'_>,
        observer: &mut dyn ChainObserver,
    ) -> Result<Outcome, UnfinishedEvaluation> {
        self.run_chain((request, None), phase.into(), context, observer)
            .await
    }

    /// Runs the chain for a request, whose object may be beside it, to be changed in place.
    pub(crate) async fn run_chain<'r>(
        &'r self,
        (request, object): (&'r AdmissionRequest<'r>, Option<Value<'r>>),
        phases: AdmissionPhases,
        context: AdmissionContext<'r>,
        observer: &mut dyn ChainObserver,
    ) -> Result<Outcome, UnfinishedEvaluation> {
        let mut run = ChainRun {
            admission: self,
            request,
            phases,
            #[cfg(feature = "webhooks")]
            // Tokio's clock, because its timers wait for the budget.
            began: tokio::time::Instant::now().into_std(),
            answers: Arc::new(RequestAnswers::new(context.authorizer.clone())),
            images: ImageAnswers::default(),
            params: context.params.map(|source| WithParams::new(context.cluster, source)),
            context,
            gives_object: object.is_some(),
            object: object.map(Arc::new),
            prepared: None,
            may_differ: false,
            form: request.form,
            is_reinvoked: false,
            reserved: None,
            outcome: Outcome::default(),
        };
        match run.run(observer).await {
            Ok(()) => {}
            Err(ChainEnd::Refused(status, cause)) => {
                run.outcome.status = Some(status);
                run.outcome.cause = Some(cause);
            }
            Err(ChainEnd::Undecided(undecided)) => run.outcome.undecided.push(*undecided),
            Err(ChainEnd::Unfinished(unfinished)) => return Err(unfinished),
        }
        if run.outcome.allowed() {
            observer.admitted(&run.attributes());
        }
        Ok(run.finish())
    }
}

/// The state of a request in the chain.
pub(crate) struct ChainRun<'r> {
    admission: &'r Admission,
    request: &'r AdmissionRequest<'r>,
    /// The phases that are run.
    phases: AdmissionPhases,
    context: AdmissionContext<'r>,
    #[cfg(feature = "webhooks")]
    began: Instant,
    answers: Arc<RequestAnswers>,
    images: ImageAnswers,
    /// The cluster with params from the source, if there is one.
    params: Option<WithParams<'r>>,
    /// The current object; `None` while it is unchanged and a part of the request.
    object: Option<Arc<Value<'r>>>,
    /// Whether the object is prepared in place, so that it is gone if the server refuses it.
    gives_object: bool,
    /// The object as it was prepared for validating admission; `None` if that did not change it.
    prepared: Option<Value<'r>>,
    /// Whether something took the object to change it since the last step that was reported.
    may_differ: bool,
    /// What is known about the form of the object, or of the prepared one.
    form: ObjectForm,
    /// Whether this is the second round of the mutating phase.
    is_reinvoked: bool,
    /// The memory reserved for the results of webhooks, if there are any.
    reserved: Option<HeldMemory>,
    outcome: Outcome,
}

impl<'r> ChainRun<'r> {
    async fn run(&mut self, observer: &mut dyn ChainObserver) -> Result<(), ChainEnd> {
        if self.phases.contains(AdmissionPhase::Mutating) {
            let began = RunStopwatch::start_if(observer.measures_time());
            let ended = self.mutate(observer).await;
            observer.phase(&self.span(AdmissionPhase::Mutating, began, &ended));
            ended?;
            self.steps(StepPlace::Schema, observer).await?;
        }
        if !self.phases.contains(AdmissionPhase::Validating) {
            return Ok(());
        }
        self.prepare(observer)?;
        self.registry_check()?;
        let began = RunStopwatch::start_if(observer.measures_time());
        let ended = self.validate(observer).await;
        observer.phase(&self.span(AdmissionPhase::Validating, began, &ended));
        ended
    }

    fn span(&self, phase: AdmissionPhase, began: RunStopwatch, ended: &Result<(), ChainEnd>) -> ChainSpan {
        ChainSpan {
            phase,
            operation: self.request.operation,
            rejected: ended.is_err(),
            elapsed: began.elapsed(),
        }
    }

    /// Reports a finished part of the chain to the observer, and returns its result.
    fn record(
        &mut self,
        name: &str,
        phase: AdmissionPhase,
        began: RunStopwatch,
        ended: Result<(), ChainEnd>,
        observer: &mut dyn ChainObserver,
    ) -> Result<(), ChainEnd> {
        observer.part(name, &self.span(phase, began, &ended));
        observer.step(&ChainStep {
            name,
            phase,
            is_reinvoked: self.is_reinvoked && phase == AdmissionPhase::Mutating,
            attributes: self.attributes(),
            may_differ: self.may_differ,
            result: StepResult::new(&ended),
        });
        self.may_differ = false;
        if let Err(ChainEnd::Refused(..)) = &ended {
            self.outcome.refused_by = Some(name.into());
        }
        ended
    }

    fn attributes(&self) -> Attributes<'_> {
        let object = self.prepared.as_ref().or(self.object.as_deref());
        Attributes {
            request: self.request,
            object: object.unwrap_or(&self.request.object),
            form: self.form,
        }
    }

    /// Replaces the object by a changed one, of a form.
    fn changed(&mut self, object: Value<'r>, form: ObjectForm) {
        self.object = Some(Arc::new(object));
        self.may_differ = true;
        self.form = form;
    }

    fn interrupt(&self) -> &Interrupt {
        &self.context.limits.interrupt
    }

    fn cluster(&self) -> &dyn Cluster {
        match &self.params {
            Some(with_params) => with_params,
            None => self.context.cluster,
        }
    }

    fn eval_context(&self) -> EvalContext<'_> {
        let context = EvalContext::new(self.cluster(), self.answers.clone())
            .on_undecided(self.admission.settings.on_undecided)
            .of_release(self.admission.release())
            .with_interrupt(self.interrupt())
            .with_memory(&self.context.limits.memory)
            .with_object_model(self.context.object_model);
        match self.context.trace {
            Some(trace) => context.with_trace(trace),
            None => context,
        }
    }

    /// Provides the answers or params that an unfinished evaluation waits for, or ends the request.
    async fn resume(&mut self, unfinished: UnfinishedEvaluation) -> Result<(), ChainEnd> {
        match unfinished {
            UnfinishedEvaluation::Pending => self.answer().await,
            stopped => Err(self.stopped(stopped)),
        }
    }

    /// The end of a request whose evaluation cannot be finished.
    fn stopped(&self, unfinished: UnfinishedEvaluation) -> ChainEnd {
        match unfinished {
            UnfinishedEvaluation::Pending => ChainEnd::Unfinished(unfinished),
            UnfinishedEvaluation::Interrupted => interrupted(self.interrupt()),
            UnfinishedEvaluation::MemoryLimit | UnfinishedEvaluation::MemoryBudget => {
                out_of_memory(unfinished).into()
            }
        }
    }

    /// Requests the answers to authorization checks and image reviews, and the params that policies wait for.
    async fn answer(&mut self) -> Result<(), ChainEnd> {
        let looked_up = self.look_up_params().await?;
        let reviewed = match self.context.plugins.image_backend {
            Some(backend) => within(self.interrupt(), self.images.ask(backend)).await?,
            None => false,
        };
        let answered = self.answers.ask(self.context.decider);
        if within(self.interrupt(), answered).await? || looked_up || reviewed {
            Ok(())
        } else {
            Err(ChainEnd::Unfinished(UnfinishedEvaluation::Pending))
        }
    }

    /// Looks up the params that policies wait for; true if there were any.
    async fn look_up_params(&mut self) -> Result<bool, ChainEnd> {
        let Some(params) = &mut self.params else {
            return Ok(false);
        };
        let open = params.take_open();
        let looked_up = !open.is_empty();
        for key in open {
            let objects = within(&self.context.limits.interrupt, params.look_up(&key)).await?;
            params.add(key, objects);
        }
        Ok(looked_up)
    }

    /// Runs the caller's steps at a place.
    async fn steps(&mut self, place: StepPlace, observer: &mut dyn ChainObserver) -> Result<(), ChainEnd> {
        let admission = self.admission;
        let phase = place.phase();
        for step in admission.steps().at(place) {
            let began = RunStopwatch::start_if(observer.measures_time());
            let ended = self.step(step, place).await;
            self.record(step.name(), phase, began, ended, observer)?;
        }
        Ok(())
    }

    async fn step(&mut self, step: &dyn DynStep, place: StepPlace) -> Result<(), ChainEnd> {
        let StepOutcome {
            object,
            status,
            warnings,
            audit_annotations,
        } = {
            let evaluated = caught_async(step.name(), || step.evaluate(self.attributes()));
            within(self.interrupt(), evaluated).await??
        };
        self.outcome.warnings.extend(warnings);
        self.annotate(audit_annotations);
        match (status, object) {
            (Some(status), _) => Err(ChainEnd::by_rule(status)),
            (None, Some(_)) if !place.mutates() => Err(late_change(step.name()).into()),
            (None, object) => {
                if let Some(object) = object {
                    self.changed(object, ObjectForm::Written);
                }
                Ok(())
            }
        }
    }

    /// Adds audit annotations; existing keys keep their value.
    fn annotate(&mut self, annotations: impl IntoIterator<Item = (String, String)>) {
        let kept: &mut BTreeMap<_, _> = &mut self.outcome.audit_annotations;
        for (key, value) in annotations {
            kept.entry(key).or_insert(value);
        }
    }

    fn in_time(&self) -> Result<(), ChainEnd> {
        check_interrupt(self.interrupt())
    }

    fn finish(mut self) -> Outcome {
        let is_kept = self.context.keeps_objects && self.outcome.allowed();
        let original = &self.request.object;
        let object = self
            .object
            .take()
            .filter(|object| is_kept && !same(object, original));
        let object = object.map(|object| Arc::try_unwrap(object).unwrap_or_else(|shared| (*shared).clone()));
        self.outcome.object = object.map(Value::into_owned);
        self.outcome.prepared = self.prepared.take().filter(|_| is_kept).map(Value::into_owned);
        self.outcome.memory = self.reserved.map(OutcomeMemory::from).unwrap_or_default();
        self.outcome
    }
}

/// The status of a request that ran out of memory.
fn out_of_memory(unfinished: UnfinishedEvaluation) -> Status {
    let reason = match unfinished {
        UnfinishedEvaluation::MemoryBudget => Reason::TooManyRequests,
        _ => Reason::RequestEntityTooLarge,
    };
    Status::failure(reason, unfinished.to_string())
}

fn late_change(step: &str) -> Status {
    let message =
        format!("Internal error occurred: admission step {step:?} changed the object after mutation");
    Status::failure(Reason::InternalError, message)
}
