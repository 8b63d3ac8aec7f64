//! Another session about the same request, for another thread.

use std::sync::Arc;

use pratique_cel::library::authz::Authorizer;
use pratique_cel::{Interrupt, MemoryLimit};
use pratique_core::{Attributes, Cluster, EvalContext};
use pratique_schema::Release;

use super::RequestSession;
use crate::arena::RequestArena;

/// The parts of a session from which another thread makes its own.
pub(crate) struct SessionSeed<'s> {
    attributes: Attributes<'s>,
    name: &'s str,
    types_objects: bool,
    cluster: &'s dyn Cluster,
    authorizer: Arc<dyn Authorizer>,
    interrupt: Option<&'s Interrupt>,
    pub(crate) release: &'static Release,
    pub(crate) memory: Option<&'s MemoryLimit>,
}

impl<'s> RequestSession<'s> {
    pub(crate) fn seed(&self) -> SessionSeed<'s> {
        SessionSeed {
            attributes: Attributes {
                request: self.request,
                object: self.object,
                form: self.form,
            },
            name: self.name,
            types_objects: self.types_objects,
            cluster: self.context.cluster,
            authorizer: self.context.authorizer.clone(),
            interrupt: self.context.interrupt,
            release: self.context.release,
            memory: self.context.memory,
        }
    }
}

impl SessionSeed<'_> {
    /// A session without a trace.
    pub(crate) fn session<'t>(&'t self, arena: &'t RequestArena<'t>) -> RequestSession<'t> {
        let mut context = EvalContext::new(self.cluster, self.authorizer.clone());
        context.interrupt = self.interrupt;
        context.release = self.release;
        RequestSession {
            name: self.name,
            types_objects: self.types_objects,
            ..RequestSession::new(self.attributes, context, arena)
        }
    }
}
