//! Which policies and bindings a request meets, with those told who look on.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use pratique_exclusion::{Origin, Phase, intercepts};
use pratique_expression::Missing;
use pratique_json as json;
use pratique_match::{MatchError, MatchResources, Matched, Target};

use crate::binding::{Binding, Params, Terms};
use crate::cause::DenialCause;
use crate::cluster::Cluster;
use crate::few::Few;
use crate::groups::Groups;
use crate::hook::Hook;
use crate::outcome::Unfinished;
use crate::session::Session;
use crate::trace::{Does, Met, Subject, Trace};

/// A request that asks who it meets.
pub(crate) struct Meeting<'s> {
    does: Does,
    pub(crate) target: Target<'s>,
    cluster: &'s dyn Cluster,
    trace: Option<&'s dyn Trace>,
    /// What is known of constraints that several bindings have, by their address.
    bound: RefCell<HashMap<*const MatchResources, Result<bool, Unmatched>, RandomState>>,
}

/// Why it cannot be told whether a request matches.
#[derive(Clone, Debug)]
pub(crate) enum Unmatched {
    /// The configuration is in error.
    Error {
        /// In an API server's words.
        message: String,
        /// What a denial because of it is.
        cause: DenialCause,
    },
    /// It depends on what was not given.
    Undecided(Box<Missing>),
    /// Its params are still to be looked up.
    Pending,
}

impl From<MatchError> for Unmatched {
    fn from(error: MatchError) -> Self {
        match error {
            MatchError::UnknownLabels { name, selector } => {
                Unmatched::Undecided(Box::new(Missing::NamespaceLabels { name, selector }))
            }
            error => Unmatched::failed(error.to_string()),
        }
    }
}

/// Params, or none for a policy or a binding without.
pub(crate) type Param<'s> = Option<&'s json::Value<'s>>;

/// The policies of a set that a request has to do with.
#[derive(Debug, Default)]
pub(crate) struct Candidates<'s> {
    /// By position, each with the place of its outcome.
    pub(crate) policies: Vec<(u32, u32)>,
    /// What the request matches as, or why that cannot be told; one for all policies with equal constraints.
    outcomes: Few<Result<Matched<'s>, MatchError>>,
}

impl<'s> Meeting<'s> {
    pub(crate) fn new(does: Does, session: &Session<'s>) -> Self {
        Meeting {
            does,
            target: session.target(),
            cluster: session.surroundings.cluster,
            trace: session.trace(),
            bound: RefCell::default(),
        }
    }

