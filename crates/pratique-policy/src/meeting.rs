//! Which policies and bindings a request meets, with those told who look on.

use pratique_exclusion::{Origin, Phase, intercepts};
use pratique_json as json;
use pratique_match::{MatchIndex, MatchResources, Matched, Target};

use crate::binding::Binding;
use crate::cluster::Cluster;
use crate::hook::Hook;
use crate::session::Session;
use crate::trace::{Does, Met, Subject, Trace};

/// A request that asks who it meets.
#[derive(Clone, Copy)]
pub(crate) struct Meeting<'s> {
    does: Does,
    pub(crate) target: Target<'s>,
    cluster: &'s dyn Cluster,
    trace: Option<&'s dyn Trace>,
}

/// Params, or none for a policy or a binding without.
pub(crate) type Param<'s> = Option<&'s json::Value<'s>>;

impl<'s> Meeting<'s> {
    pub(crate) fn new(does: Does, session: &Session<'s>) -> Self {
        Meeting {
            does,
            target: session.target(),
            cluster: session.surroundings.cluster,
            trace: session.trace(),
        }
    }

    /// The positions of the policies to ask. Who looks on wants to know of all.
    pub(crate) fn candidates<'h>(
        &self,
        origin: Origin,
        index: &MatchIndex,
        hooks: impl ExactSizeIterator<Item = &'h Hook>,
    ) -> Vec<u32> {
        if !intercepts(Phase::Policy, origin, self.target.resource, self.target.kind) {
            for hook in hooks.filter(|_| self.trace.is_some()) {
                self.tell_policy(origin, hook, Met::Excluded);
            }
            return Vec::new();
        }
        match self.trace {
            Some(_) => (0..hooks.len() as u32).collect(),
            None => index.candidates(&self.target, self.cluster.equivalents()),
        }
    }

    /// What the request matches a policy as; the error is that of the policy's configuration.
    pub(crate) fn policy(&self, origin: Origin, hook: &Hook) -> Result<Option<Matched<'s>>, String> {
        let matched = hook.matches(&self.target, self.cluster);
        if self.trace.is_some() {
            let met = self.met(&matched, &hook.constraints);
            self.tell_policy(origin, hook, met);
        }
        matched
    }

    /// The params to invoke a policy with, one after the other; `None` for a binding that does not match.
    pub(crate) fn binding(&self, hook: &Hook, binding: &Binding) -> Result<Option<Vec<Param<'s>>>, String> {
        let kind = hook.param_kind.as_ref();
        let params = binding.matches(&self.target, self.cluster).and_then(|matches| {
            let params = matches.then(|| binding.params(kind, self.target.namespace, self.cluster));
            params.transpose()
        });
        if let Some(trace) = self.trace {
            let met = match &binding.resources {
                Some(resources) => self.met(&params, resources),
                None => params
                    .as_ref()
                    .map_or_else(|error| Met::Error(error), |_| Met::Yes),
            };
            trace.binding(&binding.name, met);
        }
        params
    }

    /// Tells those who look on that the policy and binding, of which they know already, are at work now.
    pub(crate) fn resume(&self, origin: Origin, hook: &Hook, binding: &Binding) {
        if let Some(trace) = self.trace {
            self.tell_policy(origin, hook, Met::Yes);
            trace.binding(&binding.name, Met::Yes);
        }
    }

    fn tell_policy(&self, origin: Origin, hook: &Hook, met: Met<'_>) {
        let subject = Subject {
            does: self.does,
            origin,
            name: &hook.name,
        };
        self.trace.inspect(|trace| trace.policy(subject, met));
    }

    fn met<'e, T>(&self, matched: &'e Result<Option<T>, String>, constraints: &MatchResources) -> Met<'e> {
        match matched {
            Ok(Some(_)) => Met::Yes,
            Ok(None) => {
                let mismatch = constraints.mismatch(&self.target, self.cluster.equivalents(), self.cluster);
                mismatch.map_or(Met::Yes, Met::No)
            }
            Err(error) => Met::Error(error),
        }
    }
}
