//! The webhooks of a chain, and who brings reviews to them.

use std::collections::HashSet;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use pratique_expression::{Cache, Undecided};
use pratique_policy::Need;
use pratique_webhook::{
    Called, Caller, Conditions, Endpoint, MutatingWebhooks, Observer, Origin, PendingChecks, Phase,
    Rejection, Services, ValidatingWebhooks,
};

use crate::admission_config::AdmissionConfig;
use crate::authorization::{Answers, Decider};
use crate::guards::Guards;

/// The webhooks of a chain.
#[derive(Clone, Debug)]
pub(crate) struct Hooks {
    /// In the order in which they are called.
    mutating: [Arc<MutatingWebhooks>; 2],
    validating: [Arc<ValidatingWebhooks>; 2],
    pub(crate) callers: Callers,
}

/// Who calls webhooks.
#[derive(Clone, Default)]
pub(crate) struct Callers {
    pub(crate) mutating: Option<Arc<dyn Caller>>,
    pub(crate) validating: Option<Arc<dyn Caller>>,
    pub(crate) services: Option<Arc<dyn Services>>,
    pub(crate) guards: Guards,
}

impl Callers {
    /// Finds services as it is told to, or leaves them to the cluster's DNS.
    pub(crate) fn services(&self) -> &dyn Services {
        self.services.as_deref().unwrap_or(&())
    }

    /// With the guards around those who call.
    pub(crate) fn guarded(self) -> Self {
        let guards = self.guards;
        Callers {
            mutating: self.mutating.map(|caller| guards.around(caller)),
            validating: self.validating.map(|caller| guards.around(caller)),
            ..self
        }
    }
}

impl fmt::Debug for Callers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Callers")
            .field("mutating", &self.mutating.is_some())
            .field("validating", &self.validating.is_some())
            .finish_non_exhaustive()
    }
}

impl Hooks {
    /// Compiles webhooks; those of configurations that `previous` has are taken over.
    pub(crate) fn compile(config: &AdmissionConfig, previous: Option<&Hooks>) -> Self {
        let cache: &Cache = &config.cache;
        let none = |origin| Arc::new(MutatingWebhooks::compile([], origin, cache));
        let known = previous.map(|previous| previous.mutating.clone());
        let [first, second] = known.unwrap_or_else(|| [Origin::Static, Origin::Api].map(none));
        let of_api = config.api.iter().flat_map(|api| &api.mutating_webhooks);
        let mutating = [
            first.recompile(config.of_sets(|set| &set.mutating_webhooks), cache),
            second.recompile(of_api, cache),
        ];
        let none = |origin| Arc::new(ValidatingWebhooks::compile([], origin, cache));
        let known = previous.map(|previous| previous.validating.clone());
        let [first, second] = known.unwrap_or_else(|| [Origin::Static, Origin::Api].map(none));
        let of_api = config.api.iter().flat_map(|api| &api.validating_webhooks);
        let validating = [
            first.recompile(config.of_sets(|set| &set.validating_webhooks), cache),
            second.recompile(of_api, cache),
        ];
        Hooks {
            mutating: mutating.map(Arc::new),
            validating: validating.map(Arc::new),
            callers: config.callers.clone(),
        }
    }

    /// What it may depend on besides the request whether they are called.
    pub(crate) fn needs(&self) -> impl Iterator<Item = Need> {
        let mutating = self.mutating.iter().flat_map(|webhooks| webhooks.needs());
        mutating.chain(self.validating.iter().flat_map(|webhooks| webhooks.needs()))
    }

    /// Has the callers drop what they keep for webhooks that are gone.
    pub(crate) fn retain(&self) {
        let mutating = self.mutating.iter().flat_map(|webhooks| webhooks.endpoints());
        let validating = self.validating.iter().flat_map(|webhooks| webhooks.endpoints());
        let all: HashSet<&Endpoint> = mutating.chain(validating).map(|endpoint| &**endpoint).collect();
        // One caller may call them all.
        for caller in [&self.callers.mutating, &self.callers.validating]
            .into_iter()
            .flatten()
        {
            caller.retain(&all);
        }
    }

    /// The mutating webhooks and who calls them, if there are any.
    pub(crate) fn mutating(&self) -> Option<([&MutatingWebhooks; 2], &dyn Caller)> {
        let webhooks = self.mutating.each_ref().map(|webhooks| &**webhooks);
        let caller = self.callers.mutating.as_deref()?;
        (!webhooks.iter().all(|webhooks| webhooks.is_empty())).then_some((webhooks, caller))
    }

    /// The validating webhooks and who calls them, if there are any.
    pub(crate) fn validating(&self) -> Option<([&ValidatingWebhooks; 2], &dyn Caller)> {
        let webhooks = self.validating.each_ref().map(|webhooks| &**webhooks);
        let caller = self.callers.validating.as_deref()?;
        (!webhooks.iter().all(|webhooks| webhooks.is_empty())).then_some((webhooks, caller))
    }
}

/// Has the authorization checks of match conditions answered.
pub(crate) struct Asking<'c> {
    pub(crate) answers: Arc<Answers>,
    pub(crate) decider: &'c dyn Decider,
}

impl PendingChecks for Asking<'_> {
    fn answered<'a>(&'a self) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(self.answers.ask(self.decider))
    }
}

/// Logs calls that an API server logs, and passes events on.
pub(crate) struct Logging<'o>(pub(crate) Option<&'o mut dyn Observer>);

impl Observer for Logging<'_> {
    fn called(&mut self, called: &Called<'_>) {
        let name = called.webhook;
        match (called.failure, called.rejection) {
            (Some(failure), None) => tracing::warn!("Failed calling webhook, failing open {name}: {failure}"),
            (Some(failure), Some(Rejection::CallFailed)) => {
                tracing::warn!("Failed calling webhook, failing closed {name}: {failure}");
            }
            (None, Some(Rejection::Denied)) if called.phase == Phase::Validating => {
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

    fn undecided(&mut self, undecided: &Undecided) {
        tracing::warn!("{undecided}");
        if let Some(observer) = &mut self.0 {
            observer.undecided(undecided);
        }
    }
}
