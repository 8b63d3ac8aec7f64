//! Runs mutating policies on a request.

use pratique_core::{Attributes, EvalContext};
use pratique_match::Target;
use pratique_types::Operation;

use super::MutatingPolicies;
use super::outcome::Mutated;
use super::reinvocation::Reinvocation;
use super::run::{End, MutationRun};
use super::same::same;
use crate::arena::RequestArena;
use crate::cause::DenialCause;
use crate::observer::Observer;
use crate::outcome::Unfinished;
use crate::session::Session;

/// Puts a request before sets of policies, in their order: static ones first. When policies change the object, those
/// before them that want it have a second turn.
pub fn mutate<'s>(
    sets: &[&MutatingPolicies],
    attributes: impl Into<Attributes<'s>>,
    surroundings: EvalContext<'s>,
    observer: &mut dyn Observer,
) -> Result<Mutated, Unfinished> {
    let attributes = attributes.into();
    let mut turns = Reinvocation::default();
    let first = mutate_once(sets, attributes, surroundings.clone(), &mut turns, observer)?;
    if !first.allowed() || !turns.is_due() {
        return Ok(first);
    }
    turns.begin_second(false);
    let mutated = match &first.object {
        Some(object) => Attributes::mutated(attributes.request, object),
        None => attributes,
    };
    let second = mutate_once(sets, mutated, surroundings, &mut turns, observer)?;
    let object = match second.allowed() {
        true => second.object.or(first.object),
        false => None,
    };
    Ok(Mutated {
        object: object.filter(|object| !same(object, attributes.object)),
        status: second.status,
        undecided: second.undecided,
        cause: second.cause,
        steps: first.steps.into_iter().chain(second.steps).collect(),
    })
}

/// One turn of [`mutate`], for those who have other things to do between the two.
pub fn mutate_once<'s>(
    sets: &[&MutatingPolicies],
    attributes: impl Into<Attributes<'s>>,
    surroundings: EvalContext<'s>,
    turns: &mut Reinvocation,
    observer: &mut dyn Observer,
) -> Result<Mutated, Unfinished> {
    let attributes = attributes.into();
    // There is nothing to mutate in what is deleted.
    if attributes.request.operation == Operation::Delete || sets.iter().all(|set| set.is_empty()) {
        return Ok(Mutated::default());
    }
    run(sets, attributes, surroundings, turns, observer)
}

fn run(
    sets: &[&MutatingPolicies],
    attributes: Attributes<'_>,
    surroundings: EvalContext<'_>,
    turns: &mut Reinvocation,
    observer: &mut dyn Observer,
) -> Result<Mutated, Unfinished> {
    let arena = RequestArena::with_limit(surroundings.memory);
    let session = Session::new(attributes, surroundings, &arena);
    let mut run = MutationRun::new(attributes, &session, turns);
    let ended = run.run(sets);
    let conditions = std::mem::take(&mut run.conditions);
    let decisions = std::mem::take(&mut run.decisions);
    session.finished()?;
    let (denial, undecided) = match ended {
        Err(End::Unfinished(unfinished)) => return Err(unfinished),
        Err(End::Status(status)) => (Some((status, DenialCause::Failure)), None),
        Err(End::Undecided(undecided)) => (None, Some(undecided)),
        Ok(()) => {
            let failures = std::mem::take(&mut run.failures);
            // Upstream: the object is converted back before an error is made (mutating/dispatcher.go, Dispatch), whose name
            // may be that of the object.
            let target = Target {
                object: run.changed().map_or(attributes.object, |changed| changed.object),
                ..run.matcher.request.target
            };
            (failures.status(&target), None)
        }
    };
    conditions.iter().for_each(|own| observer.conditions(own));
    decisions.iter().for_each(|own| observer.mutating(own));
    let open = run.settled.iter().chain(undecided.as_deref());
    open.for_each(|own| observer.undecided(own));
    turns.0.clone_from(&run.turns);
    let object = match (&denial, &undecided) {
        (None, None) => run.result(),
        _ => None,
    };
    session.finished()?;
    let (status, cause) = denial.unzip();
    Ok(Mutated {
        object,
        status,
        undecided,
        cause,
        steps: run.steps,
    })
}
