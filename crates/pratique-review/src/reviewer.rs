//! The one engine behind every tool: a request and the state of a cluster become a decision.

use std::sync::Arc;

#[cfg(feature = "webhooks")]
use pratique::AdmissionContext;
use pratique::api_objects::{ApiObjects, Defaults, RequestedService};
use pratique::authorization::Authorizer;
#[cfg(feature = "webhooks")]
use pratique::authorization::{CheckDecider, NoAuthorizer};
use pratique::cluster::Cluster;
use pratique::policy::{DenialCause, PolicyObserver, PolicyTrace};
use pratique::{Admission, EvalContext, ObjectModel, Objects, Outcome, UnfinishedEvaluation};
use pratique_explain::{CostRecorder, Explanation, ExplanationRecorder, PolicyCost, help_for_failure};
use pratique_json::Value;
use pratique_types::ObjectRef;
use pratique_validation::count_asked;
#[cfg(feature = "webhooks")]
use tokio::runtime::Runtime;

use crate::chain::{RecordingModel, ReviewStep};
use crate::decisions::{DecisionRecorder, PolicyDecision, ignored_mutations};
use crate::dropped_field::DroppedField;
#[cfg(feature = "webhooks")]
use crate::exchange::WebhookExchange;
use crate::input::ReviewInput;
use crate::invalid_cause::{self, InvalidCause, ObjectChange};
use crate::matches::MatchRecorder;
use crate::preparation::{Preparation, PreparedObject};
#[cfg(feature = "webhooks")]
use crate::review_detail::ReviewDetail;
use crate::stored_services::{ClusterOfRun, StoredServices};
#[cfg(feature = "webhooks")]
use crate::whole_chain::{ChainRequest, ExchangeRecorder, WholeChain};

/// Reviews requests: what would a cluster do to the object, and why?
///
/// How much of a server is asked is its depth: policies only, policies and webhooks, or the whole chain with the server's own
/// plugins. What a server does with an object before admission is its [`Preparation`].
#[derive(Debug)]
pub struct Reviewer<'a> {
    admission: &'a Admission,
    preparation: Preparation,
    depth: ReviewDepth,
    /// Where requests are reviewed one after another, the Services that they stored.
    services: Option<StoredServices>,
    /// Whether the outcome has the object as it is prepared for validating admission, where policies only are evaluated.
    keeps_prepared: bool,
    explains_causes: bool,
}

/// How much of a server's chain is evaluated.
enum ReviewDepth {
    /// Policies only.
    Policies {
        authorizer: Arc<dyn Authorizer>,
        record: PolicyRecord,
    },
    /// Policies and webhooks; with a chain, all that a server does.
    #[cfg(feature = "webhooks")]
    Chain {
        decider: Box<dyn CheckDecider>,
        runtime: Runtime,
        chain: Option<Box<WholeChain>>,
    },
}

/// What is recorded of the evaluation of policies, besides their decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PolicyRecord {
    /// Nothing.
    #[default]
    Decisions,
    /// Whether a policy matches the request at all.
    Matches,
    /// What the expressions of each policy cost.
    Costs,
    /// Every expression, with the values in it: the review has an explanation.
    Explanation,
}

/// What a cluster does to an object.
#[derive(Clone, Debug)]
pub struct Review {
    /// The outcome.
    pub outcome: Outcome,
    /// The decisions of policies, in order.
    pub decisions: Vec<PolicyDecision>,
    /// The fields that a server set in the object, if that was recorded.
    pub defaults: Vec<Defaults>,
    /// Whether the server itself refuses the request, and not admission.
    pub is_refused: bool,
    /// Why the server's own validation refuses the object, field by field; empty where it does not.
    pub causes: Vec<InvalidCause>,
    /// The fields of the object that the server drops without a word, as their features are off.
    pub dropped: Vec<DroppedField>,
    /// What the expressions of each policy cost, if that was [recorded](PolicyRecord::Costs).
    pub costs: Vec<PolicyCost>,
    /// Whether it is known that no policy matches the request.
    pub is_unmatched: bool,
    /// The explanation, if policies were [explained](PolicyRecord::Explanation).
    pub explanation: Option<Explanation>,
    /// The steps of the chain, if it was run; none where they are not [recorded](crate::StepRecord).
    pub steps: Option<Vec<ReviewStep>>,
    /// The exchanges with webhooks, if they were called.
    #[cfg(feature = "webhooks")]
    pub webhooks: Vec<WebhookExchange>,
}

