//! A request before validating policies.

use std::borrow::Cow;
use std::cell::RefCell;

use pratique_core::{Attributes, EvalContext, Phase};
use pratique_expression::{Missing, OnUndecided, Undecided};
use pratique_match::Matched;
use pratique_types::Status;

use crate::annotations::{Annotations, Collected, Failure};
use crate::arena::RequestArena;
use crate::binding::{Action, Binding, Params, Terms};
use crate::cause::DenialCause;
use crate::denial::Denial;
use crate::hook::FailurePolicy;
use crate::inputs::{Inputs, NamespaceForm, Objects};
use crate::matcher::{Param, PolicyMatcher};
use crate::observer::{Conditions, Decision, Effect, ErrorType, Observer};
use crate::outcome::{Unfinished, Verdict};
use crate::policies::{Policies, Policy};
use crate::session::Session;
use crate::unmatched::Unmatched;
use crate::validator::{Annotated, Decided, Judgement, Open, judge};
use pratique_core::status::namespace_not_found;

/// Judges a request by sets of policies, in their order: static ones first.
///
/// All policies judge, whatever the others say; the first denial is the one that the user is told.
pub fn validate<'s>(
    sets: &[&Policies],
    attributes: impl Into<Attributes<'s>>,
    surroundings: EvalContext<'s>,
    observer: &mut dyn Observer,
) -> Result<Verdict, Unfinished> {
    judge_all(sets, attributes.into(), surroundings, observer)
}

fn judge_all(
    sets: &[&Policies],
    attributes: Attributes<'_>,
    surroundings: EvalContext<'_>,
    observer: &mut dyn Observer,
) -> Result<Verdict, Unfinished> {
    let arena = RequestArena::with_limit(surroundings.memory);
    let session = Session::new(attributes, surroundings, &arena).named_by_object();
    let mut bench = Bench {
        matcher: PolicyMatcher::new(Phase::Validating, &session),
        session: &session,
        pending: false,
        conditions: RefCell::default(),
        decisions: Vec::new(),
        denial: None,
        undecided: Vec::new(),
        settled: Vec::new(),
        warnings: Vec::new(),
        annotations: Annotations::default(),
    };
    let ended = sets.iter().try_for_each(|set| bench.judge_set(set));
    match ended {
        Err(End::Unfinished(unfinished)) => return Err(unfinished),
        _ if bench.pending => return Err(Unfinished::Pending),
        _ => session.finished()?,
    }
    bench
        .conditions
        .borrow()
        .iter()
        .for_each(|own| observer.conditions(own));
    bench.decisions.iter().for_each(|own| observer.decided(own));
    let undecided = bench.settled.iter().chain(&bench.undecided);
    undecided.for_each(|own| observer.undecided(own));
    match ended {
        Err(End::Unfinished(unfinished)) => Err(unfinished),
        Err(End::Status(status)) => Ok(bench.verdict(Some((status, DenialCause::Failure)))),
        Ok(()) => {
            bench.annotations.publish_failures();
            let denial = bench.denial.take();
            let denial = denial.map(|denial| {
                (
                    Box::new(denial.status(&bench.matcher.request.target)),
                    denial.cause,
                )
            });
            Ok(bench.verdict(denial))
        }
    }
}

/// Where a request is judged.
struct Bench<'b, 's> {
    session: &'b Session<'s>,
    matcher: PolicyMatcher<'s>,
    /// Whether an authorization check has no answer yet. Judging goes on, so that all checks are asked before they
    /// are answered.
    pending: bool,
    conditions: RefCell<Vec<Conditions<'s>>>,
    decisions: Vec<Decision<'s>>,
    /// The first one, which the user is told.
    denial: Option<Denial>,
    undecided: Vec<Undecided>,
    /// What was undecided, and counted as an error of its policy.
    settled: Vec<Undecided>,
    warnings: Vec<String>,
    annotations: Annotations<'s>,
}

