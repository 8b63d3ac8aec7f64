//! A request before mutating policies.

use pratique_exclusion::Origin;
use pratique_json as json;
use pratique_match::Matched;
use pratique_types::{Operation, Status};

use super::denial::Failures;
use super::give_back::same;
use super::outcome::{Mutated, Step};
use super::reinvocation::Reinvocation;
use super::version::Version;
use super::{MutatingPolicies, MutatingPolicy};
use crate::binding::Binding;
use crate::denial::namespace_not_found;
use crate::meeting::Meeting;
use crate::observer::{Mutating, Observer};
use crate::outcome::Unfinished;
use crate::session::{Session, Store, Submission, Surroundings};
use crate::trace::Does;

/// Puts a request before sets of policies, in their order: static ones first. When policies change the object, those
/// before them that want it have a second turn.
pub fn mutate<'s>(
    sets: &[&MutatingPolicies],
    submission: impl Into<Submission<'s>>,
    surroundings: Surroundings<'s>,
    observer: &mut dyn Observer,
) -> Result<Mutated, Unfinished> {
    let submission = submission.into();
    let mut turns = Reinvocation::default();
    let first = mutate_once(sets, submission, surroundings.clone(), &mut turns, observer)?;
    if !first.allowed() || !turns.is_due() {
        return Ok(first);
    }
    turns.begin_second(false);
    let mutated = match &first.object {
        Some(object) => Submission::mutated(submission.request, object),
        None => submission,
    };
    let second = mutate_once(sets, mutated, surroundings, &mut turns, observer)?;
    let object = match second.status {
        Some(_) => None,
        None => second.object.or(first.object),
    };
    Ok(Mutated {
        object: object.filter(|object| !same(object, submission.object)),
        status: second.status,
        steps: first.steps.into_iter().chain(second.steps).collect(),
    })
}

/// One turn of [`mutate`], for those who have other things to do between the two.
pub fn mutate_once<'s>(
    sets: &[&MutatingPolicies],
    submission: impl Into<Submission<'s>>,
    surroundings: Surroundings<'s>,
    turns: &mut Reinvocation,
    observer: &mut dyn Observer,
) -> Result<Mutated, Unfinished> {
    let submission = submission.into();
    // There is nothing to mutate in what is deleted.
    if submission.request.operation == Operation::Delete || sets.iter().all(|set| set.is_empty()) {
        return Ok(Mutated::default());
    }
    run(sets, submission, surroundings, turns, observer)
}

fn run(
    sets: &[&MutatingPolicies],
    submission: Submission<'_>,
    surroundings: Surroundings<'_>,
    turns: &mut Reinvocation,
    observer: &mut dyn Observer,
) -> Result<Mutated, Unfinished> {
    let store = Store::default();
    let session = Session::new(submission, surroundings, &store);
    let mut bench = Bench {
        meeting: Meeting::new(Does::Mutate, &session),
        session: &session,
        object: submission.object,
        versions: Vec::new(),
        failures: Failures::default(),
        // What an unfinished turn did counts for nothing.
        turns: turns.clone(),
        last: None,
        steps: Vec::new(),
        decisions: Vec::new(),
    };
    let ended = bench.run(sets);
    let decisions = std::mem::take(&mut bench.decisions);
    let tell = |observer: &mut dyn Observer| decisions.iter().for_each(|own| observer.mutating(own));
    let status = match ended {
        Err(End::Unfinished(unfinished)) => return Err(unfinished),
        Err(End::Status(status)) => Some(status),
        Ok(()) => std::mem::take(&mut bench.failures).status(&bench.meeting.target),
    };
    tell(observer);
    *turns = bench.turns.clone();
    let object = match status {
        Some(_) => None,
        None => bench.result(),
    };
    Ok(Mutated {
        object,
        status,
        steps: bench.steps,
    })
}

/// Where a request is mutated.
pub(super) struct Bench<'b, 's> {
    pub(super) session: &'b Session<'s>,
    pub(super) meeting: Meeting<'s>,
    pub(super) object: &'s json::Value<'s>,
    /// One for each kind that policies matched; the one that was last at work is what goes on.
    pub(super) versions: Vec<Version<'s>>,
    pub(super) failures: Failures,
    pub(super) turns: Reinvocation,
    /// Where the objects are that were last at work.
    pub(super) last: Option<usize>,
    pub(super) steps: Vec<Step>,
    pub(super) decisions: Vec<Mutating<'s>>,
}

/// A policy to invoke with a binding and a param.
pub(super) struct Call<'s> {
    pub(super) origin: Origin,
    pub(super) policy: &'s MutatingPolicy,
    pub(super) binding: Binding<'s>,
    pub(super) matched: Matched<'s>,
    pub(super) param: Option<&'s json::Value<'s>>,
}

/// Why mutating ends before the last policy.
pub(super) enum End {
    Unfinished(Unfinished),
    /// An error of the server, not of a policy.
    Status(Box<Status>),
}

impl From<Status> for End {
    fn from(status: Status) -> Self {
        End::Status(Box::new(status))
    }
}

impl<'s> Bench<'_, 's> {
    /// Rules and selectors are asked about all policies before the first one changes anything.
    fn run(&mut self, sets: &[&'s MutatingPolicies]) -> Result<(), End> {
        let mut calls = Vec::new();
        for set in sets {
            self.gather(set, &mut calls).map_err(End::Unfinished)?;
        }
        if calls.is_empty() {
            return Ok(());
        }
        let namespace = self.session.find_namespace();
        namespace.map_err(|_| namespace_not_found(self.meeting.target.namespace))?;
        for call in &calls {
            let version = self.version(call.matched.kind);
            self.invoke(call, version)?;
        }
        if let Some(changed) = self.changed() {
            self.returns(changed)?;
            self.turns.require();
        }
        Ok(())
    }

    fn gather(&mut self, set: &'s MutatingPolicies, calls: &mut Vec<Call<'s>>) -> Result<(), Unfinished> {
        let hooks = set.policies.iter().map(|policy| &policy.hook);
        let all = |_, _| Ok(None);
        let candidates = self.meeting.candidates(set.origin, &set.groups, hooks, all)?;
        for (position, place) in &candidates.policies {
            let Some(policy) = set.policies.get(*position as usize) else {
                continue;
            };
            let matched = self.meeting.policy(set.origin, &policy.hook, &candidates, *place);
            match matched {
                Ok(None) => {}
                Ok(Some(matched)) => self.gather_bindings((set.origin, policy), matched, calls),
                Err(error) => self.failures.of_configuration(&policy.hook, None, &error),
            }
        }
        Ok(())
    }

    fn gather_bindings(
        &mut self,
        (origin, policy): (Origin, &'s MutatingPolicy),
        matched: Matched<'s>,
        calls: &mut Vec<Call<'s>>,
    ) {
        for binding in policy.hook.bindings.iter() {
            match self.meeting.binding(&policy.hook, binding) {
                Ok(None) => {}
                Ok(Some(params)) => calls.extend(params.rounds().map(|param| Call {
                    origin,
                    policy,
                    binding,
                    matched,
                    param,
                })),
                Err(error) => self
                    .failures
                    .of_configuration(&policy.hook, Some(binding), &error),
            }
        }
    }
}