impl std::fmt::Debug for ReviewDepth {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            ReviewDepth::Policies { .. } => "Policies",
            #[cfg(feature = "webhooks")]
            ReviewDepth::Chain { chain: None, .. } => "Webhooks",
            #[cfg(feature = "webhooks")]
            ReviewDepth::Chain { chain: Some(_), .. } => "Chain",
        })
    }
}

impl<'a> Reviewer<'a> {
    /// Evaluates policies only; permissions are checked by an authorizer.
    pub fn policies(admission: &'a Admission, authorizer: Arc<dyn Authorizer>) -> Self {
        Reviewer {
            admission,
            preparation: Preparation::default(),
            depth: ReviewDepth::Policies {
                authorizer,
                record: PolicyRecord::default(),
            },
            services: None,
            keeps_prepared: false,
            explains_causes: true,
        }
    }

    /// Evaluates policies and calls webhooks; with a chain, does all that a server does.
    ///
    /// # Errors
    /// There can be no runtime for the calls.
    #[cfg(feature = "webhooks")]
    pub fn chain(
        admission: &'a Admission,
        decider: Box<dyn CheckDecider>,
        chain: Option<WholeChain>,
    ) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(Reviewer {
            admission,
            preparation: Preparation::default(),
            depth: ReviewDepth::Chain {
                decider,
                runtime,
                chain: chain.map(Box::new),
            },
            services: None,
            keeps_prepared: false,
            explains_causes: true,
        })
    }

    /// With another handling of objects before admission.
    #[must_use]
    pub fn with_preparation(self, preparation: Preparation) -> Self {
        Reviewer { preparation, ..self }
    }

    /// Reviews one request after another: a Service that is allowed has the addresses and ports that it asks for, which those after it
    /// do not get. Requests that [have a place in the order](Self::keeps_order_of) are decided about in it. Of a part of a run,
    /// nothing is known of the Services that the others store.
    #[must_use]
    pub fn keeping_services(self, is_part: bool) -> Self {
        Reviewer {
            services: Some(StoredServices::new(is_part)),
            ..self
        }
    }

    /// Whether the request for an object has its place in the order of requests: one for a Service that asks for an address or a port of
    /// nodes, or may do so as policies leave it.
    pub fn keeps_order_of(&self, object: &Value<'_>) -> bool {
        let asks = || self.may_change_objects() || count_asked(object, &Value::Null) > 0;
        let is_kept = self.services.as_ref().is_some_and(StoredServices::is_kept);
        is_kept && is_service(object) && asks()
    }

    /// Keeps the object as it is [prepared](Outcome::prepared), where policies only are evaluated.
    #[must_use]
    pub fn keeping_prepared(self) -> Self {
        Reviewer {
            keeps_prepared: true,
            ..self
        }
    }

    /// Leaves out what can be done about the fields for which the server's own validation refuses an object, and which step made it so,
    /// where policies only are evaluated.
    // Row `scan` of `benches/`: an invalid object is validated several times more for it.
    #[must_use]
    pub fn without_explained_causes(self) -> Self {
        Reviewer {
            explains_causes: false,
            ..self
        }
    }

    /// Records more of the evaluation of policies, where policies only are evaluated.
    #[must_use]
    pub fn recording(mut self, recorded: PolicyRecord) -> Self {
        match &mut self.depth {
            ReviewDepth::Policies { record, .. } => *record = recorded,
            #[cfg(feature = "webhooks")]
            ReviewDepth::Chain { .. } => {}
        }
        self
    }

    /// Whether objects of built-in kinds go through a server's own validation.
    pub fn validates(&self) -> bool {
        match &self.depth {
            #[cfg(feature = "webhooks")]
            ReviewDepth::Chain {
                chain: Some(chain), ..
            } => chain.validates(),
            _ => self.preparation.validates,
        }
    }

    pub(crate) fn admission(&self) -> &Admission {
        self.admission
    }

    /// What checks permissions; nothing does where a chain asks one check after another.
    pub(crate) fn authorizer(&self) -> Arc<dyn Authorizer> {
        match &self.depth {
            ReviewDepth::Policies { authorizer, .. } => Arc::clone(authorizer),
            #[cfg(feature = "webhooks")]
            ReviewDepth::Chain { .. } => Arc::new(NoAuthorizer),
        }
    }

    /// The kinds whose objects the chain completes, if there is one.
    #[cfg(feature = "webhooks")]
    pub fn chain_objects(&self) -> Option<&ApiObjects> {
        match &self.depth {
            ReviewDepth::Chain {
                chain: Some(chain), ..
            } => Some(chain.api_objects()),
            ReviewDepth::Chain { chain: None, .. } | ReviewDepth::Policies { .. } => None,
        }
    }

    /// Does with a request what a server does before admission; objects of `objects` are completed, and stay as they are where
    /// there are none.
    pub fn prepare<'s>(
        &self,
        input: &mut ReviewInput<'_>,
        objects: Option<&'s ApiObjects>,
    ) -> PreparedObject<'s> {
        self.preparation.prepare(input, objects)
    }

    /// Reviews a request of which nothing was prepared: [`prepare`](Self::prepare), then [`decide`](Self::decide).
    ///
    /// # Errors
    /// As [`decide`](Self::decide).
    pub fn review(
        &self,
        cluster: &Objects,
        objects: Option<&ApiObjects>,
        input: &mut ReviewInput<'_>,
    ) -> Result<Review, UnfinishedEvaluation> {
        let prepared = self.prepare(input, objects);
        self.decide(cluster, input, &prepared)
    }

    /// Evaluates a request that was [prepared](Self::prepare), and records what is asked of the evaluation. What a server refuses
    /// before admission is not evaluated.
    ///
    /// # Errors
    /// It cannot be evaluated to its end.
    pub fn decide(
        &self,
        cluster: &Objects,
        input: &ReviewInput<'_>,
        prepared: &PreparedObject<'_>,
    ) -> Result<Review, UnfinishedEvaluation> {
        let review = match prepared.refusal(input) {
            Some(outcome) => Review::new(outcome),
            None => {
                let run = self.cluster_of_run(cluster, input);
                let cluster_of_run = run.as_ref().map_or(cluster as &(dyn Cluster + Sync), |run| run);
                let review = self.evaluate(cluster_of_run, input, prepared)?;
                self.store_service(cluster, input, prepared.requested_service(), &review.outcome);
                review
            }
        };
        Ok(finish(review, input, prepared))
    }

    /// Whether policies or webhooks may change the objects of requests.
    fn may_change_objects(&self) -> bool {
        #[cfg(feature = "webhooks")]
        if matches!(self.depth, ReviewDepth::Chain { .. }) && self.admission.has_webhooks() {
            return true;
        }
        self.admission.has_mutating_policies()
    }

    /// The cluster with the Services of the run, where a request is one for a Service.
    fn cluster_of_run<'c>(&self, cluster: &'c Objects, input: &ReviewInput<'_>) -> Option<ClusterOfRun<'c>> {
        self.services
            .as_ref()?
            .cluster_of(cluster, &input.request, self.may_change_objects())
    }

    fn store_service(
        &self,
        cluster: &Objects,
        input: &ReviewInput<'_>,
        service: Option<RequestedService>,
        outcome: &Outcome,
    ) {
        if let Some(services) = &self.services {
            // What asks for nothing takes nothing from others, whatever becomes of it, and has no place in their order.
            let asks = self.keeps_order_of(&input.request.object);
            services.store(cluster, (&input.request, asks), service, outcome);
        }
    }

    /// Does with a request what a server does before the first step of its [chain](Self::chain), which depends on no request before;
    /// `None` where no chain is run, or what cannot be decoded does not get there.
    #[cfg(feature = "webhooks")]
    pub fn receive_in_chain<'s>(&'s self, input: &ReviewInput<'s>) -> Option<ChainRequest<'s>> {
        match &self.depth {
            ReviewDepth::Chain {
                chain: Some(chain), ..
            } if input.received.is_ok() => Some(chain.receive(input)),
            ReviewDepth::Chain { .. } | ReviewDepth::Policies { .. } => None,
        }
    }

    /// As [`decide`](Self::decide), of a request that the chain [received](Self::receive_in_chain). Requests are decided about one after
    /// another: each may depend on those before.
    ///
    /// # Errors
    /// As [`decide`](Self::decide).
    #[cfg(feature = "webhooks")]
    pub fn decide_in_chain(
        &self,
        cluster: &Objects,
        (input, prepared): (&ReviewInput<'_>, &PreparedObject<'_>),
        open: ChainRequest<'_>,
        detail: ReviewDetail,
    ) -> Result<Review, UnfinishedEvaluation> {
        let ReviewDepth::Chain {
            decider,
            runtime,
            chain: Some(chain),
        } = &self.depth
        else {
            return self.decide(cluster, input, prepared);
        };
        let engine = (self.admission, &**decider, runtime);
        let review = match prepared.refusal(input) {
            Some(outcome) => Review::new(outcome),
            None => {
                let run = self.cluster_of_run(cluster, input);
                let cluster_of_run = run.as_ref().map_or(cluster as &(dyn Cluster + Sync), |run| run);
                let review = chain.evaluate(engine, cluster_of_run, (input, &open), detail)?;
                self.store_service(cluster, input, open.requested_service(), &review.outcome);
                review
            }
        };
        Ok(finish(review, input, prepared))
    }

    /// The outcome of a request that was [prepared](Self::prepare), of policies only; the caller observes their evaluation.
    ///
    /// # Errors
    /// It cannot be evaluated to its end.
    pub fn observe(
        &self,
        cluster: &Objects,
        input: &ReviewInput<'_>,
        prepared: &PreparedObject<'_>,
        trace: Option<&dyn PolicyTrace>,
        observer: &mut dyn PolicyObserver,
    ) -> Result<Outcome, UnfinishedEvaluation> {
        let outcome = match prepared.refusal(input) {
            Some(outcome) => outcome,
            None => {
                let mut context = EvalContext::new(cluster, self.authorizer())
                    .with_object_model(prepared.model())
                    .without_prepared();
                context.trace = trace;
                self.admission.admit_policies(&input.request, context, observer)?
            }
        };
        Ok(input.with_warnings(outcome))
    }

    fn evaluate(
        &self,
        cluster: &(dyn Cluster + Sync),
        input: &ReviewInput<'_>,
        prepared: &PreparedObject<'_>,
    ) -> Result<Review, UnfinishedEvaluation> {
        #[cfg(feature = "webhooks")]
        if let ReviewDepth::Chain {
            decider,
            runtime,
            chain: Some(chain),
        } = &self.depth
        {
            let engine = (self.admission, &**decider, runtime);
            let open = chain.receive(input);
            return chain.evaluate(engine, cluster, (input, &open), ReviewDetail::default());
        }
        let model = prepared.model();
        if !self.explains_causes {
            let mut review = self.evaluate_with(cluster, input, model)?;
            if let (true, Some(status)) = (prepared.is_refused_between(), &review.outcome.status) {
                review.causes = invalid_cause::stated_causes(status);
            }
            return Ok(review);
        }
        let model = model.map(|model| RecordingModel::new(model, &input.request.kind));
        let recording = model.as_ref().map(|model| model as &dyn ObjectModel);
        let mut review = self.evaluate_with(cluster, input, recording)?;
        if let (true, Some(status)) = (prepared.is_refused_between(), &review.outcome.status) {
            let (request, invalid) = (&input.request, prepared.invalid_object());
            let recorded = model.map(|model| model.take()).unwrap_or_default();
            let object = request.object.clone().into_owned();
            let changes = ObjectChange::of_mutations(&object, &recorded);
            review.causes = invalid_cause::causes(request, status, invalid.as_ref(), &changes);
        }
        Ok(review)
    }

    /// Evaluates policies, or policies and webhooks.
    fn evaluate_with(
        &self,
        cluster: &(dyn Cluster + Sync),
        input: &ReviewInput<'_>,
        model: Option<&dyn ObjectModel>,
    ) -> Result<Review, UnfinishedEvaluation> {
        match &self.depth {
            ReviewDepth::Policies { authorizer, record } => {
                let mut context = EvalContext::new(cluster, authorizer.clone()).with_object_model(model);
                if !self.keeps_prepared {
                    context = context.without_prepared();
                }
                self.evaluate_policies(input, context, *record)
            }
            #[cfg(feature = "webhooks")]
            ReviewDepth::Chain { decider, runtime, .. } => {
                let mut context = AdmissionContext::new(cluster).with_decider(&**decider);
                context.object_model = model;
                let mut recorder = ExchangeRecorder::default();
                let admitted = self.admission.admit(&input.request, context, &mut recorder);
                let outcome = runtime.block_on(admitted)?;
                Ok(recorder.into_review(outcome))
            }
        }
    }

    fn evaluate_policies(
        &self,
        input: &ReviewInput<'_>,
        context: EvalContext<'_>,
        record: PolicyRecord,
    ) -> Result<Review, UnfinishedEvaluation> {
        let (recorder, matches) = (ExplanationRecorder::new(), MatchRecorder::default());
        let costs = CostRecorder::default();
        let context = match record {
            PolicyRecord::Decisions => context,
            PolicyRecord::Matches => context.with_trace(&matches),
            PolicyRecord::Costs => context.with_trace(&costs),
            PolicyRecord::Explanation => context.with_trace(&recorder),
        };
        let mut decisions = DecisionRecorder::default();
        let outcome = self
            .admission
            .admit_policies(&input.request, context, &mut decisions)?;
        Ok(Review {
            decisions: decisions.0,
            costs: costs.into_costs(),
            is_unmatched: record == PolicyRecord::Matches && !matches.has_match(),
            explanation: (record == PolicyRecord::Explanation).then(|| recorder.explanation()),
            ..Review::new(outcome)
        })
    }
}

