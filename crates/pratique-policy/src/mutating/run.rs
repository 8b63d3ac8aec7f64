//! The mutating policies of a request, one after the other.

use pratique_core::status::namespace_not_found;
use pratique_core::{Attributes, Phase};
use pratique_exclusion::Origin;
use pratique_expression::{Missing, OnUndecided, Undecided};
use pratique_json as json;
use pratique_match::Matched;
use pratique_types::Status;

use super::denial::Failures;
use super::outcome::Step;
use super::reinvocation::{Invocation, Reinvocation};
use super::version::Version;
use super::{MutatingPolicies, MutatingPolicy};
use crate::binding::Binding;
use crate::cause::DenialCause;
use crate::hook::Hook;
use crate::matcher::PolicyMatcher;
use crate::observer::{Conditions, Mutating};
use crate::outcome::Unfinished;
use crate::session::Session;
use crate::unmatched::Unmatched;

/// Runs mutating policies on a request.
pub(super) struct MutationRun<'b, 's> {
    pub(super) session: &'b Session<'s>,
    pub(super) matcher: PolicyMatcher<'s>,
    pub(super) object: &'s json::Value<'s>,
    /// One for each kind that policies matched; the one that was last at work is what goes on.
    pub(super) versions: Vec<Version<'s>>,
    pub(super) failures: Failures,
    pub(super) turns: pratique_core::Reinvocation<Invocation>,
    /// Where the objects are that were last at work.
    pub(super) last: Option<usize>,
    pub(super) steps: Vec<Step>,
    pub(super) conditions: Vec<Conditions<'s>>,
    pub(super) decisions: Vec<Mutating<'s>>,
    /// What was undecided, and counted as an error of its policy.
    pub(super) settled: Vec<Undecided>,
}

/// A policy to invoke with a binding and a param.
pub(super) struct Call<'s> {
    pub(super) origin: Origin,
    pub(super) policy: &'s MutatingPolicy,
    pub(super) binding: Binding<'s>,
    pub(super) matched: Matched<'s>,
    /// Where the objects are in the kind that was matched.
    version: usize,
    pub(super) param: Option<&'s json::Value<'s>>,
}

/// Why mutating ends before the last policy.
pub(super) enum End {
    Unfinished(Unfinished),
    /// An error of the server, not of a policy.
    Status(Box<Status>),
    /// What a policy depends on was not given: those after it depend on what it would have done.
    Undecided(Box<Undecided>),
}

impl From<Unfinished> for End {
    fn from(unfinished: Unfinished) -> Self {
        End::Unfinished(unfinished)
    }
}

impl From<Status> for End {
    fn from(status: Status) -> Self {
        End::Status(Box::new(status))
    }
}

impl<'b, 's> MutationRun<'b, 's> {
    pub(super) fn new(attributes: Attributes<'s>, session: &'b Session<'s>, turns: &Reinvocation) -> Self {
        MutationRun {
            matcher: PolicyMatcher::new(Phase::Mutating, session),
            session,
            object: attributes.object,
            versions: Vec::new(),
            failures: Failures::default(),
            // An unfinished round leaves no trace.
            turns: turns.0.clone(),
            last: None,
            steps: Vec::new(),
            conditions: Vec::new(),
            decisions: Vec::new(),
            settled: Vec::new(),
        }
    }
}

impl<'s> MutationRun<'_, 's> {
    /// Rules and selectors are asked about all policies before the first one changes anything.
    pub(super) fn run(&mut self, sets: &[&'s MutatingPolicies]) -> Result<(), End> {
        let mut calls = Vec::new();
        for set in sets {
            self.gather(set, &mut calls)?;
        }
        if calls.is_empty() {
            return Ok(());
        }
        let namespace = self.session.find_namespace();
        namespace.map_err(|_| namespace_not_found(self.matcher.request.target.namespace))?;
        for call in &calls {
            // A call copies and compares the object, which expressions do not account for.
            self.session.check()?;
            self.invoke(call, call.version)?;
        }
        if let Some(changed) = self.changed() {
            self.returns(changed)?;
            self.turns.changed();
        }
        Ok(())
    }

    fn gather(&mut self, set: &'s MutatingPolicies, calls: &mut Vec<Call<'s>>) -> Result<(), End> {
        let hooks = set.policies.iter().map(|policy| &policy.hook);
        let all = |_, _| Ok(None);
        let candidates = self.matcher.candidates(set.origin, &set.groups, hooks, all)?;
        for (position, place) in &candidates.policies {
            let Some(policy) = set.policies.get(*position as usize) else {
                continue;
            };
            let matched = self.matcher.policy(set.origin, &policy.hook, &candidates, *place);
            match matched {
                Ok(None) => {}
                Ok(Some(matched)) => self.gather_bindings((set.origin, policy), matched, calls)?,
                Err(why) => self.unmatched(&policy.hook, None, why)?,
            }
        }
        Ok(())
    }

    /// A policy or a binding of which it cannot be told whether the request matches it.
    fn unmatched(&mut self, hook: &Hook, binding: Option<Binding<'_>>, why: Unmatched) -> Result<(), End> {
        let (error, cause) = match why {
            Unmatched::Error { message, cause } => (message, cause),
            Unmatched::Undecided(missing) => {
                let error = missing.to_string();
                self.undecided(hook, binding, *missing)?;
                (error, DenialCause::Failure)
            }
            Unmatched::Pending => return Err(End::Unfinished(Unfinished::Pending)),
        };
        self.failures.of_configuration(hook, binding, (&error, cause));
        Ok(())
    }

    /// A policy depends on what was not given, which ends everything, or is to count as its error.
    pub(super) fn undecided(
        &mut self,
        hook: &Hook,
        binding: Option<Binding<'_>>,
        missing: Missing,
    ) -> Result<(), End> {
        let undecided = Undecided {
            plugin: Phase::Mutating.policy_plugin(),
            name: hook.name.clone(),
            binding: binding.map(|binding| binding.name.to_string()),
            missing,
        };
        match self.session.surroundings.on_undecided {
            OnUndecided::Report => Err(End::Undecided(Box::new(undecided))),
            OnUndecided::FailurePolicy => {
                self.settled.push(undecided);
                Ok(())
            }
        }
    }

    fn gather_bindings(
        &mut self,
        (origin, policy): (Origin, &'s MutatingPolicy),
        matched: Matched<'s>,
        calls: &mut Vec<Call<'s>>,
    ) -> Result<(), End> {
        for binding in policy.hook.bindings.iter() {
            self.session.proceed()?;
            match self.matcher.binding(&policy.hook, binding) {
                Ok(None) => {}
                Ok(Some(params)) => match self.version(matched.kind) {
                    Ok(version) => calls.extend(params.rounds().map(|param| Call {
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
                        self.failures.of_configuration(&policy.hook, None, failure);
                    }
                },
                Err(why) => self.unmatched(&policy.hook, Some(binding), why)?,
            }
        }
        Ok(())
    }
}
