//! Runs mutating policies on a request.

use pratique_core::{Attributes, EvalContext};
use pratique_match::Target;
use pratique_types::Operation;

use super::MutatingPolicies;
use super::outcome::MutatedRequest;
use super::reinvocation::Reinvocation;
use super::run::{MutatingEnd, MutationRun};
use super::same::seen_the_same;
use crate::arena::RequestArena;
use crate::cause::DenialCause;
use crate::observer::PolicyObserver;
use crate::session::RequestSession;
use pratique_core::UnfinishedEvaluation;

/// Mutates a request by sets of policies, in their order: static ones first. When policies change the object, those
/// before them with the reinvocation policy `IfNeeded` are run again.
pub fn mutate<'s>(
    sets: &[&MutatingPolicies],
    attributes: impl Into<Attributes<'s>>,
    context: &EvalContext<'s>,
    observer: &mut dyn PolicyObserver,
) -> Result<MutatedRequest, UnfinishedEvaluation> {
    let attributes = attributes.into();
    if is_unaffected(sets, attributes) {
        return Ok(MutatedRequest::default());
    }
    let mut reinvocation = Reinvocation::default();
    let first = mutate_once(sets, attributes, context, &mut reinvocation, observer)?;
    if !first.allowed() || !reinvocation.is_due() {
        return Ok(first);
    }
    reinvocation.begin_second(false);
    let mutated = match &first.object {
        Some(object) => Attributes::mutated(context.release, attributes.request, object),
        None => attributes,
    };
    let second = mutate_once(sets, mutated, context, &mut reinvocation, observer)?;
    let object = if second.allowed() {
        second.object.or(first.object)
    } else {
        None
    };
    Ok(MutatedRequest {
        object: object.filter(|object| !seen_the_same(object, attributes.object)),
        status: second.status,
        undecided: second.undecided,
        cause: second.cause,
        steps: first.steps.into_iter().chain(second.steps).collect(),
    })
}

/// One round of [`mutate`], for callers that have other steps between the two.
pub fn mutate_once<'s>(
    sets: &[&MutatingPolicies],
    attributes: impl Into<Attributes<'s>>,
    context: &EvalContext<'s>,
    reinvocation: &mut Reinvocation,
    observer: &mut dyn PolicyObserver,
) -> Result<MutatedRequest, UnfinishedEvaluation> {
    let attributes = attributes.into();
    if is_unaffected(sets, attributes) {
        return Ok(MutatedRequest::default());
    }
    run(sets, attributes, context, reinvocation, observer)
}

/// Whether there is nothing to do: a deletion has no object to mutate.
fn is_unaffected(sets: &[&MutatingPolicies], attributes: Attributes<'_>) -> bool {
    attributes.request.operation == Operation::Delete || sets.iter().all(|set| set.is_empty())
}

fn run(
    sets: &[&MutatingPolicies],
    attributes: Attributes<'_>,
    context: &EvalContext<'_>,
    reinvocation: &mut Reinvocation,
    observer: &mut dyn PolicyObserver,
) -> Result<MutatedRequest, UnfinishedEvaluation> {
    let arena = RequestArena::with_limit(context.release, context.memory);
    let session = RequestSession::new(attributes, context.clone(), &arena);
    let mut run = MutationRun::new(attributes, &session, reinvocation);
    let ended = run.run(sets);
    let conditions = std::mem::take(&mut run.conditions);
    let decisions = std::mem::take(&mut run.decisions);
    let ignored = std::mem::take(&mut run.failures.ignored);
    session.finished()?;
    let (denial, undecided) = match ended {
        Err(MutatingEnd::Unfinished(unfinished)) => return Err(unfinished),
        Err(MutatingEnd::Status(status)) => (Some((status, DenialCause::Failure)), None),
        Err(MutatingEnd::Undecided(undecided)) => (None, Some(undecided)),
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
    conditions
        .iter()
        .for_each(|evaluated| observer.conditions(evaluated));
    decisions.iter().for_each(|decision| observer.mutating(decision));
    ignored.report(observer);
    let undecided_policies = run.settled.iter().chain(undecided.as_deref());
    undecided_policies.for_each(|policy| observer.undecided(policy));
    reinvocation.0.clone_from(&run.reinvocation);
    let (object, denial) = match (&denial, &undecided) {
        (None, None) => match run.converted() {
            Ok(object) => (object, None),
            Err(status) => (None, Some((status, DenialCause::Failure))),
        },
        _ => (None, denial),
    };
    session.finished()?;
    let (status, cause) = denial.unzip();
    Ok(MutatedRequest {
        object,
        status,
        undecided,
        cause,
        steps: run.steps,
    })
}