fn is_service(object: &Value<'_>) -> bool {
    let object = ObjectRef::new(object);
    object.api_version() == "v1" && object.kind() == "Service"
}

/// A review with what is known of the request besides its evaluation.
fn finish(review: Review, input: &ReviewInput<'_>, prepared: &PreparedObject<'_>) -> Review {
    let mut dropped = review.dropped;
    dropped.extend(prepared.dropped_fields());
    let mut decisions = review.decisions;
    decisions.extend(ignored_mutations(&review.outcome));
    #[cfg(feature = "webhooks")]
    decisions.extend(
        review
            .webhooks
            .iter()
            .filter_map(WebhookExchange::ignored_failure),
    );
    Review {
        outcome: input.with_warnings(review.outcome),
        decisions,
        defaults: prepared.defaults(),
        dropped,
        is_refused: prepared.is_refused() || input.help().is_some(),
        ..review
    }
}

impl Review {
    /// A review with nothing but an outcome.
    pub(crate) fn new(outcome: Outcome) -> Self {
        Review {
            outcome,
            decisions: Vec::new(),
            defaults: Vec::new(),
            is_refused: false,
            causes: Vec::new(),
            dropped: Vec::new(),
            costs: Vec::new(),
            is_unmatched: false,
            explanation: None,
            steps: None,
            #[cfg(feature = "webhooks")]
            webhooks: Vec::new(),
        }
    }

    /// What to do, where there is no such request, or where a policy or a webhook has failed. `input` is that of the review.
    pub fn help<'r>(&'r self, input: &'r ReviewInput<'_>) -> Option<&'r str> {
        let of_failure = || {
            let status = self.outcome.status.as_ref();
            let failed = status.filter(|_| self.outcome.cause == Some(DenialCause::Failure));
            failed.and_then(|status| help_for_failure(&status.message))
        };
        input.help().or_else(of_failure)
    }

    /// The plugin that refuses the request, where the whole chain was run.
    pub fn refused_by(&self) -> Option<&str> {
        self.steps.as_ref().and(self.outcome.refused_by.as_deref())
    }
}
