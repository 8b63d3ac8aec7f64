//! What calls depend on besides the request and the webhooks.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use pratique_cel::library::authz::Authorizer;
use pratique_cel::{Interrupt, MemoryLimit};
use pratique_expression::OnUndecided;
use pratique_json::Value;
use pratique_match::{Equivalents, Namespaces};
use pratique_types::AdmissionRequest;

use crate::endpoint::Services;

/// A request, and its object as it is by now.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'s> {
    /// The request.
    pub request: &'s AdmissionRequest<'s>,
    /// What it asks to store, perhaps mutated meanwhile.
    pub object: &'s Value<'s>,
}

impl<'s> From<&'s AdmissionRequest<'s>> for Attributes<'s> {
    fn from(request: &'s AdmissionRequest<'s>) -> Self {
        Attributes {
            request,
            object: &request.object,
        }
    }
}

/// Has authorization checks answered that an [`Authorizer`] could not answer at once.
pub trait Pending: Send + Sync {
    /// Waits for the answers to all checks that are open; gives whether any was.
    fn answered<'a>(&'a self) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>>;
}

/// What calls depend on besides the request and the webhooks: a view of the cluster, and the request's deadline.
#[derive(Clone)]
pub struct Surroundings<'v> {
    pub(crate) equivalents: &'v Equivalents,
    pub(crate) namespaces: &'v (dyn Namespaces + Sync),
    pub(crate) authorizer: Arc<dyn Authorizer>,
    pub(crate) pending: Option<&'v dyn Pending>,
    pub(crate) services: &'v dyn Services,
    pub(crate) interrupt: Interrupt,
    pub(crate) memory: MemoryLimit,
    pub(crate) excludes_virtual: bool,
    pub(crate) types_objects: bool,
    pub(crate) on_undecided: OnUndecided,
}

impl<'v> Surroundings<'v> {
    /// Calls in this view of the cluster; `authorizer` answers the checks of match conditions.
    pub fn new(
        equivalents: &'v Equivalents,
        namespaces: &'v (dyn Namespaces + Sync),
        authorizer: Arc<dyn Authorizer>,
    ) -> Self {
        Surroundings {
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
        }
    }

    /// Sets what becomes of webhooks of which it depends on what was not given whether they are called.
    pub fn on_undecided(self, on_undecided: OnUndecided) -> Self {
        Surroundings { on_undecided, ..self }
    }

    /// Waits for answers to checks that the authorizer leaves open. Without, they end everything.
    pub fn with_pending(self, pending: &'v dyn Pending) -> Self {
        Surroundings {
            pending: Some(pending),
            ..self
        }
    }

    /// Finds services in this way.
    pub fn with_services(self, services: &'v dyn Services) -> Self {
        Surroundings { services, ..self }
    }

    /// The request has to be answered by then: no call goes on after it.
    pub fn with_deadline(self, deadline: Instant) -> Self {
        Surroundings {
            interrupt: self.interrupt.with_deadline(deadline),
            ..self
        }
    }

    /// Ends match conditions once `interrupt` is set, and calls at its deadline.
    pub fn with_interrupt(self, interrupt: &Interrupt) -> Self {
        let interrupt = interrupt.clone();
        Surroundings { interrupt, ..self }
    }

    /// Bounds what the match conditions of a webhook may hold in memory.
    pub fn with_memory(self, memory: &MemoryLimit) -> Self {
        let memory = memory.clone();
        Surroundings { memory, ..self }
    }

    /// Sets the feature gate `ExcludeAdmissionWebhookVirtualResources`; it is on unless set.
    pub fn excluding_virtual(self, excludes_virtual: bool) -> Self {
        Surroundings {
            excludes_virtual,
            ..self
        }
    }

    /// Takes objects of built-in kinds as they come, as an API server does custom resources. Otherwise webhooks get
    /// them, and their patches leave them, in the form of their kind.
    pub fn without_types(self) -> Self {
        Surroundings {
            types_objects: false,
            ..self
        }
    }
}
