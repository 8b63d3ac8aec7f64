//! What an evaluation depends on besides the request and the policies.

use std::sync::Arc;

use pratique_cel::library::authz::Authorizer;
use pratique_cel::{Interrupt, MemoryLimit};
use pratique_expression::OnUndecided;
use pratique_workers::Workers;

use crate::cluster::Cluster;
use crate::trace::Trace;

/// What a verdict depends on besides the request and the policies.
#[derive(Clone)]
pub struct Surroundings<'a> {
    pub(crate) cluster: &'a dyn Cluster,
    pub(crate) authorizer: Arc<dyn Authorizer>,
    pub(crate) interrupt: Option<&'a Interrupt>,
    pub(crate) memory: Option<&'a MemoryLimit>,
    pub(crate) trace: Option<&'a dyn Trace>,
    pub(crate) workers: Option<&'a dyn Workers>,
    pub(crate) on_undecided: OnUndecided,
}

impl<'a> Surroundings<'a> {
    /// Judges with this view of the cluster; `authorizer` answers the checks of expressions.
    pub fn new(cluster: &'a dyn Cluster, authorizer: Arc<dyn Authorizer>) -> Self {
        Surroundings {
            cluster,
            authorizer,
            interrupt: None,
            memory: None,
            trace: None,
            workers: None,
            on_undecided: OnUndecided::default(),
        }
    }

    /// Sets what becomes of policies whose decision depends on what was not given.
    pub fn on_undecided(self, on_undecided: OnUndecided) -> Self {
        Surroundings { on_undecided, ..self }
    }

    /// Stops soon after `interrupt` is set, as [`Unfinished::Interrupted`](crate::Unfinished::Interrupted).
    pub fn with_interrupt(self, interrupt: &'a Interrupt) -> Self {
        Surroundings {
            interrupt: Some(interrupt),
            ..self
        }
    }

    /// Bounds what expressions may hold in memory, for each phase and each thread of the [workers](Self::with_workers).
    pub fn with_memory(self, memory: &'a MemoryLimit) -> Self {
        Surroundings {
            memory: Some(memory),
            ..self
        }
    }

    /// Takes others' help with many policies.
    pub fn with_workers(self, workers: &'a dyn Workers) -> Self {
        Surroundings {
            workers: Some(workers),
            ..self
        }
    }

    /// Whether somebody helps.
    pub fn has_workers(&self) -> bool {
        self.workers.is_some()
    }

    /// Lets somebody look on.
    pub fn with_trace(self, trace: &'a dyn Trace) -> Self {
        Surroundings {
            trace: Some(trace),
            ..self
        }
    }
}
