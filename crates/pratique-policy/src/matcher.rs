//! Matching a request with policies and bindings.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use pratique_core::trace::{MatchOutcome, PolicyTrace, TracedPolicy};
use pratique_core::{AdmissionPhase, Cluster, MatchFailure, Origin, RequestMatcher};
use pratique_json as json;
use pratique_match::{MatchResources, MatchedResource};

use crate::binding::{BindingTerms, BoundParams, CompiledBinding};
use crate::few::InlineList;
use crate::groups::PolicyGroups;
use crate::policy_core::PolicyCore;
use crate::session::RequestSession;
use crate::unmatched_reason::UnmatchedReason;
use pratique_core::UnfinishedEvaluation;

/// Matches a request with the policies of one phase and their bindings, and reports the outcomes to a trace.
pub(crate) struct PolicyMatcher<'s> {
    phase: AdmissionPhase,
    pub(crate) request: RequestMatcher<'s>,
    cluster: &'s dyn Cluster,
    trace: Option<&'s dyn PolicyTrace>,
    /// Whether the request matches constraints that several bindings share, by their address.
    bound: RefCell<HashMap<*const MatchResources, Result<bool, UnmatchedReason>, RandomState>>,
}

/// A param; `None` for a policy or a binding without params.
pub(crate) type OptionalParam<'s> = Option<&'s json::Value<'s>>;

/// The policies of a set that may match a request.
#[derive(Debug, Default)]
pub(crate) struct CandidatePolicies<'s> {
    /// The positions of the policies in order, each with that of its outcome.
    pub(crate) policies: Vec<(u32, u32)>,
    /// The results of matching the request: one for all policies with equal constraints.
    outcomes: InlineList<Result<MatchedResource<'s>, MatchFailure>>,
}

impl<'s> PolicyMatcher<'s> {
    pub(crate) fn new(phase: AdmissionPhase, session: &RequestSession<'s>) -> Self {
        let cluster = session.context.cluster;
        PolicyMatcher {
            phase,
            request: RequestMatcher {
                target: session.target(),
                equivalents: cluster.equivalents(),
                namespaces: cluster,
            },
            cluster,
            trace: session.trace(),
            bound: RefCell::default(),
        }
    }

