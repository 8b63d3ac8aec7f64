//! The inputs of calls of webhooks besides the request and the webhooks.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use pratique_cel::library::authz::Authorizer;
use pratique_cel::{Interrupt, MemoryLimit};
use pratique_core::{EvalContext, Namespaces, ObjectModel, OnUndecided};
use pratique_json::Progress;
use pratique_match::Equivalents;
use pratique_schema::Release;
use pratique_types::configuration::StaticOrder;

use crate::endpoint::Services;
use crate::outcome::UnfinishedEvaluation;

/// Answers the authorization checks that an [`Authorizer`] left pending.
pub trait PendingChecks: Send + Sync {
    /// Waits for the answers to all pending checks; returns whether there were any.
    fn answered<'a>(&'a self) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>>;
}

/// The inputs of calls of webhooks besides the request and the webhooks: the view of the cluster, and limits.
#[derive(Clone)]
pub struct WebhookContext<'v> {
    pub(crate) equivalents: &'v Equivalents,
    pub(crate) namespaces: &'v (dyn Namespaces + Sync),
    pub(crate) authorizer: Arc<dyn Authorizer>,
    pub(crate) pending: Option<&'v dyn PendingChecks>,
    pub(crate) services: &'v dyn Services,
    pub(crate) interrupt: Interrupt,
    pub(crate) memory: MemoryLimit,
    pub(crate) excludes_virtual: bool,
    pub(crate) types_objects: bool,
    pub(crate) on_undecided: OnUndecided,
    pub(crate) object_model: Option<&'v dyn ObjectModel>,
    pub(crate) release: &'static Release,
    pub(crate) static_order: StaticOrder,
}

impl<'v> WebhookContext<'v> {
    /// Calls in this view of the cluster, with an authorizer for the checks of match conditions.
    pub fn new(
        equivalents: &'v Equivalents,
        namespaces: &'v (dyn Namespaces + Sync),
        authorizer: Arc<dyn Authorizer>,
    ) -> Self {
        WebhookContext {
            equivalents,
            namespaces,
            authorizer,
            pending: None,
            services: &(),
            interrupt: Interrupt::never(),
            memory: MemoryLimit::default(),
            excludes_virtual: true,
            types_objects: true,
            on_undecided: OnUndecided::default(),
            object_model: None,
            release: Release::latest(),
            static_order: StaticOrder::default(),
        }
    }

    /// Calls as a server of a release does; unless set, as one of the [latest](Release::latest).
    #[must_use]
    pub fn of_release(self, release: &'static Release) -> Self {
        WebhookContext { release, ..self }
    }

    /// Sets when static mutating webhooks are called, beside those of the API.
    #[must_use]
    pub fn with_static_order(self, static_order: StaticOrder) -> Self {
        WebhookContext { static_order, ..self }
    }

    /// Sets how webhooks whose match depends on missing input are handled.
    #[must_use]
    pub fn on_undecided(self, on_undecided: OnUndecided) -> Self {
        WebhookContext { on_undecided, ..self }
    }

    /// Waits for the answers to checks that the authorizer leaves pending. Without, such a check ends everything.
    #[must_use]
    pub fn with_pending(self, pending: &'v dyn PendingChecks) -> Self {
        WebhookContext {
            pending: Some(pending),
            ..self
        }
    }

    /// Resolves services in this way.
    #[must_use]
    pub fn with_services(self, services: &'v dyn Services) -> Self {
        WebhookContext { services, ..self }
    }

    /// Defaults objects after each patch by this model.
    #[must_use]
    pub fn with_object_model(self, object_model: Option<&'v dyn ObjectModel>) -> Self {
        WebhookContext { object_model, ..self }
    }

    /// The deadline of the request: no call continues after it.
    #[must_use]
    pub fn with_deadline(self, deadline: Instant) -> Self {
        WebhookContext {
            interrupt: self.interrupt.with_deadline(deadline),
            ..self
        }
    }

    /// Ends match conditions once `interrupt` is set, and calls at its deadline.
    #[must_use]
    pub fn with_interrupt(self, interrupt: &Interrupt) -> Self {
        let interrupt = interrupt.clone();
        WebhookContext { interrupt, ..self }
    }

    /// Bounds the memory of the calls, and of the match conditions of a webhook.
    #[must_use]
    pub fn with_memory(self, memory: &MemoryLimit) -> Self {
        let memory = memory.clone();
        WebhookContext { memory, ..self }
    }

    /// Sets the feature gate `ExcludeAdmissionWebhookVirtualResources`; it is on unless set.
    #[must_use]
    pub fn excluding_virtual(self, excludes_virtual: bool) -> Self {
        WebhookContext {
            excludes_virtual,
            ..self
        }
    }

    /// Takes objects of built-in kinds as they come, as an API server does custom resources. Otherwise webhooks receive
    /// them, and their patches leave them, in the form of their kind.
    #[must_use]
    pub fn without_types(self) -> Self {
        WebhookContext {
            types_objects: false,
            ..self
        }
    }

    /// The deadline of the request.
    pub(crate) fn deadline(&self) -> Option<tokio::time::Instant> {
        self.interrupt.deadline().map(tokio::time::Instant::from_std)
    }

    /// Whether the deadline of the request has passed.
    pub(crate) fn deadline_passed(&self) -> bool {
        let deadline = self.deadline();
        deadline.is_some_and(|deadline| tokio::time::Instant::now() >= deadline)
    }

    /// Progress of work on whole objects, which the interrupt ends.
    pub(crate) fn progress(&self) -> Progress<'_> {
        Progress::new(&self.interrupt)
    }

    /// Waits for the answers to pending authorization checks.
    pub(crate) async fn answer_pending(&self) -> Result<(), UnfinishedEvaluation> {
        match self.pending {
            Some(pending) if pending.answered().await => Ok(()),
            _ => Err(UnfinishedEvaluation::Pending),
        }
    }
}

/// The context of webhooks that are called as policies are evaluated.
impl<'v> From<EvalContext<'v>> for WebhookContext<'v> {
    fn from(context: EvalContext<'v>) -> Self {
        let cluster = context.cluster;
        WebhookContext {
            interrupt: context.interrupt.cloned().unwrap_or_else(Interrupt::never),
            memory: context.memory.cloned().unwrap_or_default(),
            on_undecided: context.on_undecided,
            object_model: context.object_model,
            release: context.release,
            ..WebhookContext::new(cluster.equivalents(), cluster, context.authorizer)
        }
    }
}
