//! The validating policies of a request, one after the other.

use std::cell::RefCell;

use pratique_core::status::namespace_not_found;
use pratique_core::{AdmissionPhase, DenialCause, UndecidedDecision, UnfinishedEvaluation};
use pratique_match::MatchedResource;
use pratique_types::Status;

use super::policy::{self, PolicyDecision};
use crate::annotations::{CollectedAnnotations, RequestAnnotations};
use crate::binding::{BindingTerms, BoundParams, CompiledBinding};
use crate::denial::PolicyDenial;
use crate::ignored_failures::IgnoredFailures;
use crate::inputs::{ExpressionInputs, NamespaceForm, RequestObjects};
use crate::matcher::{OptionalParam, PolicyMatcher};
use crate::observer::{Conditions, ObservedDecision, PolicyObserver};
use crate::policies::{Policies, RunnablePolicy};
use crate::session::RequestSession;
use crate::unmatched_reason::UnmatchedReason;

/// Evaluates validating policies, and collects what their decisions lead to.
pub(super) struct ValidationRun<'b, 's> {
    pub(super) session: &'b RequestSession<'s>,
    pub(super) matcher: PolicyMatcher<'s>,
    /// Whether an authorization check has no answer yet. The run goes on, so that all checks are requested at once.
    pub(super) pending: bool,
    pub(super) conditions: RefCell<Vec<Conditions<'s>>>,
    pub(super) decisions: Vec<ObservedDecision<'s>>,
    pub(super) ignored: IgnoredFailures,
    /// The first one, which the user gets.
    pub(super) denial: Option<PolicyDenial>,
    pub(super) undecided: Vec<UndecidedDecision>,
    /// Undecided policies that count as failed.
    pub(super) settled: Vec<UndecidedDecision>,
    pub(super) warnings: Vec<String>,
    pub(super) annotations: RequestAnnotations<'s>,
}

/// The decision of a policy with a param, for all bindings with the same one.
struct ParamDecision<'s> {
    param: OptionalParam<'s>,
    decision: PolicyDecision<'s>,
}

impl<'s> ParamDecision<'s> {
    fn is_with(&self, param: OptionalParam<'s>) -> bool {
        match (self.param, param) {
            (None, None) => true,
            (Some(decided), Some(param)) => std::ptr::eq(decided, param),
            _ => false,
        }
    }
}

/// Why a run ends before the last policy.
pub(super) enum ValidatingEnd {
    Unfinished(UnfinishedEvaluation),
    /// An error of the server, not of a policy.
    Status(Box<Status>),
}

impl<'b, 's> ValidationRun<'b, 's> {
    // Inlined, as it is large to move.
    #[inline]
    pub(super) fn new(session: &'b RequestSession<'s>) -> Self {
        ValidationRun {
            matcher: PolicyMatcher::new(AdmissionPhase::Validating, session),
            session,
            pending: false,
            conditions: RefCell::default(),
            decisions: Vec::new(),
            ignored: IgnoredFailures::default(),
            denial: None,
            undecided: Vec::new(),
            settled: Vec::new(),
            warnings: Vec::new(),
            annotations: RequestAnnotations::new(session.context.release),
        }
    }

    /// Whether an authorization check has no answer yet.
    pub(super) fn is_pending(&self) -> bool {
        self.pending
    }

    /// Reports the decisions.
    pub(super) fn report(&self, observer: &mut dyn PolicyObserver) {
        for conditions in self.conditions.borrow().iter() {
            observer.conditions(conditions);
        }
        for decision in &self.decisions {
            observer.decided(decision);
        }
        self.ignored.report(observer);
        for undecided in self.settled.iter().chain(&self.undecided) {
            observer.undecided(undecided);
        }
    }

    /// Publishes the failures of all policies; gives the status of the first denial.
    pub(super) fn finish(&mut self) -> Option<(Box<Status>, DenialCause)> {
        self.annotations.publish_failures();
        let denial = self.denial.take()?;
        Some((
            Box::new(denial.status(&self.matcher.request.target)),
            denial.cause,
        ))
    }
}