    /// The policies to evaluate. `undecided` may return the members of a group, by its position, that a batch did not
    /// decide. A trace gets the outcomes of all policies.
    pub(crate) fn candidates<'h>(
        &self,
        origin: Origin,
        groups: &PolicyGroups,
        cores: impl ExactSizeIterator<Item = &'h PolicyCore>,
        undecided: impl FnMut(usize, MatchedResource<'s>) -> Result<Option<Vec<u32>>, UnfinishedEvaluation>,
    ) -> Result<CandidatePolicies<'s>, UnfinishedEvaluation> {
        if groups.groups.is_empty() {
            return Ok(CandidatePolicies::default());
        }
        if !self
            .request
            .may_intercept(pratique_exclusion::Interceptor::Policy, origin)
        {
            for core in cores.filter(|_| self.trace.is_some()) {
                self.report_policy(origin, core, MatchOutcome::Excluded);
            }
            return Ok(CandidatePolicies::default());
        }
        match self.trace {
            Some(_) => Ok(CandidatePolicies {
                policies: (0..cores.len() as u32).map(|position| (position, 0)).collect(),
                outcomes: InlineList::default(),
            }),
            None => self.matched(groups, undecided),
        }
    }

    fn matched(
        &self,
        groups: &PolicyGroups,
        mut undecided: impl FnMut(usize, MatchedResource<'s>) -> Result<Option<Vec<u32>>, UnfinishedEvaluation>,
    ) -> Result<CandidatePolicies<'s>, UnfinishedEvaluation> {
        let mut candidates = CandidatePolicies::default();
        for position in self.request.candidates(&groups.index) {
            let Some(group) = groups.groups.get(position as usize) else {
                continue;
            };
            let Some(outcome) = self.request.matches(&group.constraints).transpose() else {
                continue;
            };
            let members = match &outcome {
                Ok(matched) => undecided(position as usize, *matched)?,
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

    /// Matches the request with a policy; an error is one of the policy's configuration.
    pub(crate) fn policy(
        &self,
        origin: Origin,
        core: &PolicyCore,
        candidates: &CandidatePolicies<'s>,
        place: u32,
    ) -> Result<Option<MatchedResource<'s>>, UnmatchedReason> {
        let known = candidates
            .outcomes
            .get(place as usize)
            .filter(|_| self.trace.is_none());
        let matched = match known {
            Some(Ok(matched)) => Ok(Some(*matched)),
            Some(Err(failure)) => Err(failure.clone().into()),
            None => self
                .request
                .matches(&core.constraints)
                .map_err(UnmatchedReason::from),
        };
        let matched = matched.and_then(|matched| {
            let accepted = matched.map(|matched| core.accepts(matched, self.cluster));
            accepted.transpose()
        });
        if self.trace.is_some() {
            let outcome = self.outcome(&matched, &core.constraints);
            self.report_policy(origin, core, outcome);
        }
        matched
    }

    /// The params to evaluate a policy with, one after the other; `None` for a binding that does not match.
    pub(crate) fn binding(
        &self,
        core: &PolicyCore,
        binding: CompiledBinding<'_>,
    ) -> Result<Option<BoundParams<'s>>, UnmatchedReason> {
        let kind = core.param_kind.as_ref();
        let terms = binding.terms;
        let namespace = self.request.target.namespace;
        let bound = self.is_bound(terms, core.bindings.len() > 1);
        let params = bound.and_then(|matches| {
            let params = matches.then(|| terms.params(kind, namespace, self.cluster));
            params.transpose()
        });
        if let Some(trace) = self.trace {
            let outcome = match &terms.resources {
                Some(resources) => self.outcome(&params, resources),
                None => params
                    .as_ref()
                    .map_or_else(UnmatchedReason::outcome, |_| MatchOutcome::Match),
            };
            trace.binding(&binding.name.to_string(), outcome);
        }
        params
    }

    /// Whether the request matches a binding, of which the policy may have several; the error is that of the binding's
    /// configuration.
    pub(crate) fn is_bound(&self, terms: &BindingTerms, of_several: bool) -> Result<bool, UnmatchedReason> {
        let Some(resources) = &terms.resources else {
            return Ok(true);
        };
        let matches = || {
            let matched = self.request.matches(resources);
            matched
                .map(|matched| matched.is_some())
                .map_err(UnmatchedReason::from)
        };
        // The set of constraints holds one reference, and the binding the other.
        if !of_several && Arc::strong_count(resources) <= 2 {
            return matches();
        }
        let mut bound = self.bound.borrow_mut();
        bound
            .entry(Arc::as_ptr(resources))
            .or_insert_with(matches)
            .clone()
    }

    /// Reports a policy and a binding that match once more, before another evaluation of them.
    pub(crate) fn resume(&self, origin: Origin, core: &PolicyCore, binding: CompiledBinding<'_>) {
        if let Some(trace) = self.trace {
            self.report_policy(origin, core, MatchOutcome::Match);
            trace.binding(&binding.name.to_string(), MatchOutcome::Match);
        }
    }

    fn report_policy(&self, origin: Origin, core: &PolicyCore, outcome: MatchOutcome<'_>) {
        let subject = TracedPolicy {
            phase: self.phase,
            origin,
            name: &core.name,
        };
        self.trace.inspect(|trace| trace.policy(subject, outcome));
    }

    fn outcome<'e, T>(
        &self,
        matched: &'e Result<Option<T>, UnmatchedReason>,
        constraints: &MatchResources,
    ) -> MatchOutcome<'e> {
        match matched {
            Ok(Some(_)) => MatchOutcome::Match,
            Ok(None) => {
                let mismatch = self.request.mismatch(constraints);
                mismatch.map_or(MatchOutcome::Match, MatchOutcome::Mismatch)
            }
            Err(unmatched) => unmatched.outcome(),
        }
    }
}