/// What a policy decided, for bindings that have the same param.
struct Judged<'s> {
    param: Param<'s>,
    judgement: Judgement<'s>,
}

impl<'s> Judged<'s> {
    fn serves(&self, param: Param<'s>) -> bool {
        match (self.param, param) {
            (None, None) => true,
            (Some(own), Some(param)) => std::ptr::eq(own, param),
            _ => false,
        }
    }
}

/// Why judging ends before the last policy.
enum End {
    Unfinished(Unfinished),
    /// An error of the server, not of a policy.
    Status(Box<Status>),
}

impl<'s> Bench<'_, 's> {
    fn judge_set(&mut self, set: &'s Policies) -> Result<(), End> {
        let hooks = set.policies.iter().map(|policy| &policy.hook);
        let left = |group, matched| self.left(set, group, matched);
        let candidates = self.matcher.candidates(set.origin, &set.groups, hooks, left);
        let candidates = candidates.map_err(End::Unfinished)?;
        for (position, place) in &candidates.policies {
            if let Some(policy) = set.policies.get(*position as usize) {
                let matched = self.matcher.policy(set.origin, &policy.hook, &candidates, *place);
                self.judge_policy(policy, matched)?;
            }
        }
        Ok(())
    }

    /// Which policies of a group have to be asked one by one; `None` where all have.
    fn left(
        &self,
        set: &'s Policies,
        group: usize,
        matched: Matched<'s>,
    ) -> Result<Option<Vec<u32>>, Unfinished> {
        match set.batches.get(group) {
            // A namespace that is not there is the first policy's business.
            Some(batch) if self.session.find_namespace().is_ok() => {
                let is_bound = |terms: &Terms| self.matcher.is_bound(terms, true);
                let left = batch.undecided(&set.policies, self.session, matched, is_bound)?;
                self.count_swept(set, batch.decided_conditions(&set.policies, &left));
                Ok(Some(left))
            }
            _ => Ok(None),
        }
    }

    /// Counts the match conditions of policies that need not be asked one by one: none of them failed.
    fn count_swept(&self, set: &'s Policies, positions: impl Iterator<Item = u32>) {
        for position in positions {
            let Some(policy) = set.policies.get(position as usize) else {
                continue;
            };
            let bindings = &policy.hook.bindings;
            let of_several = bindings.len() > 1;
            let is_bound =
                |binding: &Binding<'s>| matches!(self.matcher.is_bound(binding.terms, of_several), Ok(true));
            for _ in bindings.iter().filter(is_bound) {
                self.count_conditions(policy, 0);
            }
        }
    }

    fn count_conditions(&self, policy: &'s Policy, errors: usize) {
        self.conditions.borrow_mut().push(Conditions {
            policy: &policy.hook.name,
            operation: self.session.request.operation,
            errors,
        });
    }

    fn judge_policy(
        &mut self,
        policy: &'s Policy,
        matched: Result<Option<Matched<'s>>, Unmatched>,
    ) -> Result<(), End> {
        let matched = match matched {
            Ok(Some(matched)) => matched,
            Ok(None) => return Ok(()),
            Err(why) => {
                self.unmatched(policy, None, why);
                return Ok(());
            }
        };
        let mut collected = Collected::default();
        let mut last = None;
        for binding in policy.hook.bindings.iter() {
            self.session.proceed().map_err(End::Unfinished)?;
            match self.matcher.binding(&policy.hook, binding) {
                Ok(None) => {}
                Ok(Some(params)) => {
                    let rounds = (&params, &mut last);
                    self.judge_binding(policy, binding, matched, rounds, &mut collected)?;
                }
                Err(why) => self.unmatched(policy, Some(binding), why),
            }
        }
        self.annotations.publish(&policy.hook.name, &collected);
        Ok(())
    }

    /// Judges with each param, unless the binding before this one had the same.
    fn judge_binding(
        &mut self,
        policy: &'s Policy,
        binding: Binding<'s>,
        matched: Matched<'s>,
        (params, last): (&Params<'s>, &mut Option<Judged<'s>>),
        collected: &mut Collected<'s>,
    ) -> Result<(), End> {
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
            End::Status(Box::new(status))
        })?;
        // Without a param there is nothing to judge.
        let Ok(objects) = objects else {
            return Ok(());
        };
        for param in params.rounds() {
            self.session.proceed().map_err(End::Unfinished)?;
            let known = last.take().filter(|judged| judged.serves(param));
            let judged = match known {
                Some(judged) => Ok(judged),
                None => self.judge_with(policy, (matched, objects), param),
            };
            match judged {
                Ok(judged) => {
                    self.take(policy, binding, &judged.judgement, collected);
                    *last = self.may_serve_again(policy).then_some(judged);
                }
                Err(Unfinished::Pending) => self.pending = true,
                Err(unfinished) => return Err(End::Unfinished(unfinished)),
            }
        }
        Ok(())
    }

    fn judge_with(
        &self,
        policy: &'s Policy,
        (matched, objects): (Matched<'s>, Objects<'s>),
        param: Param<'s>,
    ) -> Result<Judged<'s>, Unfinished> {
        let session = self.session;
        let inputs = Inputs {
            matched,
            objects,
            params: session.param(policy.hook.param_kind.as_ref(), param),
            namespace: NamespaceForm::Reduced,
            authorizer: true,
            key: session.input_key(&matched, NamespaceForm::Reduced),
            repeats: policy.hook.bindings.len() > 1,
        };
        let audited = Inputs {
            namespace: NamespaceForm::Full,
            key: session.input_key(&matched, NamespaceForm::Full),
            ..inputs
        };
        session.trace().inspect(|trace| trace.round(&inputs.params));
        let judgement = judge(policy, session, &inputs, &audited)?;
        Ok(Judged { param, judgement })
    }

    /// Whether what a policy decided with a param holds for another binding as well: those who look on want to see how
    /// it came about each time, and each binding asks the authorizer by itself.
    fn may_serve_again(&self, policy: &Policy) -> bool {
        self.session.trace().is_none() && !policy.asks_authorizer
    }

    /// Takes what a policy decided, and does what the binding says.
    fn take(
        &mut self,
        policy: &'s Policy,
        binding: Binding<'s>,
        judgement: &Judgement<'s>,
        collected: &mut Collected<'s>,
    ) {
        if let Some(errors) = judgement.condition_errors {
            self.count_conditions(policy, errors);
        }
        for (index, decided) in &judgement.decisions {
            self.decide(policy, binding, *index, decided);
        }
        for annotated in &judgement.annotations {
            match annotated {
                Annotated::Publish { key, value } => collected.add(key, value),
                Annotated::Error(message) => self.deny_unannotated(policy, binding, message),
            }
        }
        for Open { validation, missing } in &judgement.undecided {
            if !self.undecided(policy, Some(binding), missing.clone()) {
                continue;
            }
            let error = format!("undecided: {missing}");
            match validation {
                Some(index) => self.decide(policy, binding, *index, &Decided::failed(policy, error)),
                None if policy.hook.failure_policy.ignores() => {}
                None => self.deny_unannotated(policy, binding, &error),
            }
        }
    }

    /// An audit annotation failed, which denies whatever the binding's actions are.
    fn deny_unannotated(&mut self, policy: &'s Policy, binding: Binding<'s>, error: &str) {
        self.observe(policy, binding, Effect::Deny, ErrorType::of_message(error));
        self.deny(policy, Some(binding), (error, None), DenialCause::Failure);
    }

    /// Does what the binding says of a validation that is not true.
    fn decide(&mut self, policy: &'s Policy, binding: Binding<'s>, index: usize, decided: &Decided<'s>) {
        match decided {
            Decided::Ignored(error) => self.observe(policy, binding, Effect::Allow, *error),
            Decided::Deny {
                message,
                reason,
                error,
            } => {
                for action in &binding.terms.actions {
                    self.act(*action, policy, binding, index, (message, *reason, *error));
                }
            }
        }
    }

    /// Notes that a policy depends on what was not given; gives whether that is to count as its error.
    fn undecided(&mut self, policy: &Policy, binding: Option<Binding<'_>>, missing: Missing) -> bool {
        let undecided = Undecided {
            plugin: Phase::Validating.policy_plugin(),
            name: policy.hook.name.clone(),
            binding: binding.map(|binding| binding.name.to_string()),
            missing,
        };
        let settles = self.session.surroundings.on_undecided == OnUndecided::FailurePolicy;
        let list = match settles {
            true => &mut self.settled,
            false => &mut self.undecided,
        };
        // Validations and params of a policy may all need the same.
        if !list.contains(&undecided) {
            list.push(undecided);
        }
        settles
    }

    /// A policy or a binding of which it cannot be told whether the request matches it.
    fn unmatched(&mut self, policy: &Policy, binding: Option<Binding<'_>>, why: Unmatched) {
        match why {
            Unmatched::Error { message, cause } => self.fail(policy, binding, &message, cause),
            Unmatched::Undecided(missing) => {
                let error = missing.to_string();
                if self.undecided(policy, binding, *missing) {
                    self.fail(policy, binding, &error, DenialCause::Failure);
                }
            }
            Unmatched::Pending => self.pending = true,
        }
    }

    fn act(
        &mut self,
        action: Action,
        policy: &'s Policy,
        binding: Binding<'s>,
        index: usize,
        (message, reason, error): (&Cow<'s, str>, Option<&str>, ErrorType),
    ) {
        match action {
            Action::Deny => {
                self.observe(policy, binding, Effect::Deny, error);
                self.deny(policy, Some(binding), (message, reason), error.into());
            }
            Action::Audit => {
                self.observe(policy, binding, Effect::Audit, error);
                self.annotations.add_failure(|| Failure {
                    message: message.clone(),
                    policy: &policy.hook.name,
                    binding: binding.name.text(self.session.arena()),
                    expression_index: index,
                    validation_actions: &binding.terms.action_names,
                });
            }
            Action::Warn => {
                self.observe(policy, binding, Effect::Warn, error);
                self.warnings.push(format!(
                    "Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {message}",
                    policy.hook.name, binding.name
                ));
            }
        }
    }

    /// An error of configuration, which denies whatever the binding's actions are.
    fn fail(&mut self, policy: &Policy, binding: Option<Binding<'_>>, error: &str, cause: DenialCause) {
        let message = match (&policy.hook.failure_policy, binding) {
            (FailurePolicy::Ignore, _) => return,
            (FailurePolicy::Unknown(name), _) => format!("unrecognized failure policy: '{name}'"),
            (FailurePolicy::Fail, None) => format!("failed to configure policy: {error}"),
            (FailurePolicy::Fail, Some(_)) => format!("failed to configure binding: {error}"),
        };
        self.deny(policy, binding, (&message, None), cause);
    }

    fn deny(
        &mut self,
        policy: &Policy,
        binding: Option<Binding<'_>>,
        (message, reason): (&str, Option<&str>),
        cause: DenialCause,
    ) {
        self.denial.get_or_insert_with(|| Denial {
            policy: policy.hook.name.clone(),
            binding: binding.map(|binding| binding.name.to_string()),
            message: message.to_owned(),
            reason: reason.map(str::to_owned),
            cause,
        });
    }

    fn observe(&mut self, policy: &'s Policy, binding: Binding<'s>, effect: Effect, error: ErrorType) {
        self.decisions.push(Decision {
            policy: &policy.hook.name,
            binding: binding.name.text(self.session.arena()),
            effect,
            error,
        });
    }

    fn verdict(self, denial: Option<(Box<Status>, DenialCause)>) -> Verdict {
        let (status, cause) = denial.unzip();
        Verdict {
            status,
            undecided: self.undecided,
            cause,
            warnings: self.warnings,
            audit_annotations: self.annotations.into_map(),
        }
    }
}