    /// The policies to ask. `left` may know which members of a group, by its place, are left to ask. Who looks on wants
    /// to know of all.
    pub(crate) fn candidates<'h>(
        &self,
        origin: Origin,
        groups: &Groups,
        hooks: impl ExactSizeIterator<Item = &'h Hook>,
        left: impl FnMut(usize, Matched<'s>) -> Result<Option<Vec<u32>>, Unfinished>,
    ) -> Result<Candidates<'s>, Unfinished> {
        if groups.groups.is_empty() {
            return Ok(Candidates::default());
        }
        if !intercepts(Phase::Policy, origin, self.target.resource, self.target.kind) {
            for hook in hooks.filter(|_| self.trace.is_some()) {
                self.tell_policy(origin, hook, Met::Excluded);
            }
            return Ok(Candidates::default());
        }
        match self.trace {
            Some(_) => Ok(Candidates {
                policies: (0..hooks.len() as u32).map(|position| (position, 0)).collect(),
                outcomes: Few::default(),
            }),
            None => self.matched(groups, left),
        }
    }

    fn matched(
        &self,
        groups: &Groups,
        mut left: impl FnMut(usize, Matched<'s>) -> Result<Option<Vec<u32>>, Unfinished>,
    ) -> Result<Candidates<'s>, Unfinished> {
        let mut candidates = Candidates::default();
        for at in groups.index.candidates(&self.target, self.cluster.equivalents()) {
            let Some(group) = groups.groups.get(at as usize) else {
                continue;
            };
            let Some(outcome) = self.matches(&group.constraints).transpose() else {
                continue;
            };
            let members = match &outcome {
                Ok(matched) => left(at as usize, *matched)?,
                Err(_) => None,
            };
            let members = members.as_deref().unwrap_or(&group.members).iter();
            let place = candidates.outcomes.len() as u32;
            candidates.outcomes.push(outcome);
            candidates
                .policies
                .extend(members.map(|position| (*position, place)));
        }
        candidates.policies.sort_unstable();
        Ok(candidates)
    }

    /// What the request matches a policy as; the error is that of the policy's configuration.
    pub(crate) fn policy(
        &self,
        origin: Origin,
        hook: &Hook,
        candidates: &Candidates<'s>,
        place: u32,
    ) -> Result<Option<Matched<'s>>, Unmatched> {
        let known = candidates
            .outcomes
            .get(place as usize)
            .filter(|_| self.trace.is_none());
        let matched = match known {
            Some(Ok(matched)) => Ok(Some(*matched)),
            Some(Err(error)) => Err(error.clone().into()),
            None => self.matches(&hook.constraints).map_err(Unmatched::from),
        };
        let matched = matched.and_then(|matched| {
            let accepted = matched.map(|matched| hook.accepts(matched, self.cluster));
            accepted.transpose()
        });
        if self.trace.is_some() {
            let met = self.met(&matched, &hook.constraints);
            self.tell_policy(origin, hook, met);
        }
        matched
    }

    /// The params to invoke a policy with, one after the other; `None` for a binding that does not match.
    pub(crate) fn binding(&self, hook: &Hook, binding: Binding<'_>) -> Result<Option<Params<'s>>, Unmatched> {
        let kind = hook.param_kind.as_ref();
        let terms = binding.terms;
        let bound = self.is_bound(terms, hook.bindings.len() > 1);
        let params = bound.and_then(|matches| {
            let params = matches.then(|| terms.params(kind, self.target.namespace, self.cluster));
            params.transpose()
        });
        if let Some(trace) = self.trace {
            let met = match &terms.resources {
                Some(resources) => self.met(&params, resources),
                None => params.as_ref().map_or_else(Unmatched::met, |_| Met::Yes),
            };
            trace.binding(&binding.name.to_string(), met);
        }
        params
    }

    /// Whether the request matches a binding, of which the policy may have several; the error is that of the binding's
    /// configuration.
    pub(crate) fn is_bound(&self, terms: &Terms, of_several: bool) -> Result<bool, Unmatched> {
        let Some(resources) = &terms.resources else {
            return Ok(true);
        };
        let ask = || {
            let matched = self.matches(resources);
            matched.map(|matched| matched.is_some()).map_err(Unmatched::from)
        };
        // The set of constraints has it as well.
        if !of_several && Arc::strong_count(resources) <= 2 {
            return ask();
        }
        let mut bound = self.bound.borrow_mut();
        bound.entry(Arc::as_ptr(resources)).or_insert_with(ask).clone()
    }

    fn matches(&self, constraints: &MatchResources) -> Result<Option<Matched<'s>>, MatchError> {
        constraints.matches(&self.target, self.cluster.equivalents(), self.cluster)
    }

    /// Tells those who look on that the policy and binding, of which they know already, are at work now.
    pub(crate) fn resume(&self, origin: Origin, hook: &Hook, binding: Binding<'_>) {
        if let Some(trace) = self.trace {
            self.tell_policy(origin, hook, Met::Yes);
            trace.binding(&binding.name.to_string(), Met::Yes);
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

    fn met<'e, T>(&self, matched: &'e Result<Option<T>, Unmatched>, constraints: &MatchResources) -> Met<'e> {
        match matched {
            Ok(Some(_)) => Met::Yes,
            Ok(None) => {
                let mismatch = constraints.mismatch(&self.target, self.cluster.equivalents(), self.cluster);
                mismatch.map_or(Met::Yes, Met::No)
            }
            Err(why) => why.met(),
        }
    }
}

impl Unmatched {
    /// A failure, in an API server's words.
    pub(crate) fn failed(message: String) -> Self {
        Unmatched::Error {
            message,
            cause: DenialCause::Failure,
        }
    }

    /// As those are told who look on.
    fn met(&self) -> Met<'_> {
        match self {
            Unmatched::Error { message, .. } => Met::Error(message),
            Unmatched::Undecided(missing) => Met::Undecided(missing),
            Unmatched::Pending => Met::Error("params are still to be looked up"),
        }
    }
}
