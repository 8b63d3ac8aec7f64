//! The mutating policies of a request, one after the other.

use pratique_core::status::namespace_not_found;
use pratique_core::{AdmissionPhase, Attributes};
use pratique_exclusion::Origin;
use pratique_expression::{MissingDependency, OnUndecided, UndecidedDecision};
use pratique_json as json;
use pratique_match::MatchedResource;
use pratique_types::Status;

use super::failures::MutationFailures;
use super::outcome::MutationStep;
use super::reinvocation::{InvocationKey, Reinvocation};
use super::version::VersionedObjects;
use super::{MutatingPolicies, MutatingPolicy};
use crate::binding::CompiledBinding;
use crate::cause::DenialCause;
use crate::matcher::PolicyMatcher;
use crate::observer::{Conditions, MutationAttempt};
use crate::policy_core::PolicyCore;
use crate::session::RequestSession;
use crate::unmatched_reason::UnmatchedReason;
use pratique_core::UnfinishedEvaluation;

/// Runs mutating policies on a request.
pub(super) struct MutationRun<'b, 's> {
    pub(super) session: &'b RequestSession<'s>,
    pub(super) matcher: PolicyMatcher<'s>,
    pub(super) object: &'s json::Value<'s>,
    /// The objects in each kind that policies matched.
    pub(super) versions: Vec<VersionedObjects<'s>>,
    pub(super) failures: MutationFailures,
    pub(super) reinvocation: pratique_core::Reinvocation<InvocationKey>,
    /// The index of the version that was mutated last.
    pub(super) last: Option<usize>,
    pub(super) steps: Vec<MutationStep>,
    pub(super) conditions: Vec<Conditions<'s>>,
    pub(super) decisions: Vec<MutationAttempt<'s>>,
    /// Undecided policies that count as failed.
    pub(super) settled: Vec<UndecidedDecision>,
}

/// A policy to invoke with a binding and a param.
pub(super) struct PolicyInvocation<'s> {
    pub(super) origin: Origin,
    pub(super) policy: &'s MutatingPolicy,
    pub(super) binding: CompiledBinding<'s>,
    pub(super) matched: MatchedResource<'s>,
    /// The index of the objects in the kind that was matched.
    version: usize,
    pub(super) param: Option<&'s json::Value<'s>>,
}

/// Why a run ends before the last policy.
pub(super) enum MutatingEnd {
    Unfinished(UnfinishedEvaluation),
    /// An error of the server, not of a policy.
    Status(Box<Status>),
    /// A policy depends on missing input, and the policies after it on its result.
    Undecided(Box<UndecidedDecision>),
}

impl From<UnfinishedEvaluation> for MutatingEnd {
    fn from(unfinished: UnfinishedEvaluation) -> Self {
        MutatingEnd::Unfinished(unfinished)
    }
}

impl From<Status> for MutatingEnd {
    fn from(status: Status) -> Self {
        MutatingEnd::Status(Box::new(status))
    }
}

impl<'b, 's> MutationRun<'b, 's> {
    pub(super) fn new(
        attributes: Attributes<'s>,
        session: &'b RequestSession<'s>,
        reinvocation: &Reinvocation,
    ) -> Self {
        MutationRun {
            matcher: PolicyMatcher::new(AdmissionPhase::Mutating, session),
            session,
            object: attributes.object,
            versions: Vec::new(),
            failures: MutationFailures::default(),
            // An unfinished round leaves no trace.
            reinvocation: reinvocation.0.clone(),
            last: None,
            steps: Vec::new(),
            conditions: Vec::new(),
            decisions: Vec::new(),
            settled: Vec::new(),
        }
    }
}