impl<'s> ValidationRun<'_, 's> {
    /// Evaluates the policies of a set that match the request.
    pub(super) fn run(&mut self, policies: &'s Policies) -> Result<(), ValidatingEnd> {
        let cores = policies.set.policies.iter().map(|policy| &policy.core);
        let undecided = |group, matched| self.evaluate_batch(policies, group, matched);
        let candidates = self
            .matcher
            .candidates(policies.set.origin, &policies.set.groups, cores, undecided);
        let candidates = candidates.map_err(ValidatingEnd::Unfinished)?;
        for (position, place) in &candidates.policies {
            if let Some(policy) = policies.set.policies.get(*position as usize) {
                let matched = self
                    .matcher
                    .policy(policies.set.origin, &policy.core, &candidates, *place);
                self.evaluate_policy(policy, matched)?;
            }
        }
        Ok(())
    }

    /// Evaluates a group as a batch. Gives the policies that are to be evaluated one by one; `None` for all.
    fn evaluate_batch(
        &self,
        policies: &'s Policies,
        group: usize,
        matched: MatchedResource<'s>,
    ) -> Result<Option<Vec<u32>>, UnfinishedEvaluation> {
        match policies.set.batches.get(group) {
            // The first policy reports a namespace that does not exist.
            Some(batch) if self.session.find_namespace().is_ok() => {
                let is_bound = |terms: &BindingTerms| self.matcher.is_bound(terms, true);
                let undecided = batch.undecided(&policies.set.policies, self.session, matched, is_bound)?;
                self.count_batch(
                    policies,
                    batch.decided_conditions(&policies.set.policies, &undecided),
                );
                Ok(Some(undecided))
            }
            _ => Ok(None),
        }
    }

    /// Counts the match conditions of policies that the batch decided on: none of them failed.
    fn count_batch(&self, policies: &'s Policies, positions: impl Iterator<Item = u32>) {
        for position in positions {
            let Some(policy) = policies.set.policies.get(position as usize) else {
                continue;
            };
            let bindings = &policy.core.bindings;
            let of_several = bindings.len() > 1;
            let is_bound = |binding: &CompiledBinding<'s>| {
                matches!(self.matcher.is_bound(binding.terms, of_several), Ok(true))
            };
            for _ in bindings.iter().filter(is_bound) {
                self.count_conditions(policy, 0);
            }
        }
    }

    pub(super) fn count_conditions(&self, policy: &'s RunnablePolicy, errors: usize) {
        self.conditions.borrow_mut().push(Conditions {
            policy: &policy.core.name,
            operation: self.session.request.operation,
            errors,
        });
    }

    fn evaluate_policy(
        &mut self,
        policy: &'s RunnablePolicy,
        matched: Result<Option<MatchedResource<'s>>, UnmatchedReason>,
    ) -> Result<(), ValidatingEnd> {
        let matched = match matched {
            Ok(Some(matched)) => matched,
            Ok(None) => return Ok(()),
            Err(unmatched) => {
                self.unmatched(policy, None, unmatched);
                return Ok(());
            }
        };
        let mut collected = CollectedAnnotations::default();
        let mut last = None;
        for binding in policy.core.bindings.iter() {
            self.session.proceed().map_err(ValidatingEnd::Unfinished)?;
            match self.matcher.binding(&policy.core, binding) {
                Ok(None) => {}
                Ok(Some(params)) => {
                    let params = (&params, &mut last);
                    self.evaluate_binding(policy, binding, matched, params, &mut collected)?;
                }
                Err(unmatched) => self.unmatched(policy, Some(binding), unmatched),
            }
        }
        self.annotations.publish(&policy.core.name, &collected);
        Ok(())
    }

    /// Evaluates a policy with each param of a binding, unless the binding before it had the same.
    fn evaluate_binding(
        &mut self,
        policy: &'s RunnablePolicy,
        binding: CompiledBinding<'s>,
        matched: MatchedResource<'s>,
        (params, last): (&BoundParams<'s>, &mut Option<ParamDecision<'s>>),
        collected: &mut CollectedAnnotations<'s>,
    ) -> Result<(), ValidatingEnd> {
        let objects = match self.session.objects(matched.kind) {
            // Upstream: plugin/policy/validating/dispatcher.go, Dispatch
            Err(error) if params.rounds().next().is_some() => {
                let error = format!("failed to convert object version: {error}");
                self.fail(policy, Some(binding), &error, DenialCause::Failure);
                return Ok(());
            }
            objects => objects,
        };
        self.session.find_namespace().map_err(|_| {
            let status = namespace_not_found(self.matcher.request.target.namespace);
            ValidatingEnd::Status(Box::new(status))
        })?;
        // Without a param nothing is evaluated.
        let Ok(objects) = objects else {
            return Ok(());
        };
        for param in params.rounds() {
            self.session.proceed().map_err(ValidatingEnd::Unfinished)?;
            let reused = last.take().filter(|decided| decided.is_with(param));
            let decided = match reused {
                Some(decided) => Ok(decided),
                None => self.evaluate_with(policy, (matched, objects), param),
            };
            match decided {
                Ok(decided) => {
                    self.act_on(policy, binding, &decided.decision, collected);
                    *last = self.is_reusable(policy).then_some(decided);
                }
                Err(UnfinishedEvaluation::Pending) => self.pending = true,
                Err(unfinished) => return Err(ValidatingEnd::Unfinished(unfinished)),
            }
        }
        Ok(())
    }

    fn evaluate_with(
        &self,
        policy: &'s RunnablePolicy,
        (matched, objects): (MatchedResource<'s>, RequestObjects<'s>),
        param: OptionalParam<'s>,
    ) -> Result<ParamDecision<'s>, UnfinishedEvaluation> {
        let session = self.session;
        let inputs = ExpressionInputs {
            matched,
            objects,
            params: session.param(policy.core.param_kind.as_ref(), param),
            namespace: NamespaceForm::Reduced,
            authorizer: true,
            key: session.input_key(&matched, NamespaceForm::Reduced),
            repeats: policy.core.bindings.len() > 1,
        };
        let audited = || ExpressionInputs {
            namespace: NamespaceForm::Full,
            key: session.input_key(&matched, NamespaceForm::Full),
            authorizer: false,
            ..inputs
        };
        session.trace().inspect(|trace| trace.round(&inputs.params));
        let decision = policy::evaluate(policy, session, &inputs, audited)?;
        Ok(ParamDecision { param, decision })
    }

    /// Whether the decision with a param holds for another binding as well: a trace gets every evaluation, and the
    /// authorizer is called for each binding.
    fn is_reusable(&self, policy: &RunnablePolicy) -> bool {
        self.session.trace().is_none() && !policy.asks_authorizer
    }
}
