//! The webhooks of a chain, and who brings reviews to them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use pratique_expression::Cache;
use pratique_webhook::{Caller, MutatingWebhooks, Origin, Pending, Services, ValidatingWebhooks};

use crate::authorization::{Answers, Decider};
use crate::ingredients::Ingredients;

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
}

impl Callers {
    /// Finds services as it is told to, or leaves them to the cluster's DNS.
    pub(crate) fn services(&self) -> &dyn Services {
        self.services.as_deref().unwrap_or(&())
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
    pub(crate) fn compile(ingredients: &Ingredients) -> Self {
        let cache: &Cache = &ingredients.cache;
        let of_sets = ingredients.of_sets(|set| &set.mutating_webhooks);
        let of_api = ingredients.api.iter().flat_map(|api| &api.mutating_webhooks);
        let mutating = [
            MutatingWebhooks::compile(of_sets.map(|own| &**own), Origin::Static, cache),
            MutatingWebhooks::compile(of_api.map(|own| &**own), Origin::Api, cache),
        ];
        let of_sets = ingredients.of_sets(|set| &set.validating_webhooks);
        let of_api = ingredients.api.iter().flat_map(|api| &api.validating_webhooks);
        let validating = [
            ValidatingWebhooks::compile(of_sets.map(|own| &**own), Origin::Static, cache),
            ValidatingWebhooks::compile(of_api.map(|own| &**own), Origin::Api, cache),
        ];
        Hooks {
            mutating: mutating.map(Arc::new),
            validating: validating.map(Arc::new),
            callers: ingredients.callers.clone(),
        }
    }

    /// The mutating webhooks and who calls them, if there are any.
    pub(crate) fn mutating(&self) -> Option<([&MutatingWebhooks; 2], &dyn Caller)> {
        let own = self.mutating.each_ref().map(|own| &**own);
        let caller = self.callers.mutating.as_deref()?;
        (!own.iter().all(|own| own.is_empty())).then_some((own, caller))
    }

    /// The validating webhooks and who calls them, if there are any.
    pub(crate) fn validating(&self) -> Option<([&ValidatingWebhooks; 2], &dyn Caller)> {
        let own = self.validating.each_ref().map(|own| &**own);
        let caller = self.callers.validating.as_deref()?;
        (!own.iter().all(|own| own.is_empty())).then_some((own, caller))
    }
}

/// Has the authorization checks of match conditions answered.
pub(crate) struct Asking<'c> {
    pub(crate) answers: Arc<Answers>,
    pub(crate) decider: &'c dyn Decider,
}

impl Pending for Asking<'_> {
    fn answered<'a>(&'a self) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(self.answers.ask(self.decider))
    }
}