impl<'s> MutationRun<'_, 's> {
    /// Runs the policies of all sets. Rules and selectors are matched before the first policy changes the object.
    pub(super) fn run(&mut self, sets: &[&'s MutatingPolicies]) -> Result<(), MutatingEnd> {
        let mut invocations = Vec::new();
        for set in sets {
            self.collect(set, &mut invocations)?;
        }
        if invocations.is_empty() {
            return Ok(());
        }
        let namespace = self.session.find_namespace();
        namespace.map_err(|_| namespace_not_found(self.matcher.request.target.namespace))?;
        for invocation in &invocations {
            // An invocation copies and compares the object, which is not part of an expression's cost.
            self.session.check_interruption()?;
            self.invoke(invocation, invocation.version)?;
        }
        if let Some(changed) = self.changed() {
            self.check_convertible(changed)?;
            self.reinvocation.changed();
        }
        Ok(())
    }

    fn collect(
        &mut self,
        policies: &'s MutatingPolicies,
        invocations: &mut Vec<PolicyInvocation<'s>>,
    ) -> Result<(), MutatingEnd> {
        let cores = policies.set.policies.iter().map(|policy| &policy.core);
        let all = |_, _| Ok(None);
        let candidates = self
            .matcher
            .candidates(policies.set.origin, &policies.set.groups, cores, all)?;
        for (position, place) in &candidates.policies {
            let Some(policy) = policies.set.policies.get(*position as usize) else {
                continue;
            };
            let matched = self
                .matcher
                .policy(policies.set.origin, &policy.core, &candidates, *place);
            match matched {
                Ok(None) => {}
                Ok(Some(matched)) => {
                    self.collect_bindings((policies.set.origin, policy), matched, invocations)?
                }
                Err(unmatched) => self.unmatched(&policy.core, None, unmatched)?,
            }
        }
        Ok(())
    }

    /// Handles a policy or a binding that may match, but is not evaluated.
    fn unmatched(
        &mut self,
        core: &PolicyCore,
        binding: Option<CompiledBinding<'_>>,
        unmatched: UnmatchedReason,
    ) -> Result<(), MutatingEnd> {
        let (error, cause) = match unmatched {
            UnmatchedReason::Error { message, cause } => (message, cause),
            UnmatchedReason::Undecided(missing) => {
                let error = missing.to_string();
                self.undecided(core, binding, *missing)?;
                (error, DenialCause::Failure)
            }
            UnmatchedReason::Pending => return Err(MutatingEnd::Unfinished(UnfinishedEvaluation::Pending)),
        };
        self.failures.of_configuration(core, binding, (&error, cause));
        Ok(())
    }

    /// Handles a policy that depends on missing input: it ends the run, or counts as an error of the policy.
    pub(super) fn undecided(
        &mut self,
        core: &PolicyCore,
        binding: Option<CompiledBinding<'_>>,
        missing: MissingDependency,
    ) -> Result<(), MutatingEnd> {
        let undecided = UndecidedDecision {
            plugin: AdmissionPhase::Mutating.policy_plugin().into(),
            name: core.name.clone(),
            binding: binding.map(|binding| binding.name.to_string()),
            missing,
        };
        match self.session.context.on_undecided {
            OnUndecided::Report => Err(MutatingEnd::Undecided(Box::new(undecided))),
            OnUndecided::FailurePolicy => {
                self.settled.push(undecided);
                Ok(())
            }
        }
    }

    fn collect_bindings(
        &mut self,
        (origin, policy): (Origin, &'s MutatingPolicy),
        matched: MatchedResource<'s>,
        invocations: &mut Vec<PolicyInvocation<'s>>,
    ) -> Result<(), MutatingEnd> {
        for binding in policy.core.bindings.iter() {
            self.session.proceed()?;
            match self.matcher.binding(&policy.core, binding) {
                Ok(None) => {}
                Ok(Some(params)) => match self.version(matched.kind) {
                    Ok(version) => invocations.extend(params.rounds().map(|param| PolicyInvocation {
                        origin,
                        policy,
                        binding,
                        matched,
                        version,
                        param,
                    })),
                    // Upstream: plugin/policy/generic/policy_dispatcher.go, Dispatch
                    Err(error) => {
                        let failure = (&*error.to_string(), DenialCause::Failure);
                        self.failures.of_configuration(&policy.core, None, failure);
                    }
                },
                Err(unmatched) => self.unmatched(&policy.core, Some(binding), unmatched)?,
            }
        }
        Ok(())
    }
}
