//! The compiled webhooks of a chain, and their callers.

use std::collections::HashSet;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use pratique_expression::UndecidedDecision;
use pratique_policy::DecisionNeed;
use pratique_webhook::{
    AdmissionPhase, Caller, Conditions, EndedCall, Endpoint, MutatingWebhooks, PendingChecks, Rejection,
    Services, ValidatingWebhooks, WebhookObserver,
};

use crate::authorization::{CheckDecider, RequestAnswers};
use crate::guards::WebhookGuards;

/// The webhooks of a chain, compiled.
#[derive(Clone, Debug)]
pub(crate) struct CompiledWebhooks {
    /// In the order in which they are called.
    pub(crate) mutating: [Arc<MutatingWebhooks>; 2],
    pub(crate) validating: [Arc<ValidatingWebhooks>; 2],
    pub(crate) callers: WebhookCallers,
}

/// The callers of webhooks, and what they need.
#[derive(Clone, Default)]
pub(crate) struct WebhookCallers {
    pub(crate) mutating: Option<Arc<dyn Caller>>,
    pub(crate) validating: Option<Arc<dyn Caller>>,
    pub(crate) services: Option<Arc<dyn Services>>,
    pub(crate) guards: WebhookGuards,
}

impl WebhookCallers {
    /// Resolves services: as configured, or by the cluster's DNS.
    pub(crate) fn services(&self) -> &dyn Services {
        self.services.as_deref().unwrap_or(&())
    }

    /// Wraps the callers in the guards.
    pub(crate) fn guarded(self) -> Self {
        let guards = self.guards;
        WebhookCallers {
            mutating: self.mutating.map(|caller| guards.around(caller)),
            validating: self.validating.map(|caller| guards.around(caller)),
            ..self
        }
    }
}

impl fmt::Debug for WebhookCallers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Callers")
            .field("mutating", &self.mutating.is_some())
            .field("validating", &self.validating.is_some())
            .finish_non_exhaustive()
    }
}

impl CompiledWebhooks {
    /// The inputs besides the request that decide whether webhooks are called.
    pub(crate) fn needs(&self) -> impl Iterator<Item = DecisionNeed> {
        let mutating = self.mutating.iter().flat_map(|webhooks| webhooks.needs());
        mutating.chain(self.validating.iter().flat_map(|webhooks| webhooks.needs()))
    }

    /// Drops what callers keep for endpoints that no webhook has any more.
    pub(crate) fn retain(&self) {
        let mutating = self.mutating.iter().flat_map(|webhooks| webhooks.endpoints());
        let validating = self.validating.iter().flat_map(|webhooks| webhooks.endpoints());
        let all: HashSet<&Endpoint> = mutating.chain(validating).map(|endpoint| &**endpoint).collect();
        // One caller may serve both phases, so it is given the endpoints of both.
        for caller in [&self.callers.mutating, &self.callers.validating]
            .into_iter()
            .flatten()
        {
            caller.retain(&all);
        }
    }

    /// The mutating webhooks and their caller, if there are any.
    pub(crate) fn mutating(&self) -> Option<([&MutatingWebhooks; 2], &dyn Caller)> {
        let webhooks = self.mutating.each_ref().map(|webhooks| &**webhooks);
        let caller = self.callers.mutating.as_deref()?;
        (!webhooks.iter().all(|webhooks| webhooks.is_empty())).then_some((webhooks, caller))
    }

    /// The validating webhooks and their caller, if there are any.
    pub(crate) fn validating(&self) -> Option<([&ValidatingWebhooks; 2], &dyn Caller)> {
        let webhooks = self.validating.each_ref().map(|webhooks| &**webhooks);
        let caller = self.callers.validating.as_deref()?;
        (!webhooks.iter().all(|webhooks| webhooks.is_empty())).then_some((webhooks, caller))
    }
}

/// Answers the authorization checks of match conditions.
pub(crate) struct DecidedChecks<'c> {
    pub(crate) answers: Arc<RequestAnswers>,
    pub(crate) decider: &'c dyn CheckDecider,
}

impl PendingChecks for DecidedChecks<'_> {
    fn answered<'a>(&'a self) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(self.answers.ask(self.decider))
    }
}

/// Logs the calls that an API server logs, and forwards events to another observer.
pub(crate) struct WebhookLogging<'o>(pub(crate) Option<&'o mut dyn WebhookObserver>);

impl WebhookObserver for WebhookLogging<'_> {
    fn called(&mut self, called: &EndedCall<'_>) {
        let name = called.webhook;
        match (called.failure, called.rejection) {
            (Some(failure), None) => tracing::warn!("Failed calling webhook, failing open {name}: {failure}"),
            (Some(failure), Some(Rejection::CallFailed)) => {
                tracing::warn!("Failed calling webhook, failing closed {name}: {failure}");
            }
            (None, Some(Rejection::Denied)) if called.phase == AdmissionPhase::Validating => {
                tracing::warn!(code = called.code, "rejected by webhook {name:?}");
            }
            _ => {}
        }
        if let Some(observer) = &mut self.0 {
            observer.called(called);
        }
    }

    fn conditions(&mut self, conditions: &Conditions<'_>) {
        if let Some(failure) = conditions.failure {
            let name = conditions.webhook;
            tracing::warn!("Failed evaluating match conditions, failing closed {name}: {failure}");
        }
        if let Some(observer) = &mut self.0 {
            observer.conditions(conditions);
        }
    }

    fn undecided(&mut self, undecided: &UndecidedDecision) {
        tracing::warn!("{undecided}");
        if let Some(observer) = &mut self.0 {
            observer.undecided(undecided);
        }
    }
}
